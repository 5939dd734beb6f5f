"""Messages to the language server, each checked before the server's library reads it.

Language Server Protocol 3.17, base protocol: a header with the length of the content, then JSON-RPC 2.0.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from typing import Any, BinaryIO

MOST_OCTETS = 64 << 20
"""The longest content of a message."""
MOST_HEADER = 4096
"""Octets of the longest line of a header."""
_LENGTH = re.compile(rb"content-length:\s*(\d+)\s*", re.IGNORECASE)
PARSE_ERROR, INVALID_REQUEST, NOT_INITIALIZED = -32700, -32600, -32002
"""Codes of JSON-RPC, and of the Language Server Protocol."""
_log = logging.getLogger("tsnbench.lsp")


class Outgoing:
    """Standard output for two threads: each call of ``write`` is one whole message."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, octets: bytes) -> int:
        """Writes a message."""
        with self._lock:
            written = self._stream.write(octets)
            self._stream.flush()
            return written

    def flush(self) -> None:
        """Nothing is left after :meth:`write`."""

    def close(self) -> None:
        """Closes the stream."""
        self._stream.close()


class Incoming:
    """Standard input, of which only messages are read that the server can understand.

    A message that is too long, is not JSON in UTF-8, is no request and no notification, or comes before
    ``initialize`` is answered with an error where it has an ``id``, and is noted on stderr in one line.
    """

    def __init__(self, stream: BinaryIO, out: Outgoing) -> None:
        self._stream = stream
        self._out = out
        self._begun = False
        self._left = b""

    def readline(self) -> bytes:
        """A line of the header of the next good message; nothing at the end of the input."""
        if not self._left:
            content = self._next()
            if content is None:
                return b""
            self._left = b"Content-Length: %d\r\n\r\n%s" % (len(content), content)
        line, end, self._left = self._left.partition(b"\n")
        return line + end

    def read(self, count: int) -> bytes:
        """The content of the message whose header was read."""
        content, self._left = self._left[:count], self._left[count:]
        return content

    def _next(self) -> bytes | None:
        """The content of the next good message, or None at the end of the input."""
        while (length := self._header()) is not None:
            if length > MOST_OCTETS:
                self._refuse(None, PARSE_ERROR, f"a message of {length} octets is too long")
                continue
            content = self._stream.read(length)
            if len(content) < length:
                return None
            if self._is_good(content):
                return content
        return None

    def _header(self) -> int | None:
        """The length of the next message, or None at the end of the input; other lines are skipped."""
        length = None
        while line := self._stream.readline(MOST_HEADER):
            if found := _LENGTH.fullmatch(line.strip()):
                # A number of thousands of digits is no length.
                length = int(found[1][:20])
            elif not line.strip() and length is not None:
                return length
        return None

    def _is_good(self, content: bytes) -> bool:
        try:
            message = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"a message is no JSON in UTF-8: {type(error).__name__}")
            return False
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, INVALID_REQUEST, f"a message is no object of JSON-RPC: {_kind(message)}")
            return False
        number, method = message.get("id"), message.get("method")
        if not isinstance(number, int | str | None) or not isinstance(method, str | None):
            self._refuse(None, INVALID_REQUEST, "a message has an id or a method of a wrong type")
            return False
        self._begun = self._begun or (method == "initialize" and number is not None)
        if not self._begun and method != "exit":
            self._refuse(number, NOT_INITIALIZED, f"{method or 'an answer'} before initialize")
            return False
        return True

    def _refuse(self, number: int | str | None, code: int, why: str) -> None:
        _log.warning("%s", why)
        if number is None and code == NOT_INITIALIZED:
            return  # A notification has no answer.
        answer = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": why}}
        content = json.dumps(answer).encode()
        self._out.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))


def _kind(value: Any) -> str:
    return "an object of another kind" if isinstance(value, dict) else type(value).__name__


class OneLine(logging.Formatter):
    """Writes the first line of a note, and the kind of an error, without a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a note."""
        said = record.getMessage().split("\n", 1)[0]
        kind = record.exc_info[0] if record.exc_info else None
        return f"lsp: {said[:200]}" + (f": {kind.__name__}" if kind else "")


def note_in_lines() -> None:
    """Notes of the server and of its library become single lines on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    for name in ("pygls", "tsnbench.lsp", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
