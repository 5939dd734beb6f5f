"""The states of a run folder: made, running, then complete, interrupted or failed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.runs import file_names, lock, manifest
from tsnbench.runs.clearing import clear
from tsnbench.runs.errors import FolderError, writing
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan

_LONGEST = 2000
"""Most characters of a problem."""


def begin(plan: Plan, folder: Path, backend: str) -> None:
    """Make the folder of a run that begins now. Files of an earlier run in it are removed.

    Raises:
        FolderError: such a folder cannot exist, or it contains other files than those of a run.
        FolderBusyError: another process writes into it.
        BackendError: the disk is full, or cannot be written.
    """
    with writing(folder):
        if folder.exists():
            clear(folder)
        folder.mkdir(parents=True, exist_ok=True)
        text, plan_hash = plan.written()
        scenario = (plan.places.text() if plan.places else "").encode()
        about = {"scenario": hashlib.sha256(scenario).hexdigest()} if scenario else {}
        manifest.write(folder, manifest.opening(plan, backend, plan_hash) | about)
        (folder / file_names.PLAN).write_text(text, encoding="utf-8")
        if scenario:
            part = folder / f"{file_names.SCENARIO}.part"
            part.write_bytes(scenario)
            part.replace(folder / file_names.SCENARIO)


@contextmanager
def under_way(folder: Path) -> Iterator[None]:
    """The time of a run; a run that does not reach its end is ``interrupted`` or ``failed``, with the
    reason."""
    try:
        yield
    except BaseException as error:
        state, problem = (
            (State.INTERRUPTED, None) if isinstance(error, KeyboardInterrupt) else (State.FAILED, str(error))
        )
        # The user must get the reason for the end of the run, also if the disk is full.
        with suppress(OSError, FolderError):
            end(folder, state, problem)
        raise


def end(folder: Path, state: State, problem: str | None = None) -> None:
    """Record in the manifest how the run ended."""
    content = manifest.read(folder)
    ended = manifest.now()
    passed = datetime.fromisoformat(ended) - datetime.fromisoformat(content["started"])
    content |= {
        "state": state.value,
        "ended": ended,
        "wall_seconds": round(passed.total_seconds(), 6),
        "problem": problem[:_LONGEST] if problem else problem,
    }
    content.pop("process", None)
    manifest.write(folder, content)


def half_written(folder: Path) -> str | None:
    """Why a run folder is incomplete; None if its run reached an end."""
    if not (folder / manifest.NAME).exists():
        return "it has no manifest.json"
    state = manifest.read(folder)["state"]
    if who := lock.holder(folder):
        return f"{who} is writing into it: wait until it has ended"
    return "its run was broken off: the manifest still says running" if state == State.RUNNING else None
