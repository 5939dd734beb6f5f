"""The requirements of a stream, each added, changed or removed as one small change of the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from tsnbench.editing.edits import ALIAS, Edit, added, is_swept, remove
from tsnbench.editing.spans import EditError, Span, spans
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.grammar.streams import LIMITS
from tsnbench.scenario.loader import read_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = {
    "delay": "500 us",
    "delay p99": "400 us",
    "delay p99.9": "450 us",
    "delay p99.99": "480 us",
    "delay from release": "1 ms",
    "jitter": "50 us",
    "jitter deviation": "50 us",
    "jitter spread": "100 us",
    "jitter interval": "50 us",
    "loss": "0",
    "survives": "1",
    "rate": "1 Mbit/s",
    "time-out": "300 ms",
    "age": "400 ms",
    "round-trip": "20 ms",
    "class": "sr/A",
    "worst-case": "true",
}
"""The requirements that a form offers, with a value of each; the text may also have other percentiles."""
_MEANINGS = {
    "delay p99": "delay that 99 % of the frames keep",
    "delay p99.9": "delay that 99.9 % of the frames keep",
    "delay p99.99": "delay that 99.99 % of the frames keep",
    "jitter deviation": "greatest distance of a delay from the mean delay",
    "jitter spread": "standard deviation of the delay",
    "jitter interval": "greatest difference between the gap of two arrivals and the period",
}
"""Of keys that the grammar describes only together with others of their kind."""
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/µ-]*(?: [A-Za-z0-9._/µ%-]+)?%?")
_ELSEWHERE = "the text has no entry of its own for this stream: write its requirements into the text"


class Offered(TypedDict):
    """A requirement that a stream may have."""

    key: str
    about: str
    example: str


class Written(TypedDict):
    """A requirement that the text has."""

    key: str
    value: str
    swept: bool
    """Whether a sweep decides the value, so that only the text has all its values."""


def offered() -> list[Offered]:
    """All requirements of a form, with what they mean."""
    found: list[Offered] = []
    for key, example in EXAMPLES.items():
        about = _MEANINGS.get(key) or LIMITS.fields[key].doc
        found.append({"key": key, "about": about, "example": example})
    return found


def written(text: str, entry: Span) -> list[Written] | None:
    """The requirements in the entry of a stream; None if they cannot be edited one by one."""
    if entry.kind != "mapping":
        return None
    value = entry.get("requires")
    if value is None:
        return []
    if value.kind == "scalar":
        return None if is_swept(value) else [{"key": "class", "value": value.text, "swept": False}]
    if value.kind != "mapping":
        return None
    return [
        {
            "key": key.text,
            "value": one.text if one.kind == "scalar" else text[one.start : one.end],
            "swept": one.kind != "scalar" or is_swept(one),
        }
        for key, one in value.items
        if key
    ]


def require(text: str, file: str, stream: str, key: str, value: str) -> Edit:
    """Adds a requirement to a stream, or changes its value.

    Raises:
        EditError: the value does not fit the requirement, or the text has no place for it.
    """
    if key not in LIMITS.fields and LIMITS.by_pattern(key) is None:
        raise EditError(f"there is no requirement {key}")
    if not _VALUE.fullmatch(value):
        raise EditError(f"{key}: expected a value such as {EXAMPLES.get(key, '500 us')}, found {value!r}")
    top = spans(text)
    entry, found = _requires(top, stream)
    limit = f"{key}: {value}"
    if found is None:
        edit = added(text, entry, f"requires: {{{limit}}}")
    elif found.kind == "scalar":
        # The name of an SR class is a requirement of its own.
        parts = [f"class: {found.text}"] * bool(found.text and key != "class")
        space = "" if text[found.start - 1].isspace() else " "
        edit = Edit(found.start, found.end, f"{space}{{{', '.join([*parts, limit])}}}")
    elif (old := found.entry(key)) is None:
        edit = added(text, found, limit)
    elif old[1].kind != "scalar" or is_swept(old[1]):
        raise EditError(f"a sweep decides {key}: change it in the text")
    elif old[1].start < old[0].start:
        raise EditError(ALIAS)
    else:
        edit = Edit(old[1].start, old[1].end, value)
    _check(text, top, edit, stream)
    try:
        read_scenario(edit.applied(text), file)
    except ScenarioErrors as errors:
        for one in errors.problems:
            if one.path == f"streams.{stream}.requires.{key}":
                hint = f"; {one.hint}" if one.hint else ""
                raise EditError(f"{key}: expected {one.expected}, found {one.found}{hint}") from None
    return edit


def no_longer_require(text: str, stream: str, key: str) -> Edit:
    """Removes a requirement of a stream; with the last limit, the whole key ``requires``.

    Raises:
        EditError: the stream has no such requirement, or it shares its line in the text.
    """
    top = spans(text)
    entry, found = _requires(top, stream)
    whole = entry.entry("requires")
    if found is None or whole is None:
        raise EditError(f"{stream} has no requirements")
    if found.kind == "scalar" and key == "class":
        edit = remove(text, whole[0].start)
    else:
        own = found.entry(key)
        if own is None:
            raise EditError(f"{stream} does not require {key}")
        rest = {name.text for name, _ in found.items if name} - {key}
        # Without a limit, there is nothing that the worst case could keep.
        edit = remove(text, own[0].start if rest - {"worst-case"} else whole[0].start)
    _check(text, top, edit, stream)
    return edit


def _requires(top: Span, stream: str) -> tuple[Span, Span | None]:
    """The entry of a stream and its requirements."""
    streams = top.get("streams")
    own = streams.entry(stream) if streams else None
    if own is None or own[1].kind != "mapping":
        raise EditError(_ELSEWHERE)
    found = own[1].entry("requires")
    if own[1].start < own[0].start or (found and found[1].start < found[0].start):
        raise EditError(ALIAS)
    if found and (found[1].kind == "sequence" or (found[1].kind == "scalar" and is_swept(found[1]))):
        raise EditError("a sweep decides the requirements: change them in the text")
    return own[1], found[1] if found else None


def _check(text: str, top: Span, edit: Edit, stream: str) -> None:
    """Everything else of the text stays, also where an alias stands; ``top`` is the tree of the text."""

    def rest(top: Span) -> Iterator[tuple[tuple[str, ...], str]]:
        for path, one, is_key in top.walk():
            whole = (*path, one.text) if is_key else path
            if whole[:3] != ("streams", stream, "requires"):
                yield whole, one.text

    before = list(rest(top))
    try:
        after = list(rest(spans(edit.applied(text))))
    except EditError:
        # Such as an alias whose anchor is gone.
        after = []
    if before != after:
        raise EditError("other parts of the text would change, too: change it in the text")
