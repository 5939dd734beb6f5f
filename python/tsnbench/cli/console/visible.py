"""Text for a terminal: foreign text cannot move its cursor, change its colours or hide words.

Names of files, streams and devices may contain any character. Control characters, and those that change the
direction of writing, are shown as escapes (``\\x1b``); line feeds and tabs stay. Markup is not interpreted.
"""

from __future__ import annotations

import re

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with its control characters as escapes: ``\\x1b``, ``\\u202e``."""
    return CONTROL.sub(_escape, text)


def json_text(text: str) -> str:
    """A JSON document without characters that a terminal obeys; JSON itself escapes C0 control characters."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    if 0xDC80 <= number <= 0xDCFF:
        # An octet of a file's name that is not UTF-8 (os.fsdecode).
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
