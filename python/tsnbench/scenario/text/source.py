"""YAML text -> a tree in which everything has its place; no value is interpreted here.

YAML 1.2. Scalars stay text (``1:30`` and ``on`` are read as they are written); the grammar interprets them.
"""

from __future__ import annotations

import os
import re
from array import array
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tsnbench import _native, foreign
from tsnbench.scenario.errors import Problem, ScenarioErrors

LARGEST_FILE = 1 << 26
"""Octets of a file: about 500,000 streams of one line each."""
LARGEST_SLOW = 1 << 22
"""Characters of a text that the slow parser gets to read: it takes 4 s for each million."""
DEEPEST = 24
"""Levels of nesting; the grammar has less than ten."""
MOST_VALUES = 2_000_000
"""Values, with every alias counted as often as it is used; ``TSNBENCH_MOST_VALUES`` is another limit."""

_PARAMETER = re.compile(r"\$\{([^{}\n]*)\}")
OPEN, CLOSE = "\ue000", "\ue001"
"""Stand-ins for the braces of ``${…}``, which would end a plain scalar inside ``{…}``; of the same width."""


class Place(NamedTuple):
    """The place of a value: line and column, which count from 1."""

    line: int
    column: int


_START = Place(1, 1)
_TABLE = 1 << 32
"""Beyond all lines of a file: rows of the first table beside a scenario count from here, those of the second
from twice as far, and so on."""

ELSEWHERE = 1 << 40
"""Beyond all tables: lines of another file, which its reader converts (``varied.located``)."""


def in_table(row: int, column: int, number: int = 0) -> Place:
    """A place in a table beside a scenario: a row, the header being the first one, and a column.

    ``number``: which table of the scenario it is, from 0.
    """
    return Place(_TABLE * (number + 1) + row, column)


def is_in_table(place: Place) -> bool:
    """Whether a place is in a table beside a scenario."""
    return _TABLE < place.line < ELSEWHERE


def located(file: str, tables: tuple[str, ...], place: Place) -> tuple[str, int, int]:
    """File, line and column of a place in a scenario's file or in one of the tables beside it."""
    if is_in_table(place):
        number, line = divmod(place.line, _TABLE)
        return tables[number - 1], line, place.column
    return file, place.line, place.column


class Scalar(NamedTuple):
    """A text; ``plain``: written without quotes."""

    place: Place
    text: str
    plain: bool = True

    @property
    def weight(self) -> int:
        return 1


class Sequence(NamedTuple):
    place: Place
    items: tuple[Value, ...]
    weight: int


class Mapping(NamedTuple):
    """Entries in the order of the file; keys are unique."""

    place: Place
    entries: tuple[tuple[Scalar, Value], ...]
    weight: int

    def get(self, key: str) -> Value | None:
        return next((value for name, value in self.entries if name.text == key), None)


class Rows(Protocol):
    """Where repeated mappings are written."""

    def entries(self, at: int) -> tuple[tuple[Scalar, Value], ...]:
        """The entries of the mapping that begins at ``at``."""
        ...

    def ends(self, at: int, shape: int) -> list[tuple[str, Scalar]]:
        """Its keys that may differ from those of other mappings of its shape, with their texts."""
        ...


class Repeated(Mapping):
    """A mapping whose texts other mappings have, too, but for its ends (:data:`ENDS`).

    Large scenarios have thousands of them. Its entries are made when they are needed.
    """

    rows: Rows
    at: int
    """Where it begins among the rows."""
    shape: int
    """The number of its texts without its ends; the same for all mappings of its rows that have them."""
    made: tuple[tuple[Scalar, Value], ...] | None = None
    """Its entries, if they were needed."""

    @property
    def entries(self) -> tuple[tuple[Scalar, Value], ...]:
        """The entries in the order of the file."""
        found = self.made
        if found is None:
            found = self.made = self.rows.entries(self.at)
        return found

    def ends(self) -> list[tuple[str, Scalar]]:
        """The keys and texts of its ends."""
        return self.rows.ends(self.at, self.shape)

    def _replace(self, **changed: Any) -> Mapping:  # type: ignore[override]
        """A changed mapping is no longer like the others: it has entries of its own."""
        return Mapping(*self._plain())._replace(**changed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._plain() == (other.place, other.entries, other.weight)

    def __ne__(self, other: object) -> bool:
        # A tuple has a comparison of its own here, which does not know where the entries come from.
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> tuple[Place, tuple[tuple[Scalar, Value], ...], int]:
        return self.place, self.entries, self.weight


def repeated(place: Place, weight: int, rows: Rows, at: int, shape: int) -> Repeated:
    """A repeated mapping."""
    made = tuple.__new__(Repeated, (place, (), weight))
    made.rows, made.at, made.shape = rows, at, shape
    return made


ENDS = ("from", "to")
"""Keys of a stream whose values may differ from those of a stream that is written alike."""
SHARED = ("period", "offset", "frame", "phy", "payload", "pcp", "vlan", "scheduled", "requires")
"""Keys whose values have to be equal. A stream with another key is read alone."""

Value = Scalar | Sequence | Mapping


def describe(value: Value | None) -> str:
    """The found value, in few words and without control characters."""
    if value is None:
        return "nothing"
    if isinstance(value, Sequence):
        return "a list" if value.items else "an empty list"
    if isinstance(value, Mapping):
        return "a mapping" if value.entries else "an empty mapping"
    if not value.text.strip():
        return "nothing" if value.plain else "an empty text"
    return shown(value.text)


def shown(text: str, most: int = 60) -> str:
    """A text for a message: one line, printable, not too long."""
    if len(text) <= most and text.isprintable():
        return text
    safe = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return safe if len(safe) <= most else safe[: most - 3] + "..."


@dataclass(frozen=True, slots=True)
class Subject:
    """The kind of file that messages are about."""

    name: str
    start: str
    """How such a file can begin."""
    smaller: str = ""
    """How a file can be written in fewer octets."""


SCENARIO = Subject(
    "a scenario", "name: my-first-network", "generators, sweeps and count say much in few lines"
)


def read_file(path: Path, subject: Subject = SCENARIO) -> str:
    """The file's text; raises :class:`ScenarioErrors` where it cannot be read as text."""
    name = str(path)
    try:
        raw = foreign.read_bytes(path, LARGEST_FILE)
    except foreign.UnusableFileError as error:
        hint = subject.smaller if error.expected.startswith("at most") else ""
        raise failure(name, error.expected, error.found, hint) from None
    except FileNotFoundError:
        raise failure(name, f"{subject.name} file", "no such file", "check the path") from None
    except IsADirectoryError:
        raise failure(name, f"{subject.name} file", "a folder", "name the .yaml file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "a path that cannot be opened"
        raise failure(name, f"{subject.name} file", str(reason).lower()) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        found = f"the byte 0x{raw[error.start]:02x}"
        raise failure(name, "text in UTF-8", found, "save the file as UTF-8", Place(line, column)) from None


def most_values() -> int:
    """The most values that a text may have."""
    given = os.environ.get("TSNBENCH_MOST_VALUES", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else MOST_VALUES


def too_many(file: str, place: Place) -> ScenarioErrors:
    """The mistake of a text with more values than :func:`most_values`."""
    most = most_values()
    hint = "the environment variable TSNBENCH_MOST_VALUES raises the limit, if memory allows"
    return failure(file, f"at most {most} values", "more", hint, place)


def failure(file: str, expected: str, found: str, hint: str = "", place: Place = _START) -> ScenarioErrors:
    """One mistake that ends reading."""
    return ScenarioErrors([Problem(file, place.line, place.column, "", expected, found, hint)])


def parse(text: str, file: str, subject: Subject = SCENARIO) -> Mapping:
    """The tree of a YAML text, whose top is a mapping.

    Raises :class:`ScenarioErrors` with the first mistake of spelling, or with every key that is given twice.
    """
    if not text.strip():
        raise failure(file, subject.name, "an empty file", f"start with: {subject.start}")
    stood_in = marked(text)
    builder = _native_tree(stood_in, file)
    if builder is None:
        from tsnbench.scenario.text.spelling import slow_tree

        builder = slow_tree(stood_in, file)
    if builder.problems:
        raise ScenarioErrors(builder.problems)
    top = builder.top
    if not isinstance(top, Mapping):
        place = top.place if top else Place(1, 1)
        hint = f"start with: {subject.start}"
        raise failure(file, "a mapping of keys to values", describe(top), hint, place)
    return top


def marked(text: str) -> str:
    """The text with stand-ins for the braces of ``${…}``; every other character keeps its place."""
    return _PARAMETER.sub(lambda found: f"${OPEN}{found[1]}{CLOSE}", text)


def unmarked(text: str) -> str:
    """The text of a scalar, without stand-ins."""
    return text.replace(OPEN, "{").replace(CLOSE, "}")


def events_of(text: str) -> tuple[array[int], list[str]] | None:
    """The native parser's events of a text with stand-ins for braces, five numbers each, and the texts of its
    scalars; None for texts that it refuses."""
    try:
        octets, texts, _ = _native.yaml_events(text, DEEPEST, OPEN, (), ())
    except ValueError:
        return None
    return array("I", octets), texts


def _native_tree(text: str, file: str) -> Builder | None:
    """The tree by the native parser; None for texts that it refuses, most of them with a mistake."""
    try:
        octets, texts, shapes = _native.yaml_events(text.replace("\r\n", "\n"), DEEPEST, OPEN, ENDS, SHARED)
    except ValueError as refusal:
        if len(text) <= LARGEST_SLOW:
            return None
        line, column, found = refusal.args
        expected = f"plain YAML in a file of more than {LARGEST_SLOW >> 20} MiB"
        raise failure(file, expected, shown(found, 200), place=Place(line, column)) from None
    texts = [unmarked(text) for text in texts]
    builder = Builder(file)
    events = array("I", octets)
    builder.take(events, texts, _Written(file, events, texts, shapes))
    return builder


class _Written:
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


PLAIN, QUOTED, SEQUENCE, MAPPING, END, _ALIAS, _REPEATED = range(7)
"""Kinds of events of the native parser."""


class Builder:
    """Builds the tree from a parser's events, without recursion, so that no depth of nesting can hurt."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.top: Value | None = None
        self.problems: list[Problem] = []
        self.anchors: dict[object, Value] = {}
        self.open: list[tuple[Place, bool, object, list[Value]]] = []
        self.most_values = most_values()

    def take(self, events: array[int], texts: list[str], written: _Written) -> None:
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
            elif kind == _REPEATED:
                behind, weight, _ = written.shapes[at]
                opened[-1][3].append(repeated(new(Place, (line, column)), weight, written, anchor, at))
                # Its events are read when they are needed.
                next(islice(numbers, 5 * behind - 1, None))
            elif kind == END:
                self.end()
            elif kind == _ALIAS:
                self.alias(Place(line, column), anchor, "")
            else:
                self.start(Place(line, column), kind == MAPPING, anchor)

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
                self.problem(key.place, "a name before the colon", describe(key))
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
