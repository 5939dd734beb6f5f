"""Connections of the server: a request has to be complete in time, and few may be incomplete.

Every user of the machine can connect. Without these limits, connections without a request would use up the
descriptors of the process, and nobody would be served.
"""

from __future__ import annotations

import asyncio
import time

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_S = 10.0
"""The time for a request's head, and the longest pause within its body."""
MOST_HALF_OPEN = 100
"""Connections without a complete request; one more ends the oldest of them."""
BACKLOG = 64
"""Connections that the system accepts ahead: so many more descriptors can be in use for a moment."""


class Connection(H11Protocol):
    """A connection that ends if its next request is not complete in time."""

    since = 0.0
    """When it began to wait for a request."""
    _due: asyncio.TimerHandle | None = None

    @property
    def half_open(self) -> bool:
        """Whether no complete request has arrived since the last answer."""
        return self._due is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait()
        waiting = [one for one in self.connections if isinstance(one, Connection) and one.half_open]
        if len(waiting) > MOST_HALF_OPEN:
            # The newest one may be the page of the user, whose request follows at once.
            min(waiting, key=lambda one: one.since).end()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            if self.conn.their_state is not h11.IDLE:
                self._no_longer_wait()
        elif self.cycle is not None and not self.cycle.response_complete:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._no_longer_wait()
        super().connection_lost(exc)

    def end(self) -> None:
        """Ends the connection at once, and frees its descriptor."""
        self._no_longer_wait()
        self.transport.abort()

    def _wait(self) -> None:
        self._no_longer_wait()
        self.since = time.monotonic()
        self._due = self.loop.call_later(PATIENCE_S, self.end)

    def _no_longer_wait(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
