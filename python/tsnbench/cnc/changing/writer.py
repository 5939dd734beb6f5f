"""The writer: one thread that decides about changes in the order in which they came.

At most :data:`MOST_WAITING` changes wait at once, and those that wait at the same time are decided together.
Other jobs wait in the same queue.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from tsnbench.cnc.admission import MOST_CHANGES
from tsnbench.cnc.changes import Change, Decision
from tsnbench.errors import BackendError

MOST_WAITING = 128
"""Changes that wait for a decision."""
MOST_TOGETHER = 16
"""Changes that are decided together."""
Result = TypeVar("Result")
Job = Callable[[], None]


class BusyError(BackendError):
    """Too many changes wait; a client asks again later."""


@dataclass(frozen=True)
class Waiting:
    """A change that waits for its decision."""

    change: Change
    done: Future[Decision]

    def may_join(self, others: Sequence[Waiting]) -> bool:
        """Whether it may be decided together with others: all only add streams, whatever the network is."""
        asked = [one.change for one in (*others, self)]
        plain = not any(one.remove or one.expected or one.tidy for one in asked)
        return plain and sum(len(one.add) for one in asked) <= MOST_CHANGES


class Writer:
    """The thread; it begins at once.

    Args:
        decide: decides about changes that waited at the same time, and tells their clients.
        rest: what is done if nothing waits. pause_s: how long nothing waits before that.
    """

    def __init__(
        self, decide: Callable[[Sequence[Waiting]], None], rest: Job, pause_s: Callable[[], float]
    ) -> None:
        self._decide, self._rest, self._pause_s = decide, rest, pause_s
        self._jobs: queue.Queue[Job | Waiting | None] = queue.Queue(MOST_WAITING)
        self._next: deque[Job | Waiting | None] = deque()
        """What the thread took from the queue and did not do yet."""
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="cnc-writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread after all that waits."""
        self._closing = True
        self._jobs.put(None)
        self._thread.join()

    def ask(self, change: Change) -> Future[Decision]:
        """Puts a change into the queue.

        Raises:
            BusyError: too many changes wait already, or the service ends.
        """
        waiting = Waiting(change, Future())
        self._put(waiting)
        return waiting.done

    def soon(self, what: Callable[[], Result]) -> Future[Result]:
        """Puts something else into the queue.

        Raises:
            BusyError: too many changes wait already, or the service ends.
        """
        done: Future[Result] = Future()

        def job() -> None:
            if done.set_running_or_notify_cancel():
                fulfil(done, what)

        self._put(job)
        return done

    def _put(self, job: Job | Waiting) -> None:
        try:
            if self._closing:
                raise queue.Full
            self._jobs.put_nowait(job)
        except queue.Full:
            raise BusyError(f"{MOST_WAITING} changes wait already: ask again later") from None

    def _work(self) -> None:
        while True:
            pause = self._pause_s()
            try:
                if not pause:
                    raise queue.Empty
                job = self._next.popleft() if self._next else self._jobs.get(timeout=pause)
            except queue.Empty:
                self._rest()
                continue
            if job is None:
                return
            if isinstance(job, Waiting):
                found = [
                    one for one in self._with_those_behind(job) if one.done.set_running_or_notify_cancel()
                ]
                self._decide(found)
            else:
                job()

    def _with_those_behind(self, first: Waiting) -> list[Waiting]:
        """A change, and those that wait now behind it and may be decided together with it."""
        found = [first]
        for _ in range(min(self._jobs.qsize(), MOST_TOGETHER - 1)):
            job = self._jobs.get_nowait()
            if not isinstance(job, Waiting) or not job.may_join(found):
                self._next.append(job)
                break
            found.append(job)
        return found


def fulfil(done: Future[Result], what: Callable[[], Result]) -> None:
    """Does something whose result others wait for; its error is theirs, too."""
    try:
        done.set_result(what())
    except BaseException as error:
        done.set_exception(error)
