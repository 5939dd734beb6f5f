"""A service that waits for its turn: another one leads, and its answers name it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tsnbench.cnc.server.asking import Application, Message, Receive, Send, problem
from tsnbench.errors import BackendError

if TYPE_CHECKING:
    from tsnbench.cnc.restconf.wanted import Streams
    from tsnbench.cnc.service import Service

PAUSE_S = 0.5
"""Time between two attempts to lead."""


class Election(Protocol):
    """Where services agree which of them leads."""

    def lead(self) -> bool:
        """Tries to become the leader.

        Raises:
            BackendError: nobody knows who leads.
        """
        ...

    def leader(self) -> str:
        """The address of the leader; empty if there has been none."""
        ...


class Standby:
    """A process that leads when the leader has ended.

    Args:
        election: says whether this process leads. begin: makes its service then.
    """

    def __init__(self, election: Election, begin: Callable[[], tuple[Service, Streams | None]]) -> None:
        self._election, self._begin = election, begin
        self._end = threading.Event()
        self.leader = election.leader()
        self.failed: Exception | None = None
        """Why this process cannot lead although it is its turn."""

    def end(self) -> None:
        """Ends the waiting."""
        self._end.set()

    def wait(self, leads: Callable[[Service, Streams | None], None], failed: Callable[[], None]) -> None:
        """Waits for its turn; then ``leads`` gets the service, or ``failed`` is called."""
        try:
            while not self._end.wait(PAUSE_S):
                if self._is_leader():
                    leads(*self._begin())
                    return
        except Exception as error:  # it ends the process, with its reason
            self.failed = error
            failed()

    def _is_leader(self) -> bool:
        try:
            found = self._election.lead()
            self.leader = self._election.leader()
        except BackendError:
            # The database does not answer: it may later.
            return False
        return found

    def application(self) -> Application:
        """Answers that another service leads."""

        async def answer(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await send({"type": "websocket.close", "code": 1008})
                return
            where = f": {self.leader}" if self.leader else ""
            told = problem(503, f"Another service leads{where}", {"leader": self.leader}, retry_after="1")
            await told(scope, receive, send)

        return answer
