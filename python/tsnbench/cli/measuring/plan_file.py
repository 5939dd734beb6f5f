"""The Plan that an option names, and how much slower than it a capture was made."""

from __future__ import annotations

from pathlib import Path

from tsnbench.errors import InputError
from tsnbench.plan.document import Plan
from tsnbench.runs import file_names, manifest


def read_plan(path: Path) -> Plan:
    """Reads a Plan from its file, or from a run folder.

    Raises:
        PlanReadError: there is no Plan, or it was changed.
    """
    return Plan.read(path / file_names.PLAN if path.is_dir() else path)


def dilation_of(capture: Path, plan: Path) -> int:
    """How many times slower than its Plan a capture was made: as the manifest of its run says.

    Args:
        capture: the capture; its run is known if it is in that run's folder.
        plan: the Plan's file, or a run folder.

    Raises:
        InputError: the Plan's own run was slower, and the capture is none of that run's captures.
    """
    if (own := _manifest(capture.resolve().parent.parent)) and f"captures/{capture.name}" in own[1]:
        return own[0]
    run = _manifest(plan if plan.is_dir() else plan.parent)
    if run is not None and run[0] != 1:
        raise InputError(
            f"{capture}: expected --dilate: the run of {plan} was made with --dilate {run[0]}, and this "
            "capture is outside of its folder\n"
            f"hint: --dilate {run[0]} if it was captured in that run, or --dilate 1 if it was not"
        )
    return 1


def _manifest(folder: Path) -> tuple[int, list[str]] | None:
    """The dilation and the additional files of a run folder; None if it is none."""
    if not (folder / file_names.MANIFEST).is_file():
        return None
    found = manifest.read(folder)
    return int(found.get("dilate", 1)), manifest.listed(found)
