"""Which engine looks for a schedule: the heuristic, the exact one, or the exact one where the heuristic is stuck."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tsnbench.scenario import model

Found = Mapping[str, Any]
"""``outcome`` (``placed``, ``refused``), ``gates``, ``reasons`` and the same as ``sentences``."""


def search(wanted: model.Schedule, problem: Mapping[str, Any]) -> Found:
    """A schedule for a problem in the words of ``crates/schedule``, or reasons why there is none."""
    from tsnbench import _native

    found: Found = json.loads(_native.schedule(json.dumps(problem), "{}"))
    return found
