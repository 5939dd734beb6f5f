"""Words about kinds of values: type, unit, range, an example, and the text of a default."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tsnbench.scenario.kinds.alike import Alike
from tsnbench.scenario.kinds.combinators import Either, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import (
    YES_NO,
    Average,
    Choice,
    Count,
    FileBeside,
    Kind,
    Negative,
    OrPlan,
    Quantity,
    Signed,
    Text,
    Thousandths,
)

NAMES = {"node": "node1", "port": "node1 -> node2", "stream": "s"}
"""Examples of the objects that a text names."""


def shapes(kind: Kind) -> list[Kind]:
    """The shapes that a value may have; an alternative without further alternatives."""
    if isinstance(kind, Alike):
        return [kind.record]
    if isinstance(kind, OrPlan):
        return [kind.quantity, Choice({kind.word: None}, "a word")]
    if isinstance(kind, Either):
        inner = (one for one in (kind.text, kind.listing, kind.mapping) if one is not None)
        return [shape for one in inner for shape in shapes(one)]
    return [kind]


def type_of(kind: Kind) -> str:
    """The type of a value in words: ``duration``, ``list of names of nodes``, ``size or mapping``."""
    return " or ".join(_once(map(_type, shapes(kind))))


def _type(kind: Kind) -> str:
    if isinstance(kind, Average):
        return kind.dimension.name
    if isinstance(kind, Count | Thousandths):
        return "whole number" if isinstance(kind, Count) else "number"
    if isinstance(kind, Choice):
        return "yes or no" if kind.words.keys() == YES_NO.words.keys() else "word"
    if isinstance(kind, FileBeside):
        return "file name"
    if isinstance(kind, Text) and kind.number:
        return "number"
    if isinstance(kind, Text):
        return f"name of a {kind.of}" if kind.of else "name" if kind.named else "text"
    if isinstance(kind, ListOf):
        return f"list ({type_of(kind.item)})"
    return "mapping"


def unit_of(kind: Kind) -> str:
    """The units of a quantity; ``none`` for other values."""
    leaves = (one for shape in shapes(kind) for one in _leaves(shape))
    return "; ".join(_once(one.dimension.spellings for one in leaves if isinstance(one, Average))) or "none"


def _leaves(kind: Kind) -> list[Kind]:
    """A value, or the values of a list or of a mapping whose keys the writer chooses."""
    if isinstance(kind, ListOf | MapOf):
        inner = kind.item if isinstance(kind, ListOf) else kind.value
        return [leaf for shape in shapes(inner) for leaf in _leaves(shape)]
    return [kind]


def range_of(kind: Kind) -> str:
    """The permitted values: ``1 ns to 240 h``, ``true, false``, ``keys: rate, burst``."""
    return "; or ".join(_once(map(_range, shapes(kind))))


def _each(kind: Kind) -> str:
    """The permitted values within a list or a mapping."""
    inner = ("a mapping" if isinstance(shape, Record) else _range(shape) for shape in shapes(kind))
    return " or ".join(_once(inner))


def _range(kind: Kind) -> str:
    if isinstance(kind, Quantity | Negative | Signed):
        return _span(kind)
    if isinstance(kind, Count):
        return f"{kind.least} to {kind.most}"
    if isinstance(kind, Thousandths):
        return f"{kind.least / 1000:g} to {kind.most / 1000:g}"
    if isinstance(kind, Average):
        return f"at least 0 {kind.dimension.base}"
    if isinstance(kind, Choice):
        return ", ".join(kind.words)
    if isinstance(kind, FileBeside):
        return f"ends in {', '.join(kind.endings)}"
    if isinstance(kind, ListOf):
        return f"{kind.least} to {kind.most} items, each: {_each(kind.item)}"
    if isinstance(kind, MapOf):
        return f"each key is {kind.key_what}, each value: {_each(kind.value)}"
    if isinstance(kind, Record):
        return f"keys: {', '.join([*kind.fields, *(one.example for one in kind.patterns)])}"
    return kind.expected


def _span(kind: Quantity | Negative | Signed) -> str:
    text = kind.dimension.text
    if isinstance(kind, Signed):
        return f"-{text(kind.most)} to {text(kind.most)}"
    if isinstance(kind, Negative):
        return f"-{text(kind.most)} to {text(0) if kind.zero else '-' + text(1)}"
    return (
        f"at least {text(kind.least)}" if kind.most == 1 << 62 else f"{text(kind.least)} to {text(kind.most)}"
    )


def example_of(kind: Kind) -> str:
    """A value of this kind as it is written; the shortest shape where there are several."""
    shape = shapes(kind)[0]
    if isinstance(shape, Negative):
        return f"-{shape.dimension.text(min(shape.most, _usual(shape)))}"
    if isinstance(shape, Quantity):
        return shape.dimension.text(max(shape.least, min(shape.most, _usual(shape))))
    if isinstance(shape, Average):
        return f"250 {shape.dimension.usual}"
    if isinstance(shape, Count):
        return str(min(shape.most, max(shape.least, 2)))
    if isinstance(shape, Thousandths):
        return f"{shape.most / 1000:g}"
    if isinstance(shape, Choice):
        return "true" if "true" in shape.words else list(shape.words)[-1]
    if isinstance(shape, FileBeside):
        return f"file{shape.endings[0]}"
    if isinstance(shape, Text):
        said = re.search(r"such as ([^ ,]+(?: -[->] [^ ,]+)?)", shape.what)
        return said[1] if said else NAMES.get(shape.of, "name")
    if isinstance(shape, ListOf):
        one = example_of(shape.item)
        return one if one.startswith("[{") else f"[{', '.join([one] * max(1, shape.least))}]"
    if isinstance(shape, MapOf):
        return f"{{{example_of_key(shape)}: {example_of(shape.value)}}}"
    assert isinstance(shape, Record)
    if shape.example:
        return shape.example.partition(", or ")[0]
    needed = {name: one.example for name, one in shape.fields.items() if one.example}
    first = next(iter(shape.fields))
    needed = needed or {first: shape.fields[first].sample or example_of(shape.fields[first].kind)}
    return f"{{{', '.join(f'{name}: {value}' for name, value in needed.items())}}}"


def example_of_key(kind: MapOf) -> str:
    """A key of a mapping whose keys the writer chooses."""
    return next(word for word in ("node1 -> node2", "s", "A", "6") if kind.key.fullmatch(word))


def _usual(kind: Average) -> int:
    usual = (getattr(kind, "usual", "") or kind.dimension.usual).split(" or ")[0]
    return int(250 * kind.dimension.units[usual])


def text_of(kind: Kind, value: Any) -> str:
    """A default value as it is written; empty where the default is no value."""
    if value in (None, (), {}, ""):
        return ""
    for shape in shapes(kind):
        if isinstance(shape, Choice):
            found = [word for word, meaning in shape.words.items() if meaning == value]
            if found:
                return found[0]
        elif isinstance(shape, Average) and isinstance(value, int):
            return shape.dimension.text(value)
        elif isinstance(shape, Thousandths):
            return f"{value / 1000:g}"
        elif isinstance(shape, Count | Text) and isinstance(value, int | str):
            return str(value)
        elif isinstance(shape, ListOf) and isinstance(value, tuple):
            return f"[{', '.join(text_of(shape.item, one) for one in value)}]"
    return ""


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
