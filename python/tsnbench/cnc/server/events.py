"""Events of the service as a stream of server-sent events: one for each decision.

RFC 8040, 6 (event streams of RESTCONF have the same form).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tsnbench.cnc.changes import Decision
from tsnbench.cnc.server.asking import problem
from tsnbench.cnc.service import Service
from tsnbench.foreign import Json

MOST_LISTENERS = 64
MOST_DIGITS = 18
"""Of the number of an event."""
MOST_UNREAD = 1_000
"""Events that a listener has not read; it then ends, and reads the list of decisions."""
PAUSE_S = 15.0
"""After this time without an event a comment is sent, so that an end is seen."""


def _text(decision: Decision, shown: Callable[[Decision], Json]) -> str:
    return f"id: {decision.number}\ndata: {json.dumps(shown(decision))}\n\n"


class Events:
    """The listeners of a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._listening = 0

    def answer(self, shown: Callable[[Decision], Json], request: Request) -> Response:
        """A stream of events; ``shown``: what it has of a decision.

        A client that was away names the last event that it has read (``Last-Event-ID``), and gets those after
        it first, as far as the service remembers them.
        """
        last = request.headers.get("last-event-id", "")
        if self._listening >= MOST_LISTENERS:
            return problem(503, f"{MOST_LISTENERS} clients listen already")
        texts = self._texts(shown, int(last) if last.isdecimal() and len(last) <= MOST_DIGITS else None)
        return StreamingResponse(texts, media_type="text/event-stream")

    async def _texts(self, shown: Callable[[Decision], Json], last: int | None) -> AsyncIterator[str]:
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[tuple[int, str]]()

        def told(decision: Decision) -> None:
            # The writer calls this: what is told is true at this moment.
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(waiting.put_nowait, (decision.number, _text(decision, shown)))

        end = self.service.listen(told)
        self._listening += 1
        try:
            yield ": decisions\n\n"
            # From now on each decision is told: one that is in both is told once.
            missed = [] if last is None else [one for one in [*self.service.decisions] if one.number > last]
            for one in missed:
                yield _text(one, shown)
            known = missed[-1].number if missed else 0
            while True:
                if waiting.qsize() > MOST_UNREAD:
                    return
                try:
                    number, text = await asyncio.wait_for(waiting.get(), PAUSE_S)
                except TimeoutError:
                    yield ": none\n\n"
                    continue
                if number > known:
                    yield text
        finally:
            self._listening -= 1
            end()
