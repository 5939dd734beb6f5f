"""What a run has made on this machine, written down before it is made; and how it is undone.

Namespaces, interfaces and processes end with a run's first process (see :mod:`cell`). What a kill -9 leaves
is files; what it could leave, in an unlucky moment, is found by its mark and ended.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tsnbench.backends.netns.cell import MARK

GONE_S = 5.0
"""How long killed processes may take to be gone."""


@dataclass(frozen=True)
class State:
    """One run."""

    mark: str
    process: int
    """Who runs it."""
    started: int
    """When that process began, in the kernel's ticks: numbers of processes come again."""
    scratch: str
    """A folder of its own, for its job and results."""
    run_folder: str


@dataclass
class Restored:
    """What was undone, or left alone."""

    mark: str
    running: int | None = None
    """The process that still runs it: nothing was touched."""
    processes: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if self.running is not None:
            return f"{self.mark}: left alone: process {self.running} still runs it"
        words = [f"{len(self.processes)} processes ended"] if self.processes else []
        words += [f"removed {path}" for path in self.files]
        return f"{self.mark}: {', '.join(words) or 'nothing was left'}"


def folder() -> Path:
    """Where states are: ``$TSNBENCH_STATE``, ``/run/tsnbench``, or the user's runtime folder."""
    named = os.environ.get("TSNBENCH_STATE")
    if named:
        return Path(named)
    if os.geteuid() == 0:
        return Path("/run/tsnbench")
    base = os.environ.get("XDG_RUNTIME_DIR")
    return Path(base) / "tsnbench" if base else Path(tempfile.gettempdir()) / f"tsnbench-{os.getuid()}"


def begin(run_folder: Path) -> State:
    """Writes a run's state down, to the disk, before it makes anything."""
    mark = f"tsnb-{uuid.uuid4().hex[:12]}"
    state = State(
        mark=mark,
        process=os.getpid(),
        started=started(os.getpid()) or 0,
        scratch=str(Path(tempfile.gettempdir()) / mark),
        run_folder=str(run_folder.resolve()),
    )
    where = folder()
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = where / f"{mark}.json"
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(asdict(state), file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    Path(state.scratch).mkdir(mode=0o700)
    return state


def undo(state: State) -> Restored:
    """Ends and removes what a run made; the state itself last, so that this can be done again."""
    done = Restored(state.mark, processes=_end(state.mark))
    scratch = Path(state.scratch)
    # Only ever a folder that is called as a run of ours is.
    if scratch.name == state.mark and scratch.is_dir() and not scratch.is_symlink():
        shutil.rmtree(scratch, ignore_errors=True)
        done.files.append(str(scratch))
    (folder() / f"{state.mark}.json").unlink(missing_ok=True)
    _tidy()
    return done


def restore() -> list[Restored]:
    """Undoes all runs whose process is gone; the others are left alone. Can be repeated."""
    found: list[Restored] = []
    where = folder()
    for path in sorted(where.glob("tsnb-*.json")):
        state = _read(path)
        if state is None:
            path.unlink(missing_ok=True)
            found.append(Restored(path.stem, files=[str(path)]))
        elif state.started and started(state.process) == state.started:
            found.append(Restored(state.mark, running=state.process))
        else:
            done = undo(state)
            _tell_folder(state)
            done.files.append(str(path))
            found.append(done)
    now = time.time()
    for part in where.glob("tsnb-*.part"):
        # Half-written: nothing had been made. One that is being written now is younger.
        if now - part.stat().st_mtime > 1:
            part.unlink(missing_ok=True)
            found.append(Restored(part.stem, files=[str(part)]))
    _tidy()
    return found


def _tidy() -> None:
    """The folder of states, where it is empty."""
    try:
        folder().rmdir()
    except OSError:
        return


def started(process: int) -> int | None:
    """When a process began, in ticks since boot: field 22 of proc_pid_stat(5); None where there is none."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()
    # A process that is dead and not yet collected runs nothing.
    return None if words[0] in ("Z", "X") else int(words[19])


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
    try:
        return State(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _end(mark: str) -> list[int]:
    """All that are killed; a process that is made meanwhile is found the next time round."""
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
    """A run folder whose writer is dead no longer says that it is running."""
    from tsnbench.runs import manifest
    from tsnbench.runs.errors import FolderError
    from tsnbench.runs.folder import end

    where = Path(state.run_folder)
    try:
        found = manifest.read(where)
        if found["state"] == manifest.State.RUNNING and found.get("process") == state.process:
            end(where, manifest.State.INTERRUPTED, "killed; undone by tsnbench restore")
    except (FolderError, OSError):
        return
