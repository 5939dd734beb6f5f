"""The file of a study: which scenario, what is varied, how often each run is repeated.

It is read like a scenario: all mistakes at once, each with its place and a hint.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.scenario.kinds.combinators import Field, Fields, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import Schema, Text
from tsnbench.scenario.text import source
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading
from tsnbench.scenario.text.source import Mapping, Place, Sequence, Value
from tsnbench.scenario.text.sweep import SweepError, axis_of
from tsnbench.scenario.units import DRIFT, DURATION, LENGTH, RATE, SHARE, SIZE, UnitError

MOST_REPETITIONS = 100_000
SUBJECT = source.Subject("a study", "study: window-width", "a star varies many values at once")
_DIMENSIONS = (DURATION, RATE, SIZE, LENGTH, SHARE, DRIFT)


@dataclass(frozen=True)
class Listed:
    """Values that are tried one after the other."""

    path: str
    place: Place
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """A value that every repetition draws anew: one of ``least``, ``least + step``, … up to ``most``."""

    path: str
    place: Place
    least: int
    most: int
    step: int
    unit: str

    def draw(self, own_path: str, seed: int) -> str:
        """The value for one path and one seed: no other path's draw depends on it."""
        octets = hashlib.sha256(f"{seed}/{own_path}".encode()).digest()[:8]
        count = (self.most - self.least) // self.step + 1
        return f"{self.least + self.step * (int.from_bytes(octets) * count >> 64)} {self.unit}".strip()


@dataclass(frozen=True)
class Study:
    """A study as its file says it."""

    name: str
    file: Path
    scenario: Path
    scenario_place: Place
    vary: tuple[Listed | Drawn, ...]
    repeat: int


class _Variation:
    """What a path is varied over: a list of values, or a distribution."""

    expected = "a list of values, or a distribution"

    def read(self, reading: Reading, value: Value, path: str) -> Listed | Drawn | Bad:
        own = path.removeprefix("vary.")
        if isinstance(value, Sequence):
            try:
                return Listed(own, value.place, axis_of(path, value).texts)
            except SweepError as error:
                return reading.problem(error.place, path, error.expected, error.found, error.hint)
        if isinstance(value, Mapping):
            fields = _UNIFORM.read(reading, value, path)
            return BAD if isinstance(fields, Bad) or fields.bad else _drawn(reading, fields, own)
        text = Text("a value").read(reading, value, path)
        return BAD if isinstance(text, Bad) else Listed(own, value.place, (str(text),))

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "array", "minItems": 1}, _UNIFORM.schema(), {"type": "string"}]}


_UNIFORM = Record(
    "a distribution",
    {
        "uniform": Field(
            ListOf(Text("a value", swept=False), "the least and the greatest value", 2, 2),
            "the least and the greatest value, all equally probable",
            "[0 us, 500 us]",
        ),
        "step": Field(Text("a value", swept=False), "the grid of the values", "1 us"),
    },
    example="{uniform: [0 us, 500 us], step: 1 us}",
)
_STUDY = Record(
    "a study",
    {
        "study": Field(Text("a name", named=True, swept=False), "the name", "window-width"),
        "scenario": Field(Text("a file", swept=False), "the scenario's file, beside this one", "gates.yaml"),
        "vary": Field(
            MapOf("paths of the scenario", _Variation(), re.compile(r".+"), "a path of the scenario"),
            "what is varied, by the path that messages name",
        ),
        "repeat": Field(
            Text("a number of repetitions", swept=False), "how many seeds each run has; 1 unless given"
        ),
    },
)


def read(path: Path) -> Study:
    """Reads the file of a study.

    Raises:
        ScenarioErrors: every mistake of the file at once.
    """
    return of_text(source.read_file(path, SUBJECT), path)


def of_text(text: str, path: Path) -> Study:
    """Reads the text of a study, as :func:`read` reads a file."""
    reading = Reading(str(path), {})
    tree = source.parse(text, str(path), SUBJECT)
    top = _STUDY.read(reading, tree, "")
    repeat = _repeat(reading, top) if not isinstance(top, Bad) else BAD
    vary = top.get("vary", {}) if not isinstance(top, Bad) else {}
    if reading.problems or isinstance(top, Bad) or isinstance(repeat, Bad):
        raise ScenarioErrors(reading.problems)
    scenario: Named = top["scenario"]
    return Study(
        name=str(top["study"]),
        file=path,
        scenario=path.parent / str(scenario),
        scenario_place=scenario.place,
        vary=tuple(vary.values()),
        repeat=repeat,
    )


def _repeat(reading: Reading, top: Fields) -> int | Bad:
    if "repeat" not in top:
        return 1
    text: Named = top["repeat"]
    if text.isascii() and text.isdecimal() and len(text) < 8 and 1 <= int(text) <= MOST_REPETITIONS:
        return int(text)
    return reading.problem(
        text.place, "repeat", f"a whole number from 1 to {MOST_REPETITIONS}", text, "write repeat: 10"
    )


def _drawn(reading: Reading, fields: Fields, path: str) -> Drawn | Bad:
    least, most = fields["uniform"]
    step: Named = fields["step"]
    numbers = _same_kind([str(least), str(most), str(step)])
    if numbers is None:
        hint = "write {uniform: [0 us, 500 us], step: 1 us}"
        return reading.problem(
            step.place, step.path, "three values of one kind", f"{least}, {most}, {step}", hint
        )
    low, high, grid, unit = numbers
    if grid < 1 or low > high or (high - low) % grid:
        expected = f"a step that leads from {least} to {most}"
        return reading.problem(step.place, step.path, expected, str(step))
    return Drawn(path, fields.place, low, high, grid, unit)


def _same_kind(texts: list[str]) -> tuple[int, int, int, str] | None:
    """Three values in one base unit, and its name; whole numbers have none."""
    if all(text.isascii() and text.isdecimal() and len(text) < 18 for text in texts):
        return int(texts[0]), int(texts[1]), int(texts[2]), ""
    for dimension in _DIMENSIONS:
        try:
            first, second, third = (dimension.parse(text) for text in texts)
        except UnitError:
            continue
        return first, second, third, dimension.base
    return None


__all__ = ["Drawn", "Listed", "Study", "of_text", "read"]
