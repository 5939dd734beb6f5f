"""Steps to a room above, or to a file that needs the object's own: ``Scenario.vary``, ``Scenario.plan``,
``Run.measures``, ``Run.verdict``, and tables in notebooks.

A room imports only rooms below it, and no files need each other in a circle. So these methods call the
functions here, and ``tsnbench`` sets the functions when it is imported, which is before any of its modules.
Each method has the types; here they would need the rooms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

vary: Callable[[Any, Any], Any]
"""The scenarios with other values at paths."""
plan: Callable[[Any], Any]
"""The Plan of a scenario."""
measure: Callable[[Any], Any]
"""The measures of a run folder that was not measured before."""
html: Callable[[str, Any], str]
"""The table that a notebook shows of an object; the first argument names its function."""
judge: Callable[[Any], Any]
"""The verdict of a run that was not judged before."""
