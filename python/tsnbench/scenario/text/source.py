"""YAML text -> a tree in which everything knows its place; no value is interpreted here.

YAML 1.2. Scalars stay text (``1:30`` and ``on`` are what they look like); the grammar says what each means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench import foreign
from tsnbench.scenario.errors import Problem, ScenarioErrors

LARGEST_FILE = 1 << 20
"""Octets; the largest scenario shipped has some thousand."""
DEEPEST = 24
"""Levels of nesting; the grammar has less than ten."""
MOST_VALUES = 200_000
"""Values, with every alias counted as often as it is used."""

_PARAMETER = re.compile(r"\$\{([^{}\n]*)\}")
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand-ins for the braces of ``${…}``, which would end a plain scalar inside ``{…}``; of the same width."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text; ``plain``: written without quotes."""

    place: Place
    text: str
    plain: bool = True

    @property
    def weight(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Sequence:
    place: Place
    items: tuple[Value, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Entries in the order of the file; keys are unique."""

    place: Place
    entries: tuple[tuple[Scalar, Value], ...]
    weight: int

    def get(self, key: str) -> Value | None:
        return next((value for name, value in self.entries if name.text == key), None)


Value = Scalar | Sequence | Mapping


def describe(value: Value | None) -> str:
    """What was found, in few words and without control characters."""
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
    safe = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return safe if len(safe) <= most else safe[: most - 3] + "..."


@dataclass(frozen=True, slots=True)
class Subject:
    """The kind of file that messages are about."""

    name: str
    start: str
    """How such a file can begin."""
    smaller: str = ""
    """How a file says the same in fewer octets."""


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


def failure(
    file: str, expected: str, found: str, hint: str = "", place: Place = Place(1, 1)
) -> ScenarioErrors:
    """One mistake that ends reading."""
    return ScenarioErrors([Problem(file, place.line, place.column, "", expected, found, hint)])


def parse(text: str, file: str, subject: Subject = SCENARIO) -> Mapping:
    """The tree of a YAML text, whose top is a mapping.

    Raises :class:`ScenarioErrors` with the first mistake of spelling, or with every key that is given twice.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if not text.strip():
        raise failure(file, subject.name, "an empty file", f"start with: {subject.start}")
    marked = _PARAMETER.sub(lambda found: f"${_OPEN}{found[1]}{_CLOSE}", text)
    builder = _Builder(file)
    try:
        for event in YAML(typ="safe", pure=True).parse(marked):
            builder.take(event)
    except YAMLError as error:
        raise _spelling(file, marked, error) from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, ScenarioErrors):
            raise
        # ruamel decodes some escapes with chr() and does not look whether such a character exists.
        raise failure(file, "YAML", f"text that YAML cannot hold ({shown(str(error))})") from None
    if builder.problems:
        raise ScenarioErrors(builder.problems)
    top = builder.top
    if not isinstance(top, Mapping):
        place = top.place if top else Place(1, 1)
        hint = f"start with: {subject.start}"
        raise failure(file, "a mapping of keys to values", describe(top), hint, place)
    return top


class _Builder:
    """Events -> tree, without recursion, so that no depth of nesting can hurt."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.top: Value | None = None
        self.documents = 0
        self.problems: list[Problem] = []
        self.anchors: dict[str, Value] = {}
        self.open: list[tuple[Any, list[Value]]] = []

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        if getattr(event, "tag", None) is not None:
            hint = "leave the tag out; the key decides the type of the value"
            tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
            raise failure(self.file, "a value without a tag", f"the tag {shown(tag)}", hint, place)
        if kind == "DocumentStartEvent":
            self.documents += 1
            if self.documents > 1:
                hint = "a file has one document: put the second one into a file of its own"
                raise failure(self.file, "one document", "a second one after ---", hint, place)
        elif kind == "ScalarEvent":
            text = event.value.replace(_OPEN, "{").replace(_CLOSE, "}")
            if any("\ud800" <= letter <= "\udfff" for letter in text):
                raise failure(self.file, "a character", "half of a surrogate pair", place=place)
            self.add(Scalar(place, text, event.style is None), event)
        elif kind == "AliasEvent":
            value = self.anchors.get(event.anchor)
            if value is None:
                hint = "an alias follows its anchor: &name on the value, then *name"
                raise failure(self.file, "the name of an anchor", f"*{shown(event.anchor)}", hint, place)
            self.add(value, None)
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            if len(self.open) >= DEEPEST:
                raise failure(self.file, f"at most {DEEPEST} levels of nesting", "more", place=place)
            self.open.append((event, []))
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            start, values = self.open.pop()
            begin = Place(start.start_mark.line + 1, start.start_mark.column + 1)
            weight = 1 + sum(value.weight for value in values)
            if weight > MOST_VALUES:
                raise failure(self.file, f"at most {MOST_VALUES} values", "more", place=begin)
            if kind == "SequenceEndEvent":
                self.add(Sequence(begin, tuple(values), weight), start)
            else:
                self.add(Mapping(begin, self.entries(values), weight), start)

    def add(self, value: Value, event: Any) -> None:
        if event is not None and event.anchor is not None:
            self.anchors[event.anchor] = value
        if self.open:
            self.open[-1][1].append(value)
        else:
            self.top = value

    def entries(self, values: list[Value]) -> tuple[tuple[Scalar, Value], ...]:
        seen: dict[str, Scalar] = {}
        entries: list[tuple[Scalar, Value]] = []
        for key, value in zip(values[::2], values[1::2], strict=True):
            if entries and _behind_a_comma(entries[-1][1], key, value):
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
    """Whether a key is what follows the comma of a number: ``{period: 0,5 ms}``."""
    return (
        isinstance(before, Scalar)
        and before.plain
        and re.fullmatch(r"-?[0-9]+", before.text) is not None
        and isinstance(key, Scalar)
        and re.fullmatch(r"[0-9]+( ?[^0-9\s]+)?", key.text) is not None
        and value == Scalar(value.place, "")
        and key.place == Place(before.place.line, before.place.column + len(before.text) + 1)
    )


def _text(value: Value) -> str:
    return value.text if isinstance(value, Scalar) else ""


def _spelling(file: str, text: str, error: Any) -> ScenarioErrors:
    """A YAML library's complaint in a beginner's words."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", "") or "")
    context = str(getattr(error, "context", "") or "")
    place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
    if mark is None:  # the reader: a character that YAML forbids
        position = getattr(error, "position", 0)
        place = Place(text.count("\n", 0, position) + 1, position - (text.rfind("\n", 0, position) + 1) + 1)
        found = (
            f"the character U+{ord(text[position]):04X}" if position < len(text) else "a control character"
        )
        return failure(file, "a character that YAML allows", found, "is this a text file?", place)
    if "'\\t'" in problem:
        return failure(file, "spaces", "a tab", "YAML is indented with spaces only", place)
    if "alias" in context:
        place = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        hint = 'write all for *, or put quotes around it: "* -> node1"'
        return failure(file, "a value", "a bare *", hint, place)
    if "mapping values are not allowed" in problem:
        hint = "put quotes around a text with a colon, or check the indentation of this line"
        return failure(file, "one key and its value", "a second colon", hint, place)
    if "expected ',' or" in problem:
        wanted, got = ("]", "list [") if "sequence" in context else ("}", "mapping {")
        opened = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        hint = f"the {got} opened in line {opened.line}, column {opened.column} is not closed before this"
        if " #" in "".join(text.splitlines(True)[opened.line - 1 : place.line]):
            hint += "; a # after a space begins a comment: write dut#2"
        return failure(file, f", or {wanted}", _token(problem), hint, place)
    if "expected <block end>" in problem:
        hint = "keys of one level start in the same column; check the quotes and the indentation here"
        return failure(file, "the same indentation as above", _token(problem), hint, place)
    if "could not find expected ':'" in problem:
        place = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        hint = "write key: value, with a space after the colon"
        return failure(file, "a colon after a key", "none", hint, place)
    if "quoted scalar" in context and "end of stream" in problem:
        place = Place(error.context_mark.line + 1, error.context_mark.column + 1)
        return failure(file, "a closing quote", "the end of the file", "close the quote", place)
    return failure(file, "YAML", shown(f"{problem or error}"), place=place)


def _token(problem: str) -> str:
    got = re.search(r"(?:got|found) '?<?([^'>]*)", problem)
    words = {
        "stream end": "the end of the file",
        "block mapping start": "a key of another level",
        "block sequence start": "a list of another level",
        "scalar": "a text",
        "block end": "the end of the block",
    }
    return words.get(got[1], shown(got[1])) if got else "something else"
