"""The results of a study, ready to be drawn: its axes, and the estimates of every combination of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

MOST_STREAMS = 6
"""Streams that a figure draws; all are in the tables."""
MOST_LINES = 6
"""Values of the second axis that are drawn as lines."""


@dataclass(frozen=True)
class StudyAxis:
    """One parameter with its values in the order of the study; ``at`` are their positions on paper."""

    name: str
    values: tuple[str, ...]
    at: tuple[float, ...]
    numeric: bool
    """Whether there are values between two positions, so that a line may connect them."""


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval; without an interval, ``low`` and ``high`` are None."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class EndFacts:
    """One stream at one listener in one combination, over all its repetitions. Delays in ns."""

    mean: Estimate | None
    p99: Estimate | None
    greatest: float | None
    """The greatest delay of all repetitions."""
    lost: int


@dataclass(frozen=True)
class Combination:
    """One combination of values: a value of each axis, in the order of the axes."""

    values: tuple[str, ...]
    runs: int
    met: int
    share: Estimate | None
    """The share of runs that met all requirements; None if no run is made."""
    ends: Mapping[str, EndFacts]


@dataclass(frozen=True)
class Tried:
    """One combination that a search tried, by two of its goals."""

    x: float
    y: float
    best: bool
    """Whether no other allowed combination is as good in all goals and better in one."""
    words: str


@dataclass(frozen=True)
class Answers:
    """The answer of a search or of a sensitivity analysis: a table, and the combinations of two goals."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    captions: Sequence[str] = ()
    goals: tuple[str, str] = ("", "")
    """The first two goals with their units."""
    tried: Sequence[Tried] = ()
    """Combinations that may be drawn; empty with one goal."""


@dataclass(frozen=True)
class Compared:
    """One number or statement that a paper prints, and ours beside it, in words."""

    what: str
    where: str
    """Figure, table or section of the paper."""
    printed: str
    ours: str
    interval: str
    """The 95 % confidence interval of ours over repetitions; empty without one."""
    verdict: str
    why: str
    """The reason of a difference."""


@dataclass(frozen=True)
class PrintedPoint:
    """One place of a curve: our value, and the number that the paper prints there."""

    values: tuple[str, ...]
    """A value of each axis of the study."""
    ours: Estimate
    printed: tuple[float, float] | None
    """From least to most, which are equal unless the paper prints a range; None without a number."""


@dataclass(frozen=True)
class PrintedCurve:
    """One quantity of a stream of which a paper prints numbers. Times in ns."""

    stream: str
    quantity: str
    """In words, such as ``delay mean``."""
    unit: str
    """The unit that the paper prints; empty for a number without one."""
    scale: float
    """One such unit in ns, or in what the quantity counts."""
    points: tuple[PrintedPoint, ...]


@dataclass(frozen=True)
class StudyFacts:
    """A study: its axes, combinations, and rows of tables."""

    name: str
    headline: str
    axes: tuple[StudyAxis, ...]
    combinations: tuple[Combination, ...]
    differences: Sequence[Mapping[str, str]] = ()
    """Rows of combinations that differ from the first one: ``values``, ``end``, ``quantity``, ``difference``
    and ``interval`` in words."""
    differ: int = 0
    """Number of such rows; ``differences`` has the first ones."""
    worst: Sequence[Mapping[str, str]] = ()
    """The runs with the greatest delays: ``run``, ``values``, ``seed``, ``end`` and ``delay`` in words."""
    provenance: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = field(default=())
    answers: Answers | None = None
    """Of a search or of a sensitivity analysis, whose combinations are chosen ones."""
    compared: Sequence[Compared] = ()
    """Every number and statement of a paper that the study repeats."""
    curves: Sequence[PrintedCurve] = ()
    """The printed numbers that have a place on the study's axes."""

    @cached_property
    def by_values(self) -> dict[tuple[str, ...], Combination]:
        """The combinations by their values."""
        return {one.values: one for one in self.combinations}

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """Every stream (with its listener, if it has several) that has a delay anywhere."""
        return tuple(
            dict.fromkeys(
                name for one in self.combinations for name, end in one.ends.items() if end.mean is not None
            )
        )

    @property
    def drawn(self) -> tuple[str, ...]:
        """The streams that figures draw."""
        return self.ends[:MOST_STREAMS]

    @property
    def left_out(self) -> str:
        """A sentence on streams that are not drawn; empty if all are."""
        more = len(self.ends) - len(self.drawn)
        return f" {more} more streams are in the tables only." if more else ""

    @cached_property
    def across(self) -> StudyAxis | None:
        """The x axis of curves: the numeric axis with the most values, else the axis with the most values."""
        return max(self.axes, key=lambda axis: (axis.numeric, len(axis.values)), default=None)

    @cached_property
    def beside(self) -> StudyAxis | None:
        """The axis whose values are lines of their own; None with one axis."""
        others = [axis for axis in self.axes if axis is not self.across]
        return max(others, key=lambda axis: len(axis.values), default=None)

    @property
    def fixed(self) -> tuple[StudyAxis, ...]:
        """The other axes: curves are drawn for their first values."""
        return tuple(axis for axis in self.axes if axis not in (self.across, self.beside))

    def at(self, chosen: Mapping[str, str]) -> Combination | None:
        """The combination with these values; axes that are not chosen have their first value."""
        return self.by_values.get(self.values_at(chosen))

    def values_at(self, chosen: Mapping[str, str]) -> tuple[str, ...]:
        """A value of each axis; axes that are not chosen have their first value."""
        return tuple(chosen.get(axis.name, axis.values[0]) for axis in self.axes)

    def over(self, chosen: Mapping[str, str]) -> Iterator[Combination]:
        """All combinations with these values, over every value of the other axes."""
        kept = [(chosen[axis.name],) if axis.name in chosen else axis.values for axis in self.axes]
        for values in product(*kept):
            if (found := self.by_values.get(values)) is not None:
                yield found
