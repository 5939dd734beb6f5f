"""The context of a place in a scenario's text: the keys above it, and whether it is a key or a value.

The text may be half written, so no YAML parser reads it. Block and flow style are followed line by line as
far as the place; anchors, tags and texts over several lines are not understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = r"""(?:[^\s#&*!|>'"{}\[\],-]|-[^\s#{}\[\],])[^#{}\[\],]*?"""
_KEY = re.compile(rf"""(?P<key>"[^"]*"|'[^']*'|{_PLAIN}):(?=\s|$)""")
_ITEM = re.compile(r"-(\s+|$)")


@dataclass(frozen=True)
class Context:
    """A place in a text."""

    path: tuple[str, ...]
    """The keys above it; with a value, its own key is the last one."""
    value: bool
    """Whether a value stands there, or a key."""
    word: str
    """What is written of it before the place."""


@dataclass
class _Frame:
    """An open brace or bracket."""

    bracket: str
    key: str | None = None
    word: str = ""


def context(text: str, line: int, column: int) -> Context:
    """The context of a place; ``line`` and ``column`` count from 0, in characters."""
    lines = text.split("\n")[: line + 1]
    lines[-1] = lines[-1][:column]
    above: list[tuple[int, str]] = []
    frames: list[_Frame] = []
    value, word = False, ""
    for number, whole in enumerate(lines):
        last = number == len(lines) - 1
        if frames:
            _flow(whole, frames)
            continue
        rest = whole.lstrip(" ")
        indent = len(whole) - len(rest)
        if not last and (not rest.strip() or rest.startswith("#")):
            continue
        while item := _ITEM.match(rest):
            above = [one for one in above if one[0] < indent]
            above.append((indent, ""))
            indent += item.end()
            rest = rest[item.end() :]
        above = [one for one in above if one[0] < indent]
        value, word = False, rest
        if key := _KEY.match(rest):
            above.append((indent, key["key"].strip("\"'")))
            after = rest[key.end() :]
            value, word = after.startswith(" "), after.strip()
            rest = after
        _flow(rest, frames)
    path = tuple(key for _, key in above if key)
    if not frames:
        return Context(path, value, word)
    inner = tuple(frame.key for frame in frames[:-1] if frame.key is not None)
    frame = frames[-1]
    if frame.key is not None:
        return Context((*path, *inner, frame.key), True, frame.word.strip())
    return Context((*path, *inner), frame.bracket == "[", frame.word.strip())


def _flow(text: str, frames: list[_Frame]) -> None:
    """Follows braces and brackets through a part of a line."""
    quote = ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (not frames or not frames[-1].word.strip()):
            quote = letter
        elif letter == "#" and (place == 0 or text[place - 1] == " "):
            return
        elif letter in "{[" and not text[:place].endswith("$"):
            frames.append(_Frame(letter))
        elif letter in "}]" and frames:
            # The } of ${…} does not end a mapping.
            if letter == "}" and "${" in frames[-1].word and "}" not in frames[-1].word.rpartition("${")[2]:
                frames[-1].word += letter
            else:
                frames.pop()
        elif not frames:
            continue
        elif letter == ",":
            frames[-1].key, frames[-1].word = None, ""
        elif letter == ":" and frames[-1].bracket == "{" and text[place + 1 : place + 2] in ("", " "):
            frames[-1].key, frames[-1].word = frames[-1].word.strip().strip("\"'"), ""
        else:
            frames[-1].word += letter
