"""The Plan that an option names."""

from __future__ import annotations

from pathlib import Path

from tsnbench.plan.document import Plan
from tsnbench.runs import file_names


def read_plan(path: Path) -> Plan:
    """Reads a Plan from its file, or from a run folder.

    Raises:
        PlanReadError: there is no Plan, or it was changed.
    """
    return Plan.read(path / file_names.PLAN if path.is_dir() else path)
