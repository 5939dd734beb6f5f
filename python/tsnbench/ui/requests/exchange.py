"""Requests and answers of all routes: the content of a request, and the answer to a refused one."""

from __future__ import annotations

import errno
import json
from collections.abc import Awaitable, Callable
from functools import wraps

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tsnbench import foreign
from tsnbench.editing.spans import EditError
from tsnbench.ui.workspace import (
    LARGEST_SCENARIO,
    ChangedError,
    NewNameError,
    OutsideError,
    ThereError,
)

Endpoint = Callable[[Request], Awaitable[Response]]

STATUS = {
    errno.ENOSPC: 507,
    errno.EDQUOT: 507,
    errno.EFBIG: 507,
    errno.EACCES: 403,
    errno.EPERM: 403,
    errno.EROFS: 403,
    errno.ENAMETOOLONG: 400,
}
"""The status of an answer by the error of the file system: no room, no permission, an impossible name."""


class RefusedError(Exception):
    """A request that is refused with a status of its own; the message says why."""

    def __init__(self, why: str, status: int) -> None:
        super().__init__(why)
        self.status = status

    def answer(self) -> Response:
        """The answer, with the reason as its text."""
        return PlainTextResponse(f"{self}\n", self.status)


def answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint, with an answer for every request that it refuses."""

    @wraps(endpoint)
    async def safe(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RefusedError as error:
            return error.answer()
        except OutsideError:
            return PlainTextResponse("No such scenario or folder\n", 404)
        except ChangedError:
            return PlainTextResponse("Another program has changed the file\n", 412)
        except ThereError as error:
            return PlainTextResponse(f"There is a file {error} already\n", 412)
        except NewNameError as error:
            return PlainTextResponse(f"{error}\n", 400)
        except EditError as error:
            return refused(error)
        except (UnicodeDecodeError, foreign.UnusableFileError) as error:
            return PlainTextResponse(f"{error}\n", 422)
        except OSError as error:
            # The file is as it was.
            return PlainTextResponse(f"{error.strerror or error}\n", STATUS.get(error.errno or 0, 500))

    return safe


async def asked(request: Request) -> foreign.Json:
    """The JSON object of a request, with its text.

    Raises:
        EditError: it is none.
    """
    try:
        found = json.loads(await body(request, 2 * LARGEST_SCENARIO))
        for value in found.values() if isinstance(found, dict) else ():
            if isinstance(value, str):
                value.encode()  # JSON can contain half a character
    except (RefusedError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        raise EditError("the request has no text")
    for key in ("line", "column"):
        if not isinstance(found.setdefault(key, 0), int):
            raise EditError("the request has no place")
    return found


def refused(why: Exception) -> JSONResponse:
    """The answer to an edit that is not possible, with the reason.

    Its status is 200, because a browser's console shows every other status as an error of the page.
    """
    return JSONResponse({"refused": str(why)})


async def body(request: Request, most: int, what: str = "request") -> bytes:
    """The body of a request.

    Args:
        request: the request.
        most: the greatest number of octets.
        what: the content in words, for the answer to a larger one.

    Raises:
        RefusedError: it is larger.
    """
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > most:
                raise RefusedError(f"The {what} is too large", 413)
    except ClientDisconnect:
        raise RefusedError(f"The {what} is incomplete", 400) from None
    return bytes(content)
