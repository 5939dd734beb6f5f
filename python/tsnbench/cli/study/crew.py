"""The worker processes of ``tsnbench study run``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tsnbench.errors import BackendError

if TYPE_CHECKING:
    from tsnbench.studies.design import Request
    from tsnbench.studies.store import Store

POLL_S = 0.1
PATIENCE_S = 10
"""How long workers have to give their leases back before they are killed."""


def crew(store: Store, todo: Sequence[Request], workers: int, progress: str, quiet: bool) -> None:
    """Starts workers, shows what is done, and waits until all runs are made.

    Raises:
        BackendError: a worker failed.
        KeyboardInterrupt: all workers are ended then.
    """
    if not todo:
        return
    command = [sys.executable, "-m", "tsnbench", "study", "work", str(store.folder), "--until-closed"]
    with tempfile.TemporaryFile() as said, _shown(len(todo), progress, quiet) as show:
        crew = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
            for _ in range(workers)
        ]
        left = list(todo)
        try:
            while any(one.poll() is None for one in crew):
                time.sleep(POLL_S)
                left = _look(store, left, show)
                if any(one.poll() not in (None, 0) for one in crew):
                    break
            left = _look(store, left, show)
        finally:
            _end(crew)
        if left and (failed := [one.returncode for one in crew if one.returncode]):
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
            raise BackendError(text or f"a worker ended with {failed[0]}\nhint: the same command goes on")


def _look(store: Store, left: list[Request], show: Any) -> list[Request]:
    there = {entry.name for entry in os.scandir(store.folder / "runs")}
    done = [run for run in left if f"{run.id}.json" in there]
    for run in done:
        show(run)
    return [run for run in left if f"{run.id}.json" not in there] if done else left


def _end(crew: Sequence[subprocess.Popen[bytes]]) -> None:
    for one in crew:
        if one.poll() is None:
            one.terminate()
    for one in crew:
        with suppress(subprocess.TimeoutExpired):
            one.wait(PATIENCE_S)
        if one.poll() is None:
            one.kill()
            one.wait()
        if one.stdin is not None:
            one.stdin.close()


@contextmanager
def _shown(total: int, progress: str, quiet: bool) -> Iterator[Any]:
    """What is called with each run that is done."""
    done = 0

    def line(run: Request) -> None:
        nonlocal done
        done += 1
        sys.stderr.write(json.dumps({"done": done, "of": total, "run": run.id}) + "\n")
        sys.stderr.flush()

    if progress == "json":
        yield line
    elif quiet or not sys.stderr.isatty():
        yield lambda _: None
    else:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from tsnbench.cli.console.output import progress_console

        columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=progress_console(), transient=True) as bar:
            task = bar.add_task("runs", total=total)
            yield lambda _: bar.advance(task)


def end_with_input() -> None:
    """Ends this process, as SIGTERM does, with the process that started it and holds its standard input."""

    def wait() -> None:
        with suppress(OSError, ValueError):
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
