"""Several runs of a campaign at the same time, each on a core of its own.

The simulator and the measurement run outside of Python's lock, so threads are enough: no second process can
be left behind, and the locks of folders distinguish threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.campaign.campaign import Options, Outcome, run_one

if TYPE_CHECKING:
    from concurrent.futures._base import DoneAndNotDoneFutures

    from tsnbench.backends.protocol import Progress
    from tsnbench.foreign import Json
    from tsnbench.plan.document import Plan

LOOK_S = 0.2
"""How often the main thread looks for Ctrl-C."""


@dataclass(frozen=True)
class Job:
    """One run to be made: its Plan, its folder, and its entry in the manifest."""

    plan: Plan
    folder: Path
    about: Json


@dataclass(frozen=True)
class Watcher:
    """The callbacks of one run, which are called from the thread of that run."""

    progress: Progress | None = None
    """Simulated ns, and frame-hops so far."""
    stage: Callable[[str], None] | None = None
    """The name of each step after the run."""
    done: Callable[[], None] | None = None


def _ended(found: DoneAndNotDoneFutures[Outcome]) -> bool:
    """Whether all runs are made, or one has failed."""
    return not found.not_done or any(one.exception() is not None for one in found.done)


def run_together(
    jobs: Sequence[Job], options: Options, workers: int, watchers: Sequence[Watcher] | None = None
) -> list[Outcome]:
    """Simulates, measures and judges runs, ``workers`` at the same time.

    Returns the outcomes in the order of ``jobs``.

    The results do not depend on ``workers``. After the first failure, or Ctrl-C, no further run begins, and
    runs under way end as ``interrupted``.

    Raises:
        InputError: a folder holds another experiment, or files of others.
        BackendError: a run failed, another process writes into a folder, or the disk is full.
        KeyboardInterrupt: the command was interrupted.
    """
    stop = threading.Event()
    watching = watchers or [Watcher()] * len(jobs)

    def make(job: Job, watcher: Watcher) -> Outcome:
        def far(now_ns: int, frame_hops: int) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if watcher.progress:
                watcher.progress(now_ns, frame_hops)

        def stage(what: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if watcher.stage:
                watcher.stage(what)

        outcome = run_one(job.plan, job.folder, options, far, about=job.about, stage=stage)
        if watcher.done:
            watcher.done()
        return outcome

    with ThreadPoolExecutor(workers, thread_name_prefix="run") as pool:
        made: list[Future[Outcome]] = [
            pool.submit(make, job, watcher) for job, watcher in zip(jobs, watching, strict=True)
        ]
        try:
            # The system may give Ctrl-C to another thread; this one must not sleep through it.
            while not _ended(wait(made, LOOK_S, FIRST_EXCEPTION)):
                pass
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    failed = [one.exception() for one in made if not one.cancelled() and one.exception() is not None]
    # Runs that were stopped because of a failure say nothing about it.
    for error in sorted(failed, key=lambda error: isinstance(error, KeyboardInterrupt)):
        assert error is not None
        raise error
    return [one.result() for one in made]
