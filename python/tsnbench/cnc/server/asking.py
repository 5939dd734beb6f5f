"""One request: the client that asks, its body, and the answer to what is wrong with it.

Problem details are those of RFC 9457, with the reasons beside them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from concurrent.futures import Future
from functools import wraps
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tsnbench.cnc.changes import Change, Decision, Kind
from tsnbench.cnc.changing.writer import BusyError
from tsnbench.cnc.requests import LARGEST_BODY, NoJsonError, read_object
from tsnbench.cnc.server.clients import Client, Scope
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import FullStoreError, LostStoreError
from tsnbench.cnc.store.denied import DeniedLog
from tsnbench.foreign import Json
from tsnbench.ui.requests.exchange import RefusedError, body

Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Result = TypeVar("Result")
Endpoint = Callable[[Request], Awaitable[Response]]
STATUS = {
    Kind.WRONG.value: 400,
    Kind.FOREIGN.value: 403,
    Kind.UNKNOWN.value: 404,
    Kind.TAKEN.value: 409,
    Kind.REFUSED.value: 409,
    Kind.CHANGED.value: 412,
    Kind.DEVICES.value: 502,
    Kind.HALTED.value: 503,
}
"""The status of an answer by the outcome of its decision."""


def encoded(document: Json) -> bytes:
    """JSON as answers have it."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def problem(status: int, detail: str, more: Json | None = None, **headers: str) -> Response:
    """Problem details (RFC 9457)."""
    title = HTTPStatus(status).phrase
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **(more or {})}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse(content, status, named, media_type="application/problem+json")


def refusal(decision: Decision) -> Response:
    """The answer to a change that was not accepted."""
    first = decision.reasons[0]
    where = f"{first['path']}: " if first["path"] else ""
    detail = f"{where}expected {first['expected']}, found {first['found']}"
    return problem(STATUS[decision.outcome], detail, {"decision": decision.document()})


def answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint, with an answer for every request that it refuses."""

    @wraps(endpoint)
    async def safe(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RefusedError as error:
            if error.status == HTTPStatus.TOO_MANY_REQUESTS:
                return problem(error.status, str(error), retry_after="1")
            return problem(error.status, str(error))
        except NoJsonError as error:
            return problem(400, str(error))
        except BusyError as error:
            return problem(503, str(error), retry_after="1")
        except LostStoreError as error:
            return problem(503, f"{error}; ask again: what was accepted is there", retry_after="1")
        except FullStoreError as error:
            return problem(507, str(error))

    return safe


async def object_of(request: Request, kinds: Sequence[str] = ("application/json",)) -> Json:
    """The JSON object of a request.

    A page of another origin cannot send these types without asking the server first.

    Raises:
        RefusedError: another type, or a body that is too large. NoJsonError: it is no object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in kinds:
        raise RefusedError(f"The content-type has to be {' or '.join(kinds)}", 415)
    return read_object(await body(request, LARGEST_BODY))


def client_of(request: Request, scope: Scope) -> Client:
    """The client that asks.

    Raises:
        RefusedError: it may not do so, or asks too often.
    """
    client: Client = request.scope["cnc.client"]
    if client.scope < scope:
        raise denied(request, f"The scope of {client.name} is {client.scope.name.lower()}")
    if scope > Scope.READ and not client.may_ask():
        raise denied(request, "Too many changes within a second", 429)
    return client


def denied(request: Request, why: str, status: int = 403) -> RefusedError:
    """The refusal of a request that is not decided; it is in the log."""
    note(request, status, why)
    return RefusedError(why, status)


def note(request: Request, status: int, why: str, who: str = "") -> None:
    """Puts a request that is not decided into the log; ``who`` asks if it is no client."""
    client: Client | None = request.scope["cnc.client"]
    log: DeniedLog = request.scope["cnc.denied"]
    address = request.client.host if request.client else ""
    asked = f"{request.method} {request.scope['path']}"
    log.note(client.name if client else who, address, status, asked, why)


def expected_of(request: Request) -> str:
    """The hash of the Plan that the client knows, from ``If-Match``; empty if any will do."""
    found = request.headers.get("if-match", "")
    return "" if found == "*" else found.strip().removeprefix("W/").strip('"')


async def decided(service: Service, change: Change) -> Decision:
    """The decision about a change."""
    return await ended(service.ask(change))


async def ended(job: Future[Result]) -> Result:
    """What the writer made of a job. No thread waits for it: those are for the files of the page."""
    # What was asked is done also if the client goes away.
    return await asyncio.shield(asyncio.wrap_future(job))
