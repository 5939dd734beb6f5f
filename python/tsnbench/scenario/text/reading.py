"""One pass over a scenario's tree: collects mistakes, chooses from each sweep, replaces parameters."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Map
from pathlib import Path
from typing import Any, Final

from tsnbench.scenario.errors import MOST_SHOWN, Caution, Problem, ScenarioErrors
from tsnbench.scenario.text.builder import most_values, too_many
from tsnbench.scenario.text.fields import Placed
from tsnbench.scenario.text.place import Place, located
from tsnbench.scenario.text.sweep import Axes, Axis, SweepError, substitute
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value, describe, shown

Written = tuple[Any, ...]
"""What is written in a mapping: its keys with their texts."""

MOST_PROBLEMS = 1000
"""Reading stops after so many mistakes; the next run reports further ones."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,63}")


class Bad:
    """The substitute for an unreadable value, whose mistake is already reported."""

    def __repr__(self) -> str:
        return "BAD"


BAD: Final = Bad()


class Named(str):
    """A text with its place."""

    __slots__ = ("of", "path", "place")

    place: Place
    path: str
    of: str
    """``node`` or ``port`` where it is the name of one, else empty."""

    @classmethod
    def at(cls, text: str, place: Place, path: str, of: str = "") -> Named:
        named = cls(text)
        named.place, named.path, named.of = place, path, of
        return named


class Parameters(Map[str, Value]):
    """Each parameter's value in this run; one with several becomes an axis when it is used."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.written: dict[str, Value | Axis] = {}
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        value = self.written[name]
        self.used.add(name)
        return self.reading.take(value) if isinstance(value, Axis) else value

    def __contains__(self, name: object) -> bool:
        return name in self.written

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)


class Reading:
    """The state of one pass.

    ``choices``: for each axis, by its path, which value this run takes. ``made``: what earlier passes made.
    ``tables``: the files of the tables beside the scenario.
    """

    def __init__(
        self,
        file: str,
        choices: Map[str, int],
        made: Axes | None = None,
        tables: tuple[str, ...] = (),
    ) -> None:
        self.file = file
        self.tables = tables
        self.choices = choices
        self.made = made or Axes()
        self.problems: list[Problem] = []
        self.doubts: list[Caution] = []
        self.axes: dict[str, Axis] = {}
        self.parameters = Parameters(self)
        self.broken: set[str] = set()
        """Parameters whose values are a mistake already noted."""
        self.unread: tuple[str, ...] | None = ()
        """Streams that are written, but could not be read; None where no stream is known."""
        self.values = 0
        self.most_values = most_values()
        self.alike: dict[Written, Placed] = {}
        """Streams that others may be read from, by what is written."""

    def unknown_stream(self, name: Named, streams: Iterable[str]) -> None:
        """Reports a name that no stream has; silent if that stream is a mistake already reported."""
        if self.unread is not None and name not in self.unread:
            known = [*streams, *self.unread]
            self.problem(name.place, name.path, "the name of a stream", name, meant(name, known))

    def problem(self, place: Place, path: str, expected: str, found: str, hint: str = "") -> Bad:
        """Notes a mistake; returns :data:`BAD` for the caller to return."""
        words = (shown(text, MOST_SHOWN) for text in (path, expected, found, hint))
        self.problems.append(Problem(*located(self.file, self.tables, place), *words))
        if len(self.problems) >= MOST_PROBLEMS:
            raise ScenarioErrors(self.problems)
        return BAD

    def line_of(self, place: Place) -> str:
        """A place in words: ``line 7``, or ``row 3 of streams.csv``."""
        file, line, _ = located(self.file, self.tables, place)
        return f"line {line}" if file == self.file else f"row {line} of {Path(file).name}"

    def doubt(self, kind: str, place: Place, path: str, text: str, hint: str) -> None:
        """Reports a valid value that is probably not intended."""
        file, line, column = located(self.file, self.tables, place)
        self.doubts.append(Caution(f"{file}:{line}:{column}", kind, path, text, hint))

    def resolve(self, value: Value, path: str) -> Value | Bad:
        """The value, with ``${…}`` replaced if it is a text."""
        self.values += 1
        if self.values > self.most_values:
            raise too_many(self.file, value.place)
        if not isinstance(value, Scalar) or "${" not in value.text:
            return value
        try:
            return substitute(value, self.parameters)
        except SweepError as error:
            if any(re.search(rf"\b{re.escape(name)}\b", value.text) for name in self.broken):
                return BAD
            return self.problem(error.place, path, error.expected, error.found, error.hint)

    def choose(self, values: Sequence, path: str) -> Value | Bad:
        """This run's value from a list that stands where one value is expected."""
        axis = self.axes.get(path)
        if axis is None:
            try:
                axis = self.made.of(path, values)
            except SweepError as error:
                return self.problem(error.place, path, error.expected, error.found, error.hint)
        return self.take(axis)

    def take(self, axis: Axis) -> Value:
        self.axes[axis.path] = axis
        return axis.values[min(self.choices.get(axis.path, 0), len(axis.values) - 1)]

    def plain(self, value: Value) -> str | None:
        """The text of a scalar without parameters, as almost all are; None where :meth:`scalar` decides."""
        if type(value) is not Scalar or "${" in value.text:
            return None
        text = value.text.strip()
        if not text:
            return None
        self.resolve(value, "")
        return text

    def scalar(self, value: Value, path: str, expected: str) -> Scalar | Bad:
        """A text where one is expected; a list makes a sweep."""
        found = self.resolve(value, path)
        if isinstance(found, Sequence):
            chosen = self.choose(found, path)
            found = self.resolve(chosen, path) if not isinstance(chosen, Bad) else BAD
        if isinstance(found, Scalar) and (found.text.strip() or not found.plain):
            return found
        if isinstance(found, Bad):
            return BAD
        name = found.get("name") if isinstance(found, Mapping) else None
        hint = f"write {shown(name.text)}" if isinstance(name, Scalar) else ""
        if isinstance(found, Mapping) and (parts := [part for _, part in found.entries]) and not hint:
            plain = [part.text for part in parts if isinstance(part, Scalar)]
            hint = f"write one value: {shown(' '.join(plain))}" if len(plain) == len(parts) == 2 else ""
        if isinstance(found, Scalar):
            hint = "write a value behind the colon, or leave the key out"
        return self.problem(found.place, path, expected, describe(found), hint)


def meant(word: str, known: Iterable[str]) -> str:
    """A hint for an unknown word: the one that was probably intended, or all possible ones."""
    words = list(known)
    for other in words:
        if word.lower() in (other.lower(), other.lower().replace("/", "-"), other.lower().rpartition("/")[2]):
            return f"did you mean {other}?"
    near = difflib.get_close_matches(word[:80], words, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    if not words:
        return ""
    listed = ", ".join(words[:12])
    return f"known: {listed}{', …' if len(words) > 12 else ''}"
