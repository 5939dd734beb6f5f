"""The texts of a run's scenario: as it was run, and as it is now."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tsnbench.runs import Run, file_names
from tsnbench.runs.clearing import is_as_written
from tsnbench.ui.workspace import MOST_LISTED, SUFFIXES, OutsideError, Workspace


@dataclass(frozen=True)
class Texts:
    """The names of both texts within the opened folder; empty where there is none."""

    now: str
    """The file that the run was started with, if it is still there."""
    kept: str
    """The copy in the run folder, unless it was edited: runs of earlier versions have none."""

    @classmethod
    def of(cls, workspace: Workspace, run: Run) -> Texts:
        """The texts of a run of the opened folder."""
        kept = run.folder / file_names.SCENARIO
        own = _name(workspace, kept) if _is_as_run(kept, run.manifest.get("scenario")) else ""
        words = [str(word) for word in run.manifest.get("command") or ()]
        file = next((word for word in words if word.endswith(SUFFIXES)), "")
        # A command names the file as seen from where it was started, which is above the run folder. Folders
        # farther above can have another file of this name.
        above = [one for one in run.folder.parents if file and one.is_relative_to(workspace.folder)]
        return cls(next(filter(None, (_name(workspace, one / file) for one in above)), ""), own)


def _is_as_run(kept: Path, digest: str | None) -> bool:
    """Whether the copy is there, and nobody has edited it."""
    try:
        about = kept.lstat()
    except OSError:
        return False
    plain = digest is not None and stat.S_ISREG(about.st_mode)
    return plain and _has_digest(kept, str(digest), about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=2 * MOST_LISTED)
def _has_digest(kept: Path, digest: str, _written_ns: int, _octets: int) -> bool:
    """A list of many runs is made often; their texts are read once."""
    return is_as_written(kept, digest)


def _name(workspace: Workspace, file: Path) -> str:
    try:
        return workspace.path(str(file)).relative_to(workspace.folder).as_posix()
    except OutsideError:
        return ""
