"""Events of the service as a stream of server-sent events: one for each decision.

RFC 8040, 6 (event streams of RESTCONF have the same form).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.responses import Response, StreamingResponse

from tsnbench.cnc.changes import Decision
from tsnbench.cnc.server.asking import problem
from tsnbench.cnc.service import Service
from tsnbench.foreign import Json

MOST_LISTENERS = 64
MOST_UNREAD = 1_000
"""Events that a listener has not read; it then ends, and reads the list of decisions."""
PAUSE_S = 15.0
"""After this time without an event a comment is sent, so that an end is seen."""


class Events:
    """The listeners of a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._listening = 0

    def answer(self, shown: Callable[[Decision], Json]) -> Response:
        """A stream of events; ``shown``: what it has of a decision."""
        if self._listening >= MOST_LISTENERS:
            return problem(503, f"{MOST_LISTENERS} clients listen already")
        return StreamingResponse(self._texts(shown), media_type="text/event-stream")

    async def _texts(self, shown: Callable[[Decision], Json]) -> AsyncIterator[str]:
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[str]()

        def told(decision: Decision) -> None:
            # The writer calls this: what is told is true at this moment.
            text = f"id: {decision.number}\ndata: {json.dumps(shown(decision))}\n\n"
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(waiting.put_nowait, text)

        end = self.service.listen(told)
        self._listening += 1
        try:
            yield ": decisions\n\n"
            while True:
                if waiting.qsize() > MOST_UNREAD:
                    return
                try:
                    yield await asyncio.wait_for(waiting.get(), PAUSE_S)
                except TimeoutError:
                    yield ": none\n\n"
        finally:
            self._listening -= 1
            end()
