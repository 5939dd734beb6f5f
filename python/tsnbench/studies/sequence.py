"""The number of repetitions that a study needs: the stopping rule of ``repeat.until``, for each combination.

The list of a study has all repetitions that the rule allows. Which are wanted follows from the results of the
first ones alone, in the order of their seeds. So all workers agree without communication, and a worker that
goes on after a kill finds the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tsnbench.studies import statistics
from tsnbench.studies.design import Request
from tsnbench.studies.estimates.intervals import QUANTILES
from tsnbench.studies.exploring.questions import EVERY
from tsnbench.studies.statistics import State, Target
from tsnbench.studies.store import Content, Record, Row, Store
from tsnbench.studies.study_file import Until


@dataclass(frozen=True)
class Look:
    """The result of the rule for one quantity of one combination of values."""

    quantity: str
    stream: str
    listener: str
    asked: float
    """Requested half width, relative to the estimate."""
    reached: float | None
    """Half width at the last look; none before it, or without an interval."""
    confidence: float
    """Of this interval, so that all of the combination hold together."""

    def as_dict(self) -> Row:
        return asdict(self)


@dataclass(frozen=True)
class Progress:
    """The progress of the repetitions of one combination of values."""

    runs: tuple[Request, ...]
    """The repetitions that count, or are wanted for the next look."""
    state: State | None = None
    """None: the study says how many repetitions there are."""
    looks: tuple[Look, ...] = ()
    reason: str = ""
    """Why more repetitions could not make the interval narrow."""


class Repetitions:
    """The combinations of a study, and the further repetitions that its results require."""

    def __init__(self, store: Store, content: Content) -> None:
        self.store = store
        self.content = content
        self._found: dict[str, Record] = {}
        self._points = _points(content) if content.until else []
        self._decided: dict[int, tuple[int, Progress]] = {}
        """By combination: how many results the rule has seen, and what it said."""

    def progress(self) -> list[Progress]:
        """The progress of all combinations, in the order of the list."""
        if self.content.until is None:
            return [Progress(self.content.runs)]
        return [self._of(place, runs, self.content.until) for place, runs in enumerate(self._points)]

    def counted(self) -> Content:
        """The list of the runs that count or are needed now, in its order."""
        if self.content.until is None:
            return self.content
        return replace(self.content, runs=tuple(run for one in self.progress() for run in one.runs))

    def unmade(self) -> list[Request]:
        """The runs that are needed now and are not made yet."""
        return [run for run in self.counted().runs if self._result(run) is None]

    def most(self) -> int:
        """The greatest number of runs that may still be made: no interval becomes narrow before ``most``."""
        if self.content.until is None:
            return len(self.unmade())
        listed = (
            runs if one.state in (None, State.CONTINUE) else one.runs
            for runs, one in zip(self._points, self.progress(), strict=True)
        )
        return sum(self._result(run) is None for runs in listed for run in runs)

    def _result(self, run: Request) -> Record | None:
        # A result does not change any more, so it is read once.
        if run.id not in self._found:
            made = self.store.result(run)
            if made is None:
                return None
            keep = self.content.until is not None
            self._found[run.id] = (
                {"rows": made.get("rows", []), "problem": made.get("problem")} if keep else {}
            )
        return self._found[run.id]

    def _of(self, place: int, runs: Sequence[Request], until: Until) -> Progress:
        """The rule's decision about a combination; it is computed again only after a new result."""
        if len(runs) == 1:
            return Progress(tuple(runs))
        made: list[Record] = []
        for run in runs:
            result = self._result(run)
            if result is None:
                break
            made.append(result)
        if len(made) < until.least:
            return Progress(tuple(runs[: until.least]), State.CONTINUE)
        seen, known = self._decided.get(place, (0, None))
        if known is None or seen != len(made):
            known = _decided(runs, until, made)
            self._decided[place] = len(made), known
        return known


def _decided(runs: Sequence[Request], until: Until, made: Sequence[Record]) -> Progress:
    who = _targets(until, made[0]["rows"])
    series = [[_estimate(one["rows"], *whose) for one in made] for whose in who]
    end, reason = _hopeless(until, who, series, made)
    asked = [_asked(until, *whose) for whose in who]
    decided = until.rule.decide([Target(*one) for one in zip(asked, series, strict=True)])
    count, state = decided.replications, decided.state
    if end is not None and state != State.REACHED:
        # An interval needs an estimate from every repetition. If one is missing, further ones do not help.
        count, state = end, State.NOT_REACHED if len(made) >= end else State.CONTINUE
    looks = []
    for place, whose in enumerate(who):
        interval = decided.intervals[place]
        width = interval.relative_half_width if interval else None
        looks.append(Look(*whose, asked[place], width, decided.each))
    kept = reason if state == State.NOT_REACHED else ""
    return Progress(tuple(runs[:count]), state, tuple(looks), kept)


def _points(content: Content) -> list[list[Request]]:
    found: dict[tuple[Any, ...], list[Request]] = {}
    for run in content.runs:
        found.setdefault((tuple(run.values.items()), run.number), []).append(run)
    return list(found.values())


def _targets(until: Until, rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """Quantity, stream and listener of every interval with a required width."""
    ends = [(row["stream"], row["listener"]) for row in rows]
    wanted = [
        (one.quantity, stream, listener)
        for one in until.widths
        for stream, listener in ends
        if one.stream in (EVERY, stream)
    ]
    return list(dict.fromkeys(wanted))


def _asked(until: Until, quantity: str, stream: str, _: str) -> float:
    """The narrowest width that applies to a stream: its own, or the one of all streams."""
    return min(
        one.relative for one in until.widths if one.quantity == quantity and one.stream in (EVERY, stream)
    )


def _estimate(rows: Sequence[Row], quantity: str, stream: str, listener: str) -> tuple[float, int] | None:
    for row in rows:
        if (row["stream"], row["listener"]) == (stream, listener):
            value = row[quantity]
            if value is None or _too_few(quantity, row["received"]):
                return None
            # The weight of a mean is its number of frames; the weight of a quantile is 1.
            return value, 1 if quantity in QUANTILES else row["received"]
    return None


def _too_few(quantity: str, frames: int) -> bool:
    p = QUANTILES.get(quantity)
    return p is not None and statistics.enough_frames(p, [frames], 1) is not None


def _hopeless(
    until: Until,
    who: Sequence[tuple[str, str, str]],
    series: Sequence[Sequence[Any]],
    made: Sequence[Record],
) -> tuple[int | None, str]:
    """The number of repetitions at which an interval is given up, with the reason; None if it is not."""
    firsts = [(one.index(None), whose) for whose, one in zip(who, series, strict=True) if None in one]
    if not who:
        return until.least, "a repetition has no plan" if made[0]["problem"] else "no frame was measured"
    if not firsts:
        return None, ""
    place, (quantity, stream, listener) = min(firsts)
    look = next(count for count in until.looks() if count > place)
    if made[place]["problem"]:
        return look, "a repetition has no plan"
    rows = made[place]["rows"]
    own = [row for row in rows if (row["stream"], row["listener"]) == (stream, listener)]
    frames = own[0]["received"] if own else 0
    p = QUANTILES.get(quantity)
    few = statistics.enough_frames(p, [frames], 1) if p is not None else None
    if few:
        return look, f"{quantity} of {stream} needs {few.needed} frames in each repetition, found {frames}"
    return look, f"a repetition received no frame of {stream} at {listener}"
