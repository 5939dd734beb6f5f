"""Agreement of a run with the first one, within tolerances.

Every tolerance has its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tsnbench.compare.frames import Spread
from tsnbench.compare.known import known
from tsnbench.compare.runs import Side
from tsnbench.plan.streams.paths import path_to
from tsnbench.runs.measures import figures
from tsnbench.runs.tables.predicted import intervals as intervals_of

if TYPE_CHECKING:
    from tsnbench.runs.measures import PathReport

HOP_NS = 15_000
"""The greatest processor time of a kernel for one hop; the simulator does not model it (see LIMITATIONS)."""
REPETITION_NS = {"tsnport": 0.0}
"""How far repetitions are apart, in the kernel's own time, where the runs themselves do not say it: by the
wires of a guest (see docs/concepts/kernel.md)."""
OTHER_WIRES_NS = 500.0
"""Between veth interfaces."""
PREDICTED = "the interval that the calibrated twin predicts"
STATISTICS = ("min", "median", "p99")
"""Of the delay. The maximum is one frame's: now and then a kernel does something else for some 40 us."""


@dataclass(frozen=True)
class Term:
    """A part of a tolerance: how far the second value may be below and above the first one, and why."""

    below_ns: float
    above_ns: float
    reason: str


@dataclass(frozen=True)
class Agreement:
    """One quantity of one stream in two runs, ``first`` and ``second``.

    Example:
        >>> from tsnbench.compare import compare, opened
        >>> found = compare([opened("runs/first"), opened("runs/second")])
        >>> one = next(one for one in found.agreements if not one.agrees)
        >>> one.stream, one.quantity, one.difference
        ('loop', 'delay p99', -1387.0)
    """

    stream: str
    listener: str
    first: int
    second: int
    quantity: str
    unit: str
    found_first: float
    found_second: float
    terms: tuple[Term, ...]
    known: tuple[str, ...] = ()
    """Known differences that may be the reason, if the quantity is beyond its tolerance."""

    @property
    def difference(self) -> float:
        """The second value minus the first one."""
        return self.found_second - self.found_first

    @property
    def below(self) -> float:
        """How far the second value may be below the first one."""
        return sum(term.below_ns for term in self.terms)

    @property
    def above(self) -> float:
        """How far the second value may be above the first one."""
        return sum(term.above_ns for term in self.terms)

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance."""
        return -self.below <= self.difference <= self.above


def agreements(
    sides: Sequence[Side],
    intervals: Sequence[Mapping[tuple[str, str], Spread | None]],
    within_ns: float | None,
) -> Iterator[Agreement]:
    """The quantities of every later run against the first one, stream by stream. ``within_ns``, if given, is
    the tolerance of all delays.
    """
    found = [_by_key(side) for side in sides]
    foretold = {} if sides[0].prediction is None else intervals_of(sides[0].prediction)
    for second in range(1, len(sides)):
        for key, path in found[0].items():
            other = found[second].get(key)
            if other is None:
                continue
            pair, own_paths = (sides[0], sides[second]), (path, other)
            for name in (*STATISTICS, "max"):
                predicted = None if within_ns is not None else foretold.get((*key, name))
                if name == "max" and predicted is None:
                    continue  # It is one frame's.
                each = [_figure(own.get(key), name) for own in found]
                one, two = each[0], each[second]
                if one is None or two is None:
                    continue
                terms = _terms(sides, second, path, each, within_ns) if predicted is None else ()
                if predicted is not None:
                    terms = (Term(one - predicted[0], predicted[1] - one, PREDICTED), *_stamps(pair[1]))
                if within_ns is None:
                    terms += _clocks(pair, own_paths)
                yield _told(
                    Agreement(*key, 0, second, f"delay {name}", "ns", one, two, terms), pair, own_paths
                )
            paces = [own.get(key) for own in intervals]
            if paces[0] is not None and (pace := paces[second]) is not None:
                each = [None if one is None else float(one.median) for one in paces]
                terms = _terms(sides, second, path, each, within_ns, interval=True)
                found_paces = Agreement(
                    *key, 0, second, "interval median", "ns", paces[0].median, pace.median, terms
                )
                yield _told(found_paces, pair, own_paths)
            lost = [float(own[key]["count"]["lost"]) if key in own else None for own in found]
            again = _repetition(sides, (0, second), lost)
            reason = "frames, measured repetition" if again else "no frame more or less"
            terms = (Term(again or 0, again or 0, reason),)
            losses = Agreement(*key, 0, second, "lost", "frames", lost[0] or 0, lost[second] or 0, terms)
            yield _told(losses, pair, own_paths)


def _told(one: Agreement, pair: Sequence[Side], paths: Sequence[PathReport]) -> Agreement:
    """The agreement, with known differences if the quantity is beyond its tolerance."""
    if one.agrees:
        return one
    ports = {
        port for side, path in zip(pair, paths, strict=True) for own in _paths(side, path) for port in own
    }
    loses = any(path["count"]["lost"] for path in paths)
    return replace(one, known=tuple(known(pair, sorted(ports), one.quantity, loses)))


def _figure(path: PathReport | None, name: str) -> float | None:
    """One statistic of the delay."""
    delay = path["delay"] if path else None
    return None if delay is None else float(figures(delay)[name])


def _by_key(side: Side) -> dict[tuple[str, str], PathReport]:
    return {(path["stream"], path["listener"]): path for path in side.measures["paths"]}


def _terms(
    sides: Sequence[Side],
    second: int,
    path: PathReport,
    each: Sequence[float | None],
    within_ns: float | None,
    *,
    interval: bool = False,
) -> tuple[Term, ...]:
    """The tolerance of a delay, or of the ``interval`` between two arrivals."""
    if within_ns is not None:
        return (Term(within_ns, within_ns, "as requested"),)
    pair = (sides[0], sides[second])
    stamps = 2 * sum(granularity(side) for side in pair)
    terms = [Term(stamps, stamps, "two stamps of each run")]
    again = _repetition(sides, (0, second), each)
    if again is not None:
        terms.append(Term(again, again, "measured repetition: runs of the same kind differ by so much"))
    elif any(side.is_kernel for side in pair):
        least = max(
            REPETITION_NS.get(side.wire, OTHER_WIRES_NS) / side.dilate for side in pair if side.is_kernel
        )
        if least:
            terms.append(
                Term(least, least, "a kernel's repetition (compare two runs of a kind to have it measured)")
            )
    if interval:
        # Of two frames that follow each other, either may be later.
        each_way = sum(HOP_NS * max(1, _hops(pair, path)) / side.dilate for side in pair if side.is_kernel)
        if each_way:
            reason = "the kernel's own time, which differs from frame to frame"
            terms.append(Term(each_way, each_way, reason))
    else:
        hops = max(1, _hops(pair, path))
        later = [HOP_NS * hops / side.dilate if side.is_kernel else 0.0 for side in pair]
        # A frame that leaves its talker later may wait less for a gate or another frame.
        less = [HOP_NS / side.dilate if side.is_kernel else 0.0 for side in pair]
        if any(later):
            reason = f"the kernel's own time, which no Plan has: later in {hops} hops, or at the talker alone"
            terms.append(Term(later[0] + less[1], later[1] + less[0], reason))
        planned = float(max(_processing(side, path) for side in pair))
        if planned and pair[0].is_kernel != pair[1].is_kernel:
            first, other = (planned if side.is_kernel else 0.0 for side in pair)
            terms.append(Term(other, first, "the Plan's processing in bridges; a kernel takes its own time"))
    return tuple(terms)


def _stamps(side: Side) -> tuple[Term, ...]:
    """The resolution of a measurement's stamps, beyond the one that a prediction has."""
    coarse = granularity(side)
    return (Term(2 * coarse, 2 * coarse, "two stamps of the measurement"),) if coarse > 1 else ()


def _clocks(pair: Sequence[Side], paths: Sequence[PathReport]) -> tuple[Term, ...]:
    """The uncertainty of delays on hosts, whose clocks differ from those of the Plan."""
    own = [path.get("uncertainty") for side, path in zip(pair, paths, strict=True) if side.backend == "hosts"]
    unsure = float(sum(one["delay_ns"] for one in own if one))
    return (Term(unsure, unsure, "what the readings of the hosts' clocks leave open"),) if unsure else ()


def granularity(side: Side) -> float:
    """The coarsest resolution of the clocks that stamped the run's frames, in ns."""
    nodes = side.plan.get("clocks", {}).get("nodes", []) if side.plan else []
    return float(max([1, *(node["granularity_ns"] for node in nodes)]))


def _repetition(sides: Sequence[Side], pair: tuple[int, int], each: Sequence[float | None]) -> float | None:
    """The greatest distance between repetitions of either run; None if there are too few repetitions.

    The judged run itself does not count as a repetition. Repetitions of a simulation are equal.
    """
    kinds = dict.fromkeys(sides[place].kind for place in pair if sides[place].is_kernel)
    judged = {pair[1]} if sides[pair[0]].kind == sides[pair[1]].kind else set()
    found = []
    for kind in kinds:
        own = [
            value
            for place, (side, value) in enumerate(zip(sides, each, strict=True))
            if side.kind == kind and value is not None and place not in judged
        ]
        if len(own) > 1:
            found.append(max(own) - min(own))
    return sum(found) if found else None


def _hops(pair: Sequence[Side], path: PathReport) -> int:
    """Number of links on the path to the listener; of several paths, on the longest one."""
    for side in pair:
        if paths := _paths(side, path):
            return max(map(len, paths))
    return 1


def _processing(side: Side, path: PathReport) -> int:
    """The processing time of the bridges on the path according to the Plan, in ns."""
    plan = side.plan
    if plan is None:
        return 0
    nodes = [[plan["ports"][port]["node"] for port in ports[1:]] for ports in _paths(side, path)]
    return max((sum(plan["nodes"][node]["processing_ns"] for node in own) for own in nodes), default=0)


def _paths(side: Side, path: PathReport) -> list[tuple[int, ...]]:
    """The egress ports on a stream's paths to the listener, the talker's port first."""
    plan = side.plan
    for stream in plan["streams"] if plan else ():
        if plan is not None and stream["name"] == path["stream"]:
            return [
                path_to(stream, place)
                for place, listener in enumerate(stream["listeners"])
                if plan["nodes"][listener["node"]]["name"] == path["listener"]
            ]
    return []
