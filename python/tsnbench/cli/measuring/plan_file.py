"""The Plan that an option names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan


def read_plan(path: Path) -> Plan:
    """Reads a Plan from its file, or from a run folder.

    Raises:
        PlanReadError: there is no Plan, or it was changed.
    """
    from tsnbench.plan.document import Plan
    from tsnbench.runs import file_names

    return Plan.read(path / file_names.PLAN if path.is_dir() else path)
