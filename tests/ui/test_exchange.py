"""What a request gets when the file system refuses it: a status, and the words of the system."""

from __future__ import annotations

import asyncio
import errno
import os

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tsnbench.ui.requests.exchange import answered


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (errno.ENOSPC, 507),
        (errno.EDQUOT, 507),
        (errno.EFBIG, 507),
        (errno.EACCES, 403),
        (errno.EROFS, 403),
        (errno.ENAMETOOLONG, 400),
        (errno.EIO, 500),
    ],
)
def test_an_error_of_the_file_system_has_its_status_and_its_words(number: int, status: int) -> None:
    async def endpoint(_: Request) -> Response:
        raise OSError(number, os.strerror(number))

    answer = asyncio.run(answered(endpoint)(Request({"type": "http"})))
    assert (answer.status_code, bytes(answer.body)) == (status, f"{os.strerror(number)}\n".encode())
