"""Runs side by side: the parameter in which they differ, and each stream's results in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tsnbench.compare.runs import called
from tsnbench.measure.outcome import Outcome, worst
from tsnbench.report.facts import Judged, Measure, RunFacts
from tsnbench.report.parts.curves import Curve, curve_of
from tsnbench.report.parts.verdicts import Row, rank, row_of
from tsnbench.sheet import numbered

DOT = " \u00b7 "
"""Between the values of several parameters."""
MOST_STREAMS = 8
"""Streams that a sweep draws; all are in its tables."""
MOST_OVERLAID = 8
"""Runs whose distributions are drawn over each other."""


@dataclass(frozen=True)
class Axis:
    """The parameter that differs from run to run; ``at`` are positions on paper, ``ticks`` their labels."""

    name: str
    at: tuple[float, ...]
    ticks: tuple[str, ...]
    numeric: bool = False
    """Whether there are values between two positions, so that a line may connect them."""


@dataclass(frozen=True)
class Along:
    """The results of one stream in each run; None in a run without it."""

    name: str
    pcp: int | None
    measures: tuple[Measure | None, ...]
    limit_ns: float | None
    """Its highest allowed delay, if all runs have the same one."""

    @property
    def bounds_ns(self) -> tuple[int | None, ...]:
        """The worst case of each run's own Plan; None without one."""
        return tuple(m.bound.upper_ns if m and m.bound else None for m in self.measures)


class Sweep:
    """Several runs, in the order of their axis where one parameter varies, else in the order given."""

    def __init__(self, runs: Sequence[RunFacts]) -> None:
        keys = list(dict.fromkeys(key for run in runs for key in run.plan["variant"]))
        values = {key: list(dict.fromkeys(run.plan["variant"].get(key, "") for run in runs)) for key in keys}
        self.varying = varying = [key for key in keys if len(values[key]) > 1]
        numeric = [key for key in varying if all(_number(value) is not None for value in values[key])]
        key = max(numeric or varying, key=lambda k: len(values[k]), default=None)
        plain_axis = key is not None and len(varying) == 1 and len(values[key]) == len(runs)
        if plain_axis and key in numeric:
            runs = sorted(runs, key=lambda run: _number(run.plan["variant"][str(key)]) or 0.0)
        self.runs = tuple(runs)
        self.axis = self._axis(str(key) if plain_axis else None)

    def _axis(self, key: str | None) -> Axis:
        if key is None:
            places = tuple(float(n) for n in range(len(self.runs)))
            keys = [key for key in self.runs[0].plan["variant"] if key in self.varying]
            values = [DOT.join(run.plan["variant"].get(key, "") for key in keys) for run in self.runs]
            if keys and len(set(values)) == len(values):
                return Axis(DOT.join(keys), places, tuple(values))
            return Axis("run", places, self.labels)
        ticks = tuple(run.plan["variant"].get(key, "") for run in self.runs)
        numbers = [_number(tick) for tick in ticks]
        even = tuple(float(n) for n in range(len(ticks)))
        if None in numbers:
            return Axis(key, even, ticks)
        return Axis(key, tuple(n or 0.0 for n in numbers), ticks, numeric=True)

    def _label(self, run: RunFacts) -> str:
        """The parameters that differ; a parameter that is equal in all runs is left out."""
        parts = [f"{key} {value}" for key, value in run.plan["variant"].items() if key in self.varying]
        one_scenario = len({other.plan["name"] for other in self.runs}) == 1
        if len({called(other.manifest) for other in self.runs}) > 1:
            parts.append(called(run.manifest))
        return ", ".join(parts if one_scenario and parts else [run.plan["name"], *parts])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the runs in tables."""
        return tuple(numbered([self._label(run) for run in self.runs]))

    @cached_property
    def streams(self) -> tuple[Along, ...]:
        """Every stream of any run. A stream with a single listener in each run counts as one stream, even
        if the listeners differ."""
        single = {
            group.stream
            for run in self.runs
            for group in run.groups
            if all(sum(g.stream == group.stream for g in other.groups) <= 1 for other in self.runs)
        }

        def key(group: Measure) -> tuple[str, str]:
            return group.stream, "" if group.stream in single else group.listener

        keys = list(dict.fromkeys(key(group) for run in self.runs for group in run.groups))
        by_run = [{key(group): group for group in run.groups} for run in self.runs]
        return tuple(self._along(name, [groups.get(name) for groups in by_run]) for name in keys)

    def _along(self, name: tuple[str, str], measures: Sequence[Measure | None]) -> Along:
        stream, listener = name
        limits = {
            row.limit
            for run in self.runs
            for row in run.judged
            if row.group == stream and row.requirement == "delay" and listener in ("", row.listener)
        }
        return Along(
            name=f"{stream} to {listener}" if listener else stream,
            pcp=next((m.pcp for m in measures if m is not None), None),
            measures=tuple(measures),
            limit_ns=limits.pop() if len(limits) == 1 else None,
        )

    @cached_property
    def drawn(self) -> tuple[tuple[Along, tuple[Curve | None, ...]], ...]:
        """The first streams (highest priority first) with their distributions in every run."""
        with_delay = [
            along for along in self.streams if any(m is not None and m.delay for m in along.measures)
        ]
        return tuple(
            (
                along,
                tuple(
                    curve_of(run, measure) if measure is not None else None
                    for run, measure in zip(self.runs, along.measures, strict=True)
                ),
            )
            for along in with_delay[:MOST_STREAMS]
        )

    @property
    def left_out(self) -> int:
        """Streams with a delay that are not drawn."""
        with_delay = sum(any(m is not None and m.delay for m in along.measures) for along in self.streams)
        return with_delay - len(self.drawn)

    @cached_property
    def matrix(self) -> list[tuple[str, str, list[Judged | None]]]:
        """(stream, requirement, per run the row with the least margin)."""
        found: dict[tuple[str, str], list[Judged | None]] = {}
        for place, run in enumerate(self.runs):
            for row in run.judged:
                cells = found.setdefault((row.group, row.requirement), [None] * len(self.runs))
                kept = cells[place]
                if kept is None or rank(row) < rank(kept):
                    cells[place] = row
        return [(stream, requirement, cells) for (stream, requirement), cells in found.items()]

    @cached_property
    def bars(self) -> list[tuple[str, str, list[Row | None]]]:
        """The matrix as lines with bars: failed requirements first, then those closest to their limit in any
        run."""
        found = [
            (stream, requirement, [None if cell is None else row_of(cell, stream, 1) for cell in cells])
            for stream, requirement, cells in self.matrix
        ]
        return sorted(found, key=lambda one: min(row.rank for row in one[2] if row is not None))

    @property
    def outcomes(self) -> set[Outcome]:
        """Every outcome in the matrix."""
        return {cell.outcome for _, _, cells in self.matrix for cell in cells if cell is not None}

    def outcome(self) -> str:
        """The outcome of all runs, and in how many of them frames were lost."""
        judged = [run for run in self.runs if run.judged]
        lost = self._lost()
        if not judged:
            return f"{len(self.runs)} runs were measured; none has a requirement.{lost}"
        own = [run.overall for run in judged]
        met = sum(one is not None and one.met for one in own)
        if met == len(judged) == len(self.runs):
            text = f"In all {met} runs every stream met every requirement"
            if own.count(Outcome.PROVED) == met:
                text += ", and the worst case also keeps them"
            elif beyond := own.count(Outcome.BEYOND):
                text += f"; in {beyond} of them the worst case is beyond a limit"
            return f"{text}.{lost}"
        text = f"In {met} of {len(judged)} runs every stream met every requirement"
        rest = len(self.runs) - len(judged)
        text += f"; {rest} {'was' if rest == 1 else 'were'} not judged." if rest else "."
        return text + lost

    def _lost(self) -> str:
        losing = sum(any(group.counts.get("lost") for group in run.groups) for run in self.runs)
        return f" Frames were lost in {losing} run{'s' if losing != 1 else ''}." if losing else ""

    def overall(self) -> Outcome | None:
        """The outcome of all runs together; None if nothing was judged."""
        return worst(run.overall for run in self.runs if run.overall is not None)


def spread(many: int, most: int) -> list[int]:
    """At most ``most`` indices out of ``many``, with the first and the last."""
    if many <= most:
        return list(range(many))
    return sorted({round(n * (many - 1) / (most - 1)) for n in range(most)})


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
