"""The YAML of a scenario with the span of every value, as an edit of the text needs it.

The tree of :mod:`tsnbench.scenario.text.source` knows where values begin. Here every value also has its end,
and collections their style. ruamel.yaml reads the text; nothing of the text is interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tsnbench.scenario.text.source import CLOSE, OPEN

_PARAMETER = re.compile(r"\$\{([^{}\n]*)\}")


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
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    marked = _PARAMETER.sub(lambda found: f"${OPEN}{found[1]}{CLOSE}", text)
    try:
        top = YAML(typ="safe", pure=True).compose(marked)
        found = _span(top, marked) if top is not None else None
    except (YAMLError, ValueError, OverflowError, RecursionError):
        raise EditError("correct the mistakes of the text first") from None
    if found is None or found.kind != "mapping":
        raise EditError("correct the mistakes of the text first")
    return found


def _span(node: object, text: str) -> Span:
    start, end = node.start_mark.index, node.end_mark.index  # type: ignore[attr-defined]
    value = node.value  # type: ignore[attr-defined]
    style = getattr(node, "style", None) or ""
    if isinstance(value, str):
        while style in ("|", ">") and end > start and text[end - 1] == "\n":
            end -= 1
        return Span("scalar", start, end, value.replace(OPEN, "{").replace(CLOSE, "}"), style=style)
    pairs = tuple(
        (_span(one[0], text), _span(one[1], text)) if isinstance(one, tuple) else (None, _span(one, text))
        for one in value
    )
    mapping = any(key is not None for key, _ in pairs) or type(node).__name__ == "MappingNode"
    kind = "mapping" if mapping else "sequence"
    return Span(kind, start, end, flow=bool(node.flow_style), items=pairs)  # type: ignore[attr-defined]
