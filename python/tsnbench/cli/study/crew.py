"""The worker processes of ``tsnbench study run``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tsnbench.cli.console.progress import counting, line
from tsnbench.errors import BackendError
from tsnbench.studies.design import Request
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import Store

POLL_S = 0.1
PATIENCE_S = 10
"""How long workers have to give their leases back before they are killed."""


def crew(store: Store, repetitions: Repetitions, workers: int, progress: str, quiet: bool) -> None:
    """Starts workers, shows the progress, and waits until all runs are made.

    Raises:
        BackendError: a worker failed.
        KeyboardInterrupt: all workers are ended then.
    """
    todo = repetitions.unmade()
    if not todo:
        return
    workers = min(workers, repetitions.most())
    command = [sys.executable, "-m", "tsnbench", "study", "work", str(store.folder), "--until-closed"]
    with tempfile.TemporaryFile() as said, shown(progress, quiet) as show:
        crew = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
            for _ in range(workers)
        ]
        done, left = 0, todo
        try:
            while any(one.poll() is None for one in crew):
                time.sleep(POLL_S)
                done, left = _look(store, repetitions, done, left, show)
                if any(one.poll() not in (None, 0) for one in crew):
                    break
            done, left = _look(store, repetitions, done, left, show)
        finally:
            _end(crew)
        if left and (failed := [one.returncode for one in crew if one.returncode]):
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
            raise BackendError(text or f"a worker ended with {failed[0]}\nhint: the same command goes on")


def _look(
    store: Store, repetitions: Repetitions, before: int, left: list[Request], show: Any
) -> tuple[int, list[Request]]:
    """The number of finished runs, and the remaining runs; a stopping rule may add some after each one."""
    there = {entry.name for entry in os.scandir(store.folder / "runs")}
    done = [run for run in left if f"{run.id}.json" in there]
    if not done:
        return before, left
    left = repetitions.unmade()
    for number, run in enumerate(done, before + 1):
        show(run, number, before + len(done) + len(left))
    return before + len(done), left


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
def shown(progress: str, quiet: bool) -> Iterator[Any]:
    """Shows progress by a function of the finished run, the number of finished runs, and their total."""

    if progress == "json":
        yield lambda run, done, total: line({"done": done, "of": total, "run": run.id})
    elif quiet or not sys.stderr.isatty():
        yield lambda *_: None
    else:
        with counting() as bar:
            task = bar.add_task("runs", total=None)
            yield lambda _, done, total: bar.update(task, completed=done, total=total)
