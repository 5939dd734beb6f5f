"""The result of comparing two or more runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench import steps
from tsnbench.compare.agreement import Agreement, agreements
from tsnbench.compare.frames import Joined, Spread, intervals, joined
from tsnbench.compare.gates import Conformance, conformance
from tsnbench.compare.plans import differences
from tsnbench.compare.runs import Side, distinct_labels
from tsnbench.errors import InputError
from tsnbench.quantities import some
from tsnbench.runs.bounds import bounds_of_run

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.runs.measures import Stat

FORMAT = "tsnbench-compare/1"


@dataclass(frozen=True)
class Row:
    """One stream at one listener in one run. Delays are in ns; ``side`` is the place of the run.

    Example:
        >>> from tsnbench.compare import compare, opened
        >>> found = compare([opened("runs/first"), opened("runs/second")])
        >>> [(row.stream, row.side, row.sent, row.lost) for row in found.rows]
        [('loop', 0, 20, 0), ('loop', 1, 20, 0), ('video', 0, 50, 0), ('video', 1, 50, 0)]
    """

    stream: str
    listener: str
    side: int
    sent: int
    received: int
    lost: int
    delay: Stat | None
    spread_ns: float | None
    interval: Spread | None


@dataclass(frozen=True)
class Comparison:
    """The result of :func:`~tsnbench.compare.compare`: each run compared with the first one.

    Example:
        >>> from tsnbench.compare import compare, opened
        >>> found = compare([opened("runs/first"), opened("runs/second")])
        >>> found.agrees, sorted({one.stream for one in found.agreements if not one.agrees})
        (False, ['loop', 'video'])
        >>> [(one.stream, one.both) for one in found.joined]
        [('loop', 20), ('video', 0)]
        >>> len(found.rows), found.gates, found.beyond, found.document()["format"]
        (4, [], [], 'tsnbench-compare/1')
    """

    sides: tuple[Side, ...]
    bounds: Mapping[tuple[str, str], tuple[int | None, str]]
    """The first Plan's bound in ns by stream and listener, or None and the reason."""
    within_ns: float | None = None

    def __repr__(self) -> str:
        return f"Comparison({', '.join(repr(side.label) for side in self.sides)})"

    def _repr_html_(self) -> str:
        return steps.html("comparison", self)

    @cached_property
    def plans(self) -> list[tuple[int, list[str]]]:
        """(run, what differs in its Plan from the first one's); empty where all ran the same Plan."""
        first = self.sides[0].plan
        found = []
        for place, side in enumerate(self.sides):
            if first is None or side.plan is None or side.plan_hash == self.sides[0].plan_hash:
                continue
            found.append((place, differences(first, side.plan)))
        return found

    @cached_property
    def streams(self) -> list[tuple[str, str]]:
        """(stream, listener) of any run."""
        return list(
            dict.fromkeys(
                (path["stream"], path["listener"]) for side in self.sides for path in side.measures["paths"]
            )
        )

    @cached_property
    def intervals(self) -> list[Mapping[tuple[str, str], Spread | None]]:
        """Per run."""
        return [intervals(side) for side in self.sides]

    @cached_property
    def rows(self) -> list[Row]:
        """Stream by stream, run by run; a run without the stream has no row."""
        found = []
        paths = [{(p["stream"], p["listener"]): p for p in side.measures["paths"]} for side in self.sides]
        for key in self.streams:
            for place, own in enumerate(paths):
                if (path := own.get(key)) is not None:
                    count = path["count"]
                    found.append(
                        Row(
                            *key,
                            place,
                            count["sent"],
                            count["received"],
                            count["lost"],
                            path["delay"],
                            path["spread"],
                            self.intervals[place].get(key),
                        )
                    )
        return found

    @cached_property
    def joined(self) -> list[Joined]:
        """Each run after the first, joined with the first frame by frame."""
        return [
            one
            for place, side in enumerate(self.sides)
            if place
            for one in joined((0, self.sides[0]), (place, side))
        ]

    @cached_property
    def gates(self) -> list[Conformance]:
        """Gated ports with a tap, run by run."""
        return [one for place, side in enumerate(self.sides) for one in conformance(place, side)]

    @cached_property
    def agreements(self) -> list[Agreement]:
        """Every quantity of every stream."""
        return list(agreements(self.sides, self.intervals, self.within_ns))

    @cached_property
    def reasons(self) -> list[str]:
        """The reasons for tolerances, each once; tables refer to them by letters."""
        terms = [term.reason for one in self.agreements for term in one.terms]
        return list(dict.fromkeys([*terms, *(reason for one in self.agreements for reason in one.known)]))

    def letters(self, one: Agreement) -> str:
        """The reasons of one tolerance, and known differences beyond it: ``a, c``."""
        every = [*(term.reason for term in one.terms), *one.known]
        return ", ".join(letter(self.reasons.index(reason)) for reason in every)

    @cached_property
    def beyond(self) -> list[tuple[Row, int]]:
        """Rows with a frame later than the worst-case bound, and the excess in ns."""
        found = []
        for row in self.rows:
            upper = self.bounds.get((row.stream, row.listener), (None, ""))[0]
            if upper is not None and row.delay is not None and row.delay["max"] > upper:
                found.append((row, row.delay["max"] - upper))
        return found

    @property
    def agrees(self) -> bool:
        """True if no quantity differs by more than its tolerance."""
        return all(one.agrees for one in self.agreements)

    def document(self) -> Json:
        """The comparison ready for JSON: ``tsnbench-compare/1``."""
        return {
            "format": FORMAT,
            "agrees": self.agrees,
            "runs": [
                {
                    "label": side.label,
                    "backend": side.backend,
                    "folder": None if side.folder is None else str(side.folder),
                    "plan": side.plan_hash or None,
                    "dilate": side.dilate,
                    "kernel": ((side.manifest or {}).get("guest") or {}).get("kernel"),
                }
                for side in self.sides
            ],
            "plans_differ": [{"run": place, "differences": lines} for place, lines in self.plans],
            "streams": [{**asdict(row), "delay": row.delay} for row in self.rows],
            "bounds": [
                {"stream": stream, "listener": listener, "upper_ns": upper, "reason": reason}
                for (stream, listener), (upper, reason) in self.bounds.items()
            ],
            "frames": [asdict(one) for one in self.joined],
            "gates": [asdict(one) for one in self.gates],
            "agreements": [
                {**asdict(one), "difference": one.difference, "agrees": one.agrees} for one in self.agreements
            ],
        }


def letter(place: int) -> str:
    """The letter of a reason: a, b, …, z, z26, z27, …."""
    return chr(ord("a") + place) if place < 26 else f"z{place}"


def compare(sides: Sequence[Side], within_ns: float | None = None) -> Comparison:
    """Compares runs with the first of them, quantity by quantity and frame by frame.

    Args:
        sides: runs, from :func:`~tsnbench.compare.opened` or :func:`~tsnbench.compare.captured`.
        within_ns: one tolerance for all delays, instead of the tolerances with reasons.

    Raises:
        InputError: there are fewer than two runs, or the first run shares no stream with any other.

    Example:
        >>> from tsnbench.compare import compare, opened
        >>> compare([opened("runs/first"), opened("runs/second")], within_ns=100_000).agrees
        True
    """
    if len(sides) < 2:
        raise InputError(f"compare: expected at least two runs, found {len(sides)}")
    named = distinct_labels(sides)
    found = Comparison(named, _bounds(named), within_ns)
    mine = {path["stream"] for path in named[0].measures["paths"]}
    for side in named[1:]:
        theirs = {path["stream"] for path in side.measures["paths"]}
        if not mine & theirs:
            raise InputError(
                f"compare: {named[0].label} and {side.label} have no stream in common\n"
                f"hint: one has {_few(mine)}; the other has {_few(theirs)}"
            )
    return found


def _few(names: set[str]) -> str:
    return some(sorted(names), 8)


def _bounds(sides: Sequence[Side]) -> dict[tuple[str, str], tuple[int | None, str]]:
    """The worst case from the first run that has a Plan."""
    for side in sides:
        if side.plan is not None and side.folder is not None:
            flows = bounds_of_run(side.folder)["flows"]
            return {(f["stream"], f["listener"]): (f["upper_ns"], f["reason"] or "") for f in flows}
    return {}
