"""The run folder's life: made, running, then complete, interrupted or failed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.runs import manifest
from tsnbench.runs.errors import FolderError
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.planning.document import Plan

PLAN = "plan.json"
COUNTERS = "counters.json"
OBSERVATIONS = "observations.parquet"
CLOCK_ERROR = "clock_error.parquet"
BOUNDS = "bounds.json"
KERNEL = "kernel.json"
"""What a real kernel said of its qdiscs and interfaces at the end."""
OURS = {
    manifest.NAME,
    PLAN,
    COUNTERS,
    OBSERVATIONS,
    CLOCK_ERROR,
    BOUNDS,
    KERNEL,
    "captures",
    "measures.json",
    "frames.parquet",
    "verdict.json",
    "report.html",
    "figures",
}
"""All that a run folder holds."""


def begin(plan: Plan, folder: Path, backend: str) -> None:
    """Make the folder of a run that begins now. What an earlier run left in it goes.

    Raises:
        FolderError: the folder cannot be made, or holds something that is no run of ours.
    """
    try:
        if folder.exists():
            clear(folder)
        folder.mkdir(parents=True, exist_ok=True)
        manifest.write(folder, manifest.opening(plan, backend))
        (folder / PLAN).write_text(plan.to_json(), encoding="utf-8")
    except OSError as error:
        raise FolderError(folder, f"the run folder cannot be written: {error.strerror}") from error


@contextmanager
def under_way(folder: Path) -> Iterator[None]:
    """A run; one that does not come to its end is ``interrupted`` or ``failed``, and says why."""
    try:
        yield
    except KeyboardInterrupt:
        end(folder, State.INTERRUPTED)
        raise
    except BaseException as error:
        end(folder, State.FAILED, str(error))
        raise


def end(folder: Path, state: State, problem: str | None = None) -> None:
    """Say in the manifest how the run ended."""
    content = manifest.read(folder)
    ended = manifest.now()
    passed = datetime.fromisoformat(ended) - datetime.fromisoformat(content["started"])
    content |= {
        "state": state.value,
        "ended": ended,
        "wall_seconds": round(passed.total_seconds(), 6),
        "problem": problem,
    }
    content.pop("process", None)
    manifest.write(folder, content)


def clear(folder: Path) -> None:
    """Empty a run folder, complete or not; whatever else is there stays.

    Raises:
        FolderError: it is no run folder, or holds files that no run has written.
    """
    hint = "name an empty or a new folder"
    if not folder.is_dir():
        raise FolderError(folder, "expected a folder, found a file", hint)
    found = {entry.name for entry in folder.iterdir()}
    if not found:
        return
    if not found & {manifest.NAME, PLAN}:
        raise FolderError(folder, "expected an empty folder or a run folder, found other files", hint)
    if (folder / manifest.NAME).exists():
        manifest.read(folder)
    strange = sorted(name for name in found - OURS if not name.endswith(".part"))
    if strange:
        raise FolderError(folder, f"holds files that no run has written: {', '.join(strange[:5])}", hint)
    # The manifest goes last: what a crash leaves is still known as ours.
    for name in sorted(found, key=lambda name: name == manifest.NAME):
        entry = folder / name
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def half_written(folder: Path) -> str | None:
    """Why a run folder is half-written; None when its run came to an end."""
    if not (folder / manifest.NAME).exists():
        return "it has no manifest.json"
    state = manifest.read(folder)["state"]
    return "its run was broken off: the manifest still says running" if state == State.RUNNING else None
