"""The YAML of a scenario with the span of every value, as an edit of the text needs it.

The tree of :mod:`tsnbench.scenario.text.source` knows where values begin. Here every value also has its end,
and collections their style. The native reader reads the text, and ruamel.yaml reads texts that it refuses;
nothing of the text is interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from tsnbench.libraries import ruamel_yaml
from tsnbench.scenario.text import braces, builder, source

MOST_ALIASED = 100_000
"""Values that the aliases of a text may add."""


class EditError(Exception):
    """An edit that cannot be made as a change of a few words; the message says what to do instead."""


@dataclass(frozen=True)
class Span:
    """A value and its place: offsets in characters, ``end`` behind its last character."""

    kind: str
    """``scalar``, ``sequence`` or ``mapping``."""
    start: int
    end: int
    text: str = ""
    """Of a scalar: its value."""
    flow: bool = False
    """Of a collection: whether it is written in brackets."""
    style: str = ""
    """Of a scalar: its quotation mark, or ``|`` and ``>``; empty if it is plain."""
    items: tuple[tuple[Span | None, Span], ...] = ()
    """Of a collection: its entries; the keys of a sequence are None."""

    def get(self, key: str) -> Span | None:
        """The value of a key."""
        return next((value for name, value in self.items if name is not None and name.text == key), None)

    def entry(self, key: str) -> tuple[Span, Span] | None:
        """A key and its value."""
        return next(((name, value) for name, value in self.items if name and name.text == key), None)

    @property
    def last(self) -> int:
        """The end of what is written; that of a block is the end of its last value."""
        return self.items[-1][1].last if self.kind != "scalar" and not self.flow and self.items else self.end

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Span, bool]]:
        """All scalars: the keys above each, the scalar, and whether it is a key."""
        if self.kind == "scalar":
            yield path, self, False
        for name, value in self.items:
            if name is not None:
                yield path, name, True
            yield from value.walk(path if name is None else (*path, name.text))


def units_of(text: str) -> Callable[[int], int]:
    """From characters to the UTF-16 units in which a page counts."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda offset: offset
    return lambda offset: len(text[:offset].encode("utf-16-le")) // 2


def characters_of(text: str, units: int) -> int:
    """From UTF-16 units to characters."""
    if text.isascii():
        return units
    return len(text.encode("utf-16-le")[: 2 * max(0, units)].decode("utf-16-le", errors="ignore"))


def spans(text: str) -> Span:
    """The tree of a text.

    Raises:
        EditError: the text is no YAML that is edited here.
    """
    stood_in = braces.marked(text)
    found = _quickly(stood_in)
    if found is None:
        try:
            top = ruamel_yaml.YAML(typ="safe", pure=True).compose(stood_in)
            found = _span(top, stood_in, [len(text) + MOST_ALIASED]) if top is not None else None
        except (ruamel_yaml.error.YAMLError, ValueError, OverflowError, RecursionError):
            raise EditError("correct the mistakes of the text first") from None
    if found is None or found.kind != "mapping":
        raise EditError("correct the mistakes of the text first")
    return found


_QUOTATION = {"'": re.compile(r"'(?:[^']|'')*'"), '"': re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)}


def _quickly(text: str) -> Span | None:
    """The tree from the native reader, in a tenth of ruamel's time.

    None for a text whose places it does not give: with a mistake, anchors, empty values, or blocks of text.
    """
    if "\r" in text:
        return None
    read = source.events_of(text)
    if read is None:
        return None
    events, texts = read
    begins = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    values = [braces.unmarked(one) for one in texts]
    top: list[Span] = []
    open_ones: list[tuple[int, bool, list[Span]]] = []
    within = top
    numbers = iter(events)
    for kind, line, column, anchor, at in zip(*[numbers] * 5, strict=True):
        start = begins[line - 1] + column - 1
        if anchor or kind > builder.END:
            return None
        if kind == builder.END:
            begin, mapping, parts = open_ones.pop()
            within = open_ones[-1][2] if open_ones else top
            flow = text[begin] == ("{" if mapping else "[")
            end = start + 1 if flow else parts[-1].end if parts else begin
            if mapping:
                items = tuple(zip(parts[::2], parts[1::2], strict=True))
                within.append(Span("mapping", begin, end, flow=flow, items=items))
            else:
                within.append(
                    Span("sequence", begin, end, flow=flow, items=tuple([(None, one) for one in parts]))
                )
        elif kind >= builder.SEQUENCE:
            parts = []
            open_ones.append((start, kind == builder.MAPPING, parts))
            within = parts
        elif kind == builder.QUOTED:
            mark = text[start]
            closed = _QUOTATION[mark].match(text, start) if mark in _QUOTATION else None
            if closed is None:
                return None
            within.append(Span("scalar", start, closed.end(), values[at], style=mark))
        else:
            end = start + len(texts[at])
            if not texts[at] or text[start:end] != texts[at]:
                return None
            within.append(Span("scalar", start, end, values[at]))
    return top[0] if len(top) == 1 else None


def _span(node: object, text: str, left: list[int]) -> Span:
    """The span of a node; an alias has that of its anchor. ``left``: how many values there may still be."""
    left[0] -= 1
    if left[0] < 0:
        # Aliases of aliases can be a billion values.
        raise EditError("write the values where *aliases stand; the aliases of this text are too many values")
    start, end = node.start_mark.index, node.end_mark.index  # type: ignore[attr-defined]
    value = node.value  # type: ignore[attr-defined]
    style = getattr(node, "style", None) or ""
    if isinstance(value, str):
        while style in ("|", ">") and end > start and text[end - 1] == "\n":
            end -= 1
        return Span("scalar", start, end, braces.unmarked(value), style=style)
    pairs = tuple(
        (_span(one[0], text, left), _span(one[1], text, left))
        if isinstance(one, tuple)
        else (None, _span(one, text, left))
        for one in value
    )
    mapping = any(key is not None for key, _ in pairs) or type(node).__name__ == "MappingNode"
    kind, flow = "mapping" if mapping else "sequence", bool(node.flow_style)  # type: ignore[attr-defined]
    if not flow:
        # ruamel's end is behind the comments and empty lines that follow.
        end = pairs[-1][1].end if pairs else start
    return Span(kind, start, end, flow=flow, items=pairs)
