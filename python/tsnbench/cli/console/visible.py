"""Text for a terminal: foreign text cannot move its cursor, change its colours or hide words.

Names of files, streams and devices may contain any character. Control characters, and those that change the
direction of writing, are shown as escapes (``\\x1b``); line feeds and tabs stay. Markup is not interpreted.
"""

from __future__ import annotations

import codecs
import json
import re

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

PLAIN = "tsnbench-plain"
"""The name of the handler for characters that an encoding lacks."""
_SIMILAR = str.maketrans(
    "\u2500\u2501\u2502\u2503\u2013\u2212\u2018\u2019\u201c\u201d\u00b5\u03bc\u00d7", "-=||--''\"\"uux"
) | {
    ord("\u2026"): "...",
    ord("\u00b1"): "+-",
    ord("\u2192"): "->",
}
"""Characters that tsnbench itself prints, and similar ones of ASCII."""


def visible(text: str) -> str:
    """The text with its control characters as escapes: ``\\x1b``, ``\\u202e``."""
    return CONTROL.sub(_escape, text)


def json_text(text: str) -> str:
    """A JSON document without characters that a terminal obeys; JSON itself escapes C0 control characters."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def encodable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Stands for characters that the encoding of a stream lacks: similar ones, or escapes.

    The handler of errors :data:`PLAIN`, for :func:`codecs.register_error`.

    Raises:
        UnicodeError: the error is of decoding.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    told = error.object[error.start : error.end].translate(_SIMILAR)
    return told.encode("ascii", "backslashreplace").decode("ascii"), error.end


def json_in(encoding: str, document: str) -> str:
    """A JSON document whose characters this encoding has; JSON's own escapes stand for others."""
    if encoding.lower().replace("-", "") == "utf8":
        return document
    try:
        document.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(json.loads(document))
    return document


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    if 0xDC80 <= number <= 0xDCFF:
        # An octet of a file's name that is not UTF-8 (os.fsdecode).
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


codecs.register_error(PLAIN, encodable)
