"""Steps from an object to a room above its own: ``Scenario.plan``, ``Run.measures`` and ``Run.verdict``.

A room imports only rooms below it. So these methods call the functions here, and ``tsnbench`` sets the
functions when it is imported, which is before any of its modules. Each method has the types; here they
would need the rooms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

plan: Callable[[Any], Any]
"""The Plan of a scenario."""
measure: Callable[[Any], Any]
"""The measures of a run folder that was not measured before."""
judge: Callable[[Any], Any]
"""The verdict of a run that was not judged before."""
