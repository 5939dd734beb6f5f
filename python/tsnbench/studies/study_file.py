"""The file of a study: the scenario, the varied values, and the number of repetitions.

It is read like a scenario: all mistakes at once, each with its place and a hint.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from tsnbench import steps
from tsnbench.quantities import quantity, some
from tsnbench.scenario.errors import ScenarioErrors, failure
from tsnbench.scenario.kinds.combinators import Field, Fields, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import Quantity, Text
from tsnbench.scenario.text import source
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading
from tsnbench.scenario.text.sweep import SweepError, axis_of
from tsnbench.scenario.text.tree import Mapping, Sequence, Value
from tsnbench.scenario.units import DRIFT, DURATION, SHARE, Schema, UnitError
from tsnbench.studies.estimates.warm_up import AUTO
from tsnbench.studies.exploring.numbers import DIMENSIONS
from tsnbench.studies.exploring.questions import (
    QUANTITIES,
    SEARCH,
    SENSITIVITY,
    Search,
    Sensitivity,
    search_of,
    sensitivity_of,
)
from tsnbench.studies.statistics import LEAST, StoppingRule

MOST_REPETITIONS = 100_000
KEPT = 3
"""Run folders that ``keep: worst`` keeps."""
WORDS = {name: QUANTITIES[name] for name in ("mean", "median", "p99", "p99.9")}
"""Quantities that have an interval, as a study names them, and as its tables do."""
_WIDTH = re.compile(rf"({'|'.join(map(re.escape, WORDS))}) of (\S+)")
SUBJECT = source.Subject("a study", "study: window-width", "a star varies many values at once")


@dataclass(frozen=True)
class Listed:
    """Values that are tried one after the other."""

    path: str
    place: Place
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Uniform:
    """``least``, ``least + step``, … up to ``most``, all equally probable, in a base unit."""

    least: int
    most: int
    step: int
    unit: str

    def at(self, share: int) -> str:
        """The value at a share of 2^64."""
        count = (self.most - self.least) // self.step + 1
        return f"{self.least + self.step * (share * count >> 64)} {self.unit}".strip()

    def __str__(self) -> str:
        least, most = (quantity(one, self.unit).strip() for one in (self.least, self.most))
        return f"uniform from {least} to {most}"


@dataclass(frozen=True)
class Normal:
    """A normal distribution on a grid, in a base unit; draws beyond an end are that end."""

    mean: int
    deviation: int
    step: int
    least: int | None
    most: int | None
    unit: str

    def at(self, share: int) -> str:
        """The value at a share of 2^64."""
        between = min(max((share + 0.5) / 2**64, 2.0**-60), 1 - 2.0**-53)
        drawn = round(NormalDist(self.mean, self.deviation).inv_cdf(between) / self.step) * self.step
        drawn = drawn if self.least is None else max(drawn, self.least)
        drawn = drawn if self.most is None else min(drawn, self.most)
        return f"{drawn} {self.unit}".strip()

    def __str__(self) -> str:
        mean, deviation = (quantity(one, self.unit).strip() for one in (self.mean, self.deviation))
        return f"normal, mean {mean}, deviation {deviation}"


@dataclass(frozen=True)
class Choice:
    """Values that are equally probable."""

    texts: tuple[str, ...]

    def at(self, share: int) -> str:
        """The value at a share of 2^64."""
        return self.texts[share * len(self.texts) >> 64]

    def __str__(self) -> str:
        return f"one of {some(self.texts, 6)}"


@dataclass(frozen=True)
class Drawn:
    """A value that every repetition draws anew."""

    path: str
    place: Place
    distribution: Uniform | Normal | Choice

    def draw(self, own_path: str, seed: int) -> str:
        """The value for one path and one seed: no other path's draw depends on it."""
        octets = hashlib.sha256(f"{seed}/{own_path}".encode()).digest()[:8]
        return self.distribution.at(int.from_bytes(octets))


@dataclass(frozen=True)
class Width:
    """The required width of the interval of one quantity."""

    quantity: str
    stream: str
    relative: float
    """Greatest half width, relative to the estimate."""


@dataclass(frozen=True)
class Until:
    """Repetitions are added until all intervals are narrow."""

    least: int
    batch: int
    most: int
    widths: tuple[Width, ...]

    @property
    def rule(self) -> StoppingRule:
        return StoppingRule(self.most, self.least, self.batch)

    def looks(self) -> list[int]:
        """The numbers of repetitions at which the rule looks."""
        return [*range(self.least, self.most, self.batch), self.most]


@dataclass(frozen=True)
class Study:
    """The content of a study's file.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.studies.study_file import read
        >>> study = read(Path("study.yaml"))
        >>> [(one.path, one.texts) for one in study.lists], study.repeat
        ([('streams.loop.period', ('250 us', '500 us'))], 10)
    """

    name: str
    file: Path
    scenario: Path
    scenario_place: Place
    vary: tuple[Listed | Drawn, ...]
    repeat: int
    """How many repetitions there are at most."""
    until: Until | None = None
    place_of_repeat: Place | None = None
    keep: int = 0
    """Of how many runs with the greatest delays the run folders are kept."""
    search: Search | None = None
    sensitivity: Sensitivity | None = None
    place_of_goals: Place | None = None
    warm_up: int | str | None = None
    """The begin of each run that does not count, in ns, or ``auto``."""
    place_of_warm_up: Place | None = None

    def __repr__(self) -> str:
        return (
            f"Study({self.name!r}, {self.scenario.name!r}, varies {', '.join(one.path for one in self.vary)})"
        )

    def _repr_html_(self) -> str:
        return steps.html("study", self)

    @property
    def lists(self) -> tuple[Listed, ...]:
        """The paths whose values are tried one after the other."""
        return tuple(one for one in self.vary if isinstance(one, Listed))


class _Repetition:
    """A number of repetitions, or the widths that they have to reach."""

    expected = "a number of repetitions, or what they shall reach"

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        if isinstance(value, Mapping):
            fields = _UNTIL.read(reading, value, path)
            return BAD if isinstance(fields, Bad) or fields.bad else _until(reading, fields)
        return _count(reading, Text("a number of repetitions", swept=False).read(reading, value, path), 1)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": ["integer", "string"]}, _UNTIL.schema()]}


_WARM_UP_TEXT = Text("a duration with a unit, or auto", swept=False)


class _WarmUp:
    """The warm-up of each run: a duration, or ``auto``."""

    expected = _WARM_UP_TEXT.expected

    def read(self, reading: Reading, value: Value, path: str) -> int | str | Bad:
        text = _WARM_UP_TEXT.read(reading, value, path)
        if isinstance(text, Bad):
            return text
        try:
            return AUTO if text == AUTO else DURATION.parse(str(text))
        except UnitError as error:
            return reading.problem(value.place, path, self.expected, str(text), error.hint)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": AUTO}, DURATION.schema()]}


class _Variation:
    """The values of a varied path: a list, or a distribution."""

    expected = "a list of values, or a distribution"

    def read(self, reading: Reading, value: Value, path: str) -> Listed | Drawn | Bad:
        own = path.removeprefix("vary.")
        if isinstance(value, Sequence):
            try:
                return Listed(own, value.place, axis_of(path, value).texts)
            except SweepError as error:
                return reading.problem(error.place, path, error.expected, error.found, error.hint)
        if isinstance(value, Mapping):
            fields = _DISTRIBUTION.read(reading, value, path)
            return BAD if isinstance(fields, Bad) or fields.bad else _drawn(reading, fields, own)
        text = Text("a value").read(reading, value, path)
        return BAD if isinstance(text, Bad) else Listed(own, value.place, (str(text),))

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "array", "minItems": 1}, _DISTRIBUTION.schema(), {"type": "string"}]}


_VALUE = Text("a value", swept=False)
_DISTRIBUTION = Record(
    "a distribution",
    {
        "uniform": Field(
            ListOf(_VALUE, "the least and the greatest value", 2, 2),
            "the least and the greatest value, all equally probable",
        ),
        "normal": Field(
            ListOf(_VALUE, "the mean and the standard deviation", 2, 2), "the mean and the standard deviation"
        ),
        "choose": Field(ListOf(_VALUE, "values", 1), "values, all equally probable"),
        "step": Field(_VALUE, "the grid of the values"),
        "least": Field(_VALUE, "of normal: lower draws are this value; 0 by default"),
        "most": Field(_VALUE, "of normal: greater draws are this value"),
    },
    example="{uniform: [0 us, 500 us], step: 1 us}",
)
_NUMBER = Text("a number of repetitions", swept=False)
_UNTIL = Record(
    "repetitions",
    {
        "until": Field(
            MapOf(
                "quantities with the width of their interval",
                Quantity(SHARE, least=1, most=1_000_000),
                _WIDTH,
                "a quantity of a stream",
                f"write mean of video; quantities are {', '.join(WORDS)}, and * is every stream",
            ),
            "the greatest half width of each interval, relative to its estimate",
            "{mean of video: 2 %}",
        ),
        "most": Field(_NUMBER, "how many repetitions there are at most", "200"),
        "least": Field(_NUMBER, "repetitions before the first look; 10 by default"),
        "batch": Field(_NUMBER, "repetitions between two looks; 10 by default"),
    },
    example="{until: {mean of video: 2 %}, most: 200}",
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
            _Repetition(),
            "how many seeds each run has, or how narrow their intervals shall be; 1 by default",
        ),
        "keep": Field(
            Text("worst, or a number of runs", swept=False),
            "how many run folders are kept, of the runs with the greatest delays; worst is 3",
        ),
        "warm-up": Field(_WarmUp(), "the begin of each run that does not count: a duration, or auto"),
        "search": Field(SEARCH, "a search for the best values, in place of all combinations"),
        "sensitivity": Field(SENSITIVITY, "a design that says which values matter"),
    },
)


def read(path: Path) -> Study:
    """Reads the file of a study.

    Raises:
        ScenarioErrors: every mistake of the file at once.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.studies.study_file import read
        >>> read(Path("study.yaml"))
        Study('windows', 'first.yaml', varies streams.loop.period)
    """
    return of_text(source.read_file(path, SUBJECT), path)


def of_text(text: str, path: Path) -> Study:
    """Reads the text of a study, as :func:`read` reads a file."""
    reading = Reading(str(path), {})
    tree = source.parse(text, str(path), SUBJECT)
    if (network := tree.get("network")) is not None and tree.get("scenario") is None:
        hint = f"write a study of it: {{study: many, scenario: {path.name}, repeat: 10}}"
        raise failure(str(path), "a study", "a scenario", hint, network.place)
    top = _STUDY.read(reading, tree, "")
    vary = top.get("vary", {}) if not isinstance(top, Bad) else {}
    keep = _keep(reading, top.get("keep")) if not isinstance(top, Bad) else 0
    search, sensitivity = _explored(reading, top) if not isinstance(top, Bad) else (None, None)
    if reading.problems or isinstance(top, Bad):
        raise ScenarioErrors(reading.problems)
    scenario: Named = top["scenario"]
    repeat: int | Until = top.get("repeat", 1)
    warm_up = top.get("warm-up")
    return Study(
        name=str(top["study"]),
        file=path,
        scenario=path.parent / str(scenario),
        scenario_place=scenario.place,
        vary=tuple(vary.values()),
        repeat=repeat.most if isinstance(repeat, Until) else repeat,
        until=repeat if isinstance(repeat, Until) else None,
        place_of_repeat=top.places.get("repeat"),
        keep=keep,
        search=search,
        sensitivity=sensitivity,
        place_of_goals=top.places.get("search") or top.places.get("sensitivity"),
        warm_up=warm_up or None,
        place_of_warm_up=top.places.get("warm-up"),
    )


def _explored(reading: Reading, top: Fields) -> tuple[Search | None, Sensitivity | None]:
    """The keys ``search`` and ``sensitivity``, which take the place of all combinations."""
    there = [name for name in ("search", "sensitivity") if name in top]
    if not there:
        return None, None
    name = there[0]
    fields: Fields = top[name]
    lists = {one.path: one.texts for one in top.get("vary", {}).values() if isinstance(one, Listed)}
    if len(there) > 1:
        reading.problem(top.at(there[1]), there[1], "search or sensitivity", "both")
    elif not any(len(texts) > 1 for texts in lists.values()):
        reading.problem(fields.place, name, "vary, with a list of values", "none", f"{name} needs lists")
    elif isinstance(top.get("repeat"), Until):
        hint = "all combinations need equally many repetitions"
        reading.problem(top.at("repeat"), "repeat", f"a number beside {name}", "until", hint)
    elif not fields.bad:
        if name == "search":
            return search_of(reading, fields, lists), None
        return None, sensitivity_of(reading, fields)
    return None, None


def _keep(reading: Reading, text: Named | Bad | None) -> int:
    """The number of run folders that are kept."""
    if text is None or isinstance(text, Bad):
        return 0
    if text == "worst":
        return KEPT
    if text.isascii() and text.isdecimal() and len(text) < 4:
        return int(text)
    reading.problem(text.place, text.path, "worst, or a number of runs up to 999", text, "write keep: worst")
    return 0


def _count(reading: Reading, text: Named | Bad, least: int) -> int | Bad:
    """A number of repetitions."""
    if isinstance(text, Bad):
        return BAD
    if text.isascii() and text.isdecimal() and len(text) < 8 and least <= int(text) <= MOST_REPETITIONS:
        return int(text)
    name = text.path.rsplit(".", 1)[-1]
    expected = f"a whole number from {least} to {MOST_REPETITIONS}"
    return reading.problem(text.place, text.path, expected, text, f"write {name}: {max(least, 10)}")


def _until(reading: Reading, fields: Fields) -> Until | Bad:
    widths = []
    for name, share in fields["until"].items():
        if isinstance(share, Bad):
            return BAD
        quantity, stream = str(name).split(" of ", 1)
        widths.append(Width(WORDS[quantity], stream, share / 1_000_000))
    if not widths:
        place = fields.places["until"]
        hint = "write until: {mean of video: 2 %}"
        return reading.problem(place, "repeat.until", "at least one quantity", "none", hint)
    least = _count(reading, fields["least"], LEAST) if "least" in fields else LEAST
    batch = _count(reading, fields["batch"], 1) if "batch" in fields else LEAST
    if isinstance(least, Bad) or isinstance(batch, Bad):
        return BAD
    most = _count(reading, fields["most"], least)
    return BAD if isinstance(most, Bad) else Until(least, batch, most, tuple(widths))


_KINDS = ("uniform", "normal", "choose")
_EXAMPLES = {
    "uniform": "write {uniform: [0 us, 500 us], step: 1 us}",
    "normal": "write {normal: [500 us, 20 us], step: 1 us}",
    "choose": "write {choose: [0 us, 250 us]}",
}


def _drawn(reading: Reading, fields: Fields, path: str) -> Drawn | Bad:
    kinds = [kind for kind in _KINDS if kind in fields]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        hint = _EXAMPLES[kinds[0] if kinds else "uniform"]
        return reading.problem(fields.place, fields.path, f"one of {', '.join(_KINDS)}", found, hint)
    (kind,) = kinds
    allowed = {"uniform": ("step",), "normal": ("step", "least", "most"), "choose": ()}[kind]
    for name in ("step", "least", "most"):
        if name in fields and name not in allowed:
            said = f"no {name} beside {kind}"
            return reading.problem(
                fields.at(name), fields.path_of(name), said, str(fields[name]), _EXAMPLES[kind]
            )
    if kind == "choose":
        return Drawn(path, fields.place, Choice(tuple(map(str, fields["choose"]))))
    if "step" not in fields:
        return reading.problem(
            fields.place, fields.path, "a step, the grid of the values", "none", _EXAMPLES[kind]
        )
    made = _uniform(reading, fields) if kind == "uniform" else _normal(reading, fields)
    return made if isinstance(made, Bad) else Drawn(path, fields.place, made)


def _uniform(reading: Reading, fields: Fields) -> Uniform | Bad:
    least, most = fields["uniform"]
    step: Named = fields["step"]
    numbers = _same_kind([str(least), str(most), str(step)])
    if numbers is None:
        found = f"{least}, {most}, {step}"
        return reading.problem(step.place, step.path, "three values of one kind", found, _EXAMPLES["uniform"])
    (low, high, grid), unit = numbers
    if grid < 1 or low > high or (high - low) % grid:
        expected = f"a step that leads from {least} to {most}"
        return reading.problem(step.place, step.path, expected, str(step))
    return Uniform(low, high, grid, unit)


def _normal(reading: Reading, fields: Fields) -> Normal | Bad:
    mean, deviation = fields["normal"]
    step: Named = fields["step"]
    limits = {name: str(fields[name]) for name in ("least", "most") if name in fields}
    numbers = _same_kind([str(mean), str(deviation), str(step), *limits.values()])
    if numbers is None:
        found = ", ".join([str(mean), str(deviation), str(step), *limits.values()])
        return reading.problem(step.place, step.path, "values of one kind", found, _EXAMPLES["normal"])
    (middle, spread, grid, *more), unit = numbers
    ends = dict(zip(limits, more, strict=True))
    # Of all quantities, only drifts may be negative.
    least = ends.get("least", None if unit == DRIFT.base else 0)
    if grid < 1 or spread < 0:
        return reading.problem(step.place, step.path, "a step above 0 and a deviation from 0", str(step))
    if least is not None and least > ends.get("most", least):
        return reading.problem(
            fields.at("most"), fields.path_of("most"), f"at least {fields['least']}", str(fields["most"])
        )
    return Normal(middle, spread, grid, least, ends.get("most"), unit)


def _same_kind(texts: list[str]) -> tuple[tuple[int, ...], str] | None:
    """Values in one base unit, and its name; whole numbers have none."""
    if all(text.isascii() and text.isdecimal() and len(text) < 18 for text in texts):
        return tuple(map(int, texts)), ""
    for dimension in DIMENSIONS:
        try:
            return tuple(dimension.parse(text) for text in texts), dimension.base
        except UnitError:
            continue
    return None


__all__ = ["Drawn", "Listed", "Study", "Until", "Width", "of_text", "read"]
