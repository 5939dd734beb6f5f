"""Builds the tree of a YAML text from a parser's events."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable
from itertools import islice

from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import Mapping, Repeated, Rows, Scalar, Sequence, Value, describe, shown

DEEPEST = 24
"""Levels of nesting; the grammar has less than ten."""
MOST_VALUES = 2_000_000
"""Values, with every alias counted as often as it is used; ``TSNBENCH_MOST_VALUES`` is another limit."""

PLAIN, QUOTED, SEQUENCE, MAPPING, END, ALIAS, REPEATED = range(7)
"""Kinds of a parser's events; only the native parser has repeated mappings."""


def most_values() -> int:
    """The most values that a text may have."""
    given = os.environ.get("TSNBENCH_MOST_VALUES", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else MOST_VALUES


def too_many(file: str, place: Place) -> ScenarioErrors:
    """The mistake of a text with more values than :func:`most_values`."""
    most = most_values()
    hint = "the environment variable TSNBENCH_MOST_VALUES raises the limit, if memory allows"
    return failure(file, f"at most {most} values", "more", hint, place)


def repeated(place: Place, weight: int, rows: Rows, at: int, shape: int) -> Repeated:
    """A repeated mapping."""
    made = tuple.__new__(Repeated, (place, (), weight))
    made.rows, made.at, made.shape = rows, at, shape
    return made


class Builder:
    """Builds the tree from a parser's events, without recursion, so that nesting of any depth is possible."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.top: Value | None = None
        self.problems: list[Problem] = []
        self.anchors: dict[object, Value] = {}
        self.open: list[tuple[Place, bool, object, list[Value]]] = []
        self.most_values = most_values()

    def take(self, events: array[int], texts: list[str], written: Written) -> None:
        """Adds the events of the native parser."""
        numbers = iter(events)
        opened = self.open
        # The direct constructor of the classes, which saves a function call.
        new = tuple.__new__
        # Each event has five numbers in the array: its fields.
        for kind, line, column, anchor, at in zip(*[numbers] * 5, strict=True):
            if kind <= QUOTED:
                scalar = new(Scalar, (new(Place, (line, column)), texts[at], kind == PLAIN))
                if opened and not anchor:
                    # The same steps as in `add`, inlined for nine of ten events.
                    opened[-1][3].append(scalar)
                else:
                    self.add(scalar, anchor)
            elif kind == REPEATED:
                behind, weight, _ = written.shapes[at]
                opened[-1][3].append(repeated(new(Place, (line, column)), weight, written, anchor, at))
                # Its events are read when they are needed.
                next(islice(numbers, 5 * behind - 1, None))
            elif kind == END:
                self.end()
            elif kind == ALIAS:
                self.alias(Place(line, column), anchor, "")
            else:
                self.start(Place(line, column), kind == MAPPING, anchor)

    def follow(self, events: Iterable[tuple[int, Place, object, str]]) -> None:
        """Adds the events of the slow parser: kind, place, anchor and text of each."""
        for kind, place, anchor, text in events:
            if kind <= QUOTED:
                self.add(Scalar(place, text, kind == PLAIN), anchor)
            elif kind == ALIAS:
                self.alias(place, anchor, text)
            elif kind == END:
                self.end()
            else:
                self.start(place, kind == MAPPING, anchor)

    def alias(self, place: Place, anchor: object, name: str) -> None:
        """The value of an anchor once more."""
        value = self.anchors.get(anchor)
        if value is None:
            hint = "an alias follows its anchor: &name on the value, then *name"
            raise failure(self.file, "the name of an anchor", f"*{shown(name)}", hint, place)
        self.add(value, None)

    def start(self, place: Place, mapping: bool, anchor: object) -> None:
        """Begins a mapping or a sequence."""
        if len(self.open) >= DEEPEST:
            raise failure(self.file, f"at most {DEEPEST} levels of nesting", "more", place=place)
        self.open.append((place, mapping, anchor, []))

    def end(self) -> None:
        """Ends the mapping or sequence that was begun last."""
        place, mapping, anchor, values = self.open.pop()
        weight = 1 + sum([1 if type(value) is Scalar else value.weight for value in values])
        if weight > self.most_values:
            raise too_many(self.file, place)
        if mapping:
            self.add(Mapping(place, self.entries(values), weight), anchor)
        else:
            self.add(Sequence(place, tuple(values), weight), anchor)

    def add(self, value: Value, anchor: object) -> None:
        """Adds a value to the open mapping or list, or makes it the top value."""
        if anchor:
            self.anchors[anchor] = value
        if self.open:
            self.open[-1][3].append(value)
        else:
            self.top = value

    def entries(self, values: list[Value]) -> tuple[tuple[Scalar, Value], ...]:
        keys, contents = values[::2], values[1::2]
        texts = {key.text for key in keys if type(key) is Scalar}
        # The usual mapping: no key occurs twice, and no value is empty. (value[1] is the content of a value.)
        if len(texts) == len(keys) and "<<" not in texts and "" not in [value[1] for value in contents]:
            return tuple(zip(keys, contents, strict=True))  # type: ignore[arg-type]
        seen: dict[str, Scalar] = {}
        entries: list[tuple[Scalar, Value]] = []
        for key, value in zip(keys, contents, strict=True):
            empty = isinstance(value, Scalar) and not value.text
            if entries and empty and _behind_a_comma(entries[-1][1], key, value):
                name, whole = entries.pop()
                whole = Scalar(whole.place, f"{_text(whole)},{_text(key)}")
                entries.append((name, whole))
                continue
            if not isinstance(key, Scalar):
                inner = key.entries[0][0] if isinstance(key, Mapping) and len(key.entries) == 1 else None
                hint = "write a key and a colon before it"
                if isinstance(inner, Scalar):
                    hint += f", or ${{{inner.text}}} for a parameter"
                self.problem(key.place, "a name before the colon", describe(key), hint)
            elif key.text == "<<":
                hint = "YAML 1.2 has no merge keys; repeat the keys, or use a catalogue pattern"
                self.problem(key.place, "a name before the colon", "<<", hint)
            elif key.text in seen:
                first = seen[key.text].place
                hint = f"{shown(key.text)} is already in line {first.line}; keep one of the two"
                self.problem(key.place, "each key once", f"{shown(key.text)} again", hint)
            else:
                seen[key.text] = key
                entries.append((key, value))
        return tuple(entries)

    def problem(self, place: Place, expected: str, found: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, place.line, place.column, "", expected, found, hint))


def _behind_a_comma(before: Value, key: Value, value: Value) -> bool:
    """Whether a key is the part after the decimal comma of a number: ``{period: 0,5 ms}``."""
    return (
        value == Scalar(value.place, "")
        and isinstance(before, Scalar)
        and before.plain
        and re.fullmatch(r"-?[0-9]+", before.text) is not None
        and isinstance(key, Scalar)
        and re.fullmatch(r"[0-9]+( ?[^0-9\s]+)?", key.text) is not None
        and key.place == Place(before.place.line, before.place.column + len(before.text) + 1)
    )


def _text(value: Value) -> str:
    return value.text if isinstance(value, Scalar) else ""


class Written:
    """The repeated mappings of a YAML text, by the numbers of its events.

    Args:
        file: the text's file.
        events: five numbers each.
        texts: to which events refer.
        shapes: of the mappings of one shape the number of events, the weight, and the places of the keys
            that may differ.
    """

    def __init__(
        self, file: str, events: array[int], texts: list[str], shapes: list[tuple[int, int, list[int]]]
    ) -> None:
        self.file = file
        self.events = events
        self.texts = texts
        self.shapes = shapes

    def entries(self, at: int) -> tuple[tuple[Scalar, Value], ...]:
        events = self.events
        behind, _, _ = self.shapes[events[5 * at + 4]]
        own = events[5 * at : 5 * (at + behind + 1)]
        own[0] = MAPPING
        own[3] = 0
        builder = Builder(self.file)
        builder.take(own, self.texts, self)
        assert isinstance(builder.top, Mapping)
        return builder.top.entries

    def ends(self, at: int, shape: int) -> list[tuple[str, Scalar]]:
        events, texts = self.events, self.texts
        found = []
        for key in self.shapes[shape][2]:
            name = 5 * (at + key)
            kind, line, column, _, text = events[name + 5 : name + 10]
            found.append((texts[events[name + 4]], Scalar(Place(line, column), texts[text], kind == PLAIN)))
        return found
