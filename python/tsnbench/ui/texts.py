"""The texts of a run's scenario: as it was run, and as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tsnbench.runs import Run, file_names
from tsnbench.ui.workspace import SUFFIXES, OutsideError, Workspace


@dataclass(frozen=True)
class Texts:
    """The names of both texts within the opened folder; empty where there is none."""

    now: str
    """The file that the run was started with, if it is still there."""
    kept: str
    """The copy in the run folder: runs of earlier versions have none."""

    @classmethod
    def of(cls, workspace: Workspace, run: Run) -> Texts:
        """The texts of a run of the opened folder."""
        kept = run.folder / file_names.SCENARIO
        own = _name(workspace, kept) if "scenario" in run.manifest else ""
        words = [str(word) for word in run.manifest.get("command") or ()]
        file = next((word for word in words if word.endswith(SUFFIXES)), "")
        # A command names the file as seen from where it was started: from the opened folder, or below.
        above = [workspace.folder, *run.folder.resolve().parents]
        inside = [one for one in above if file and one.is_relative_to(workspace.folder)]
        return cls(next(filter(None, (_name(workspace, one / file) for one in inside)), ""), own)


def _name(workspace: Workspace, file: Path) -> str:
    try:
        return workspace.path(str(file)).relative_to(workspace.folder).as_posix()
    except OutsideError:
        return ""
