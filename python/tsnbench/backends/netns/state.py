"""The things that a run or a probe makes on this machine, recorded before they are made; and their undo.

Namespaces, interfaces and processes end with a run's first process (see :mod:`sandbox`). A kill -9 leaves
files; processes that it might leave are found by their mark and ended.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import stat
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tsnbench.backends.netns.sandbox import MARK
from tsnbench.errors import BackendError
from tsnbench.runs import manifest
from tsnbench.runs.errors import FolderError, unwritable
from tsnbench.runs.folder import end
from tsnbench.runs.process import started

_MARK = re.compile(r"tsnb-[0-9a-f]{12}")
GONE_S = 5.0
"""Time limit for killed processes to end."""


@dataclass(frozen=True)
class State:
    """One run."""

    mark: str
    process: int
    """The process that made it."""
    started: int
    """The start time of that process, in the kernel's ticks, as process numbers are reused."""
    scratch: str
    """A new folder for its job and results."""
    run_folder: str
    """The absolute path of the run folder; empty for a probe, which has none."""


@dataclass
class Restored:
    """The parts that were undone, or left alone."""

    mark: str
    running: int | None = None
    """The process that still runs it: then nothing was touched."""
    processes: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if self.running is not None:
            return f"{self.mark}: left alone: process {self.running} still runs it"
        words = [f"{len(self.processes)} processes ended"] if self.processes else []
        words += [f"removed {path}" for path in self.files]
        return f"{self.mark}: {', '.join(words) or 'nothing was left'}"


def folder() -> Path:
    """The folder of states: ``$TSNBENCH_STATE``, ``/run/tsnbench``, or the user's runtime folder."""
    named = os.environ.get("TSNBENCH_STATE")
    if named:
        return Path(named)
    if os.geteuid() == 0:
        return Path("/run/tsnbench")
    base = os.environ.get("XDG_RUNTIME_DIR")
    return Path(base) / "tsnbench" if base else Path(tempfile.gettempdir()) / f"tsnbench-{os.getuid()}"


def begin(run_folder: Path | None) -> State:
    """Writes a run's state to the disk before the run makes anything; a probe has no run folder.

    Raises:
        BackendError: other users can write to the folder of states, or this one cannot.
    """
    try:
        return _begin(run_folder)
    except OSError as error:
        raise unwritable(Path(error.filename or folder()), error) from error


def _begin(run_folder: Path | None) -> State:
    mark = f"tsnb-{uuid.uuid4().hex[:12]}"
    state = State(
        mark=mark,
        process=os.getpid(),
        started=started(os.getpid()) or 0,
        scratch=str(Path(tempfile.gettempdir()).resolve() / mark),
        run_folder=str(run_folder.resolve()) if run_folder else "",
    )
    where = folder()
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_shared(where)
    path = where / f"{mark}.json"
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(asdict(state), file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    try:
        Path(state.scratch).mkdir(mode=0o700)
    except OSError:
        path.unlink()
        raise
    return state


def undo(state: State) -> Restored:
    """Ends and removes everything that a run made; the state is removed last, so that an undo can be
    repeated."""
    done = Restored(state.mark, processes=_end(state.mark))
    scratch = Path(state.scratch)
    if _is_scratch(scratch, state.mark):
        shutil.rmtree(scratch, ignore_errors=True)
        done.files.append(str(scratch))
    (folder() / f"{state.mark}.json").unlink(missing_ok=True)
    _tidy()
    return done


def restore() -> list[Restored]:
    """Undoes all runs and probes whose process has ended; the others are left alone. Can be repeated.

    Raises:
        BackendError: other users may write into the folder of states, so its content cannot be trusted.
    """
    found: list[Restored] = []
    where = folder()
    if where.is_symlink() or where.exists():
        _refuse_shared(where)
    for path in sorted(where.glob("tsnb-*.json")):
        if not _MARK.fullmatch(path.stem):
            continue
        state = _read(path)
        if state is None:
            # The file's name identifies the run; its content is not trusted.
            ended = _end(path.stem)
            path.unlink(missing_ok=True)
            found.append(Restored(path.stem, processes=ended, files=[str(path)]))
        elif state.started and started(state.process) == state.started:
            found.append(Restored(state.mark, running=state.process))
        else:
            done = undo(state)
            _tell_folder(state)
            done.files.append(str(path))
            found.append(done)
    now = time.time()
    for part in where.glob("tsnb-*.part"):
        # Incomplete files are from before anything was made. A file younger than 1 s may still be written.
        if _MARK.fullmatch(part.stem) and now - part.stat().st_mtime > 1:
            part.unlink(missing_ok=True)
            found.append(Restored(part.stem, files=[str(part)]))
    _tidy()
    return found


def _tidy() -> None:
    """Removes the folder of states if it is empty."""
    try:
        folder().rmdir()
    except OSError:
        return


def marked(mark: str) -> list[int]:
    """Processes of a run, by their environment."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return sorted(found)


def _read(path: Path) -> State | None:
    """A run's state; None if the file differs from what :func:`begin` writes."""
    try:
        state = State(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    numbers = (state.process, state.started)
    texts = (state.mark, state.scratch, state.run_folder)
    if not all(type(one) is int for one in numbers) or not all(type(one) is str for one in texts):
        return None
    scratch = Path(state.scratch)
    named = state.mark == path.stem and scratch.name == state.mark and scratch.is_absolute()
    if not named or ".." in scratch.parts or not Path(state.run_folder or "/").is_absolute():
        return None
    return state


def _is_scratch(path: Path, mark: str) -> bool:
    """Whether a folder can have been made by :func:`begin`: by its name, its owner and its mode."""
    if not _MARK.fullmatch(mark) or path.name != mark or not path.is_absolute():
        return False
    return _is_private(path)


def _is_private(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and not stat.S_IMODE(found.st_mode) & 0o077
    )


def _refuse_shared(where: Path) -> None:
    """A state decides which processes are killed and which folders are removed, so no other user may write
    it.

    Raises:
        BackendError: other users can.
    """
    if not _is_private(where):
        raise BackendError(
            f"{where}: expected a folder that is yours alone (mode 0700), found another one\n"
            f"hint: chmod 700 {shlex.quote(str(where))} if it is yours; TSNBENCH_STATE names another folder"
        )


def _end(mark: str) -> list[int]:
    """Kills all processes of a mark; a process that is made meanwhile is found in the next round."""
    ended: set[int] = set()
    until = time.monotonic() + GONE_S
    while there := marked(mark):
        ended |= set(there)
        for process in there:
            try:
                os.kill(process, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    return sorted(ended)


def _tell_folder(state: State) -> None:
    """Marks the run folder of a dead process as no longer running."""
    where = Path(state.run_folder)
    if not state.run_folder:
        return
    try:
        found = manifest.read(where)
        if found["state"] == manifest.State.RUNNING and found.get("process") == state.process:
            end(where, manifest.State.INTERRUPTED, "killed; undone by tsnbench restore")
    except (FolderError, OSError):
        return
