"""Streams in the exact engine: paths, occupied times of links, and the allowed distances of two streams.

All times in ps.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd
from typing import TYPE_CHECKING, Protocol, TypeVar

from tsnbench import _native

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import CandidatePath, Problem, TreeEntry

Spans = list[tuple[int, int]]
"""Closed intervals, ascending and disjoint."""


class OnLink(Protocol):
    """A part of a path."""

    @property
    def link(self) -> int: ...


@dataclass(frozen=True)
class Step:
    """One link of a path; ``wire`` and ``arrives`` by frame, from its first bit out."""

    link: int
    parent: int | None
    processing: int
    wire: tuple[int, ...]
    arrives: tuple[int, ...]
    listens: bool
    margin: int
    tick: int
    silence: int
    """Inter-frame gap, ahead of which a window opens."""
    waits: bool = True
    """Whether frames may wait for the gate."""


@dataclass(frozen=True)
class Occupied:
    """The occupied time of a link, margins included, from the release, by frames that are forwarded at
    once."""

    link: int
    at: int
    length: int
    silence: int


@dataclass(frozen=True)
class Path:
    tree: Sequence[TreeEntry]
    steps: tuple[Step, ...]
    starts: tuple[int, ...]
    """First bits out of frames that are forwarded at once."""
    occupied: tuple[Occupied, ...]
    delay: int
    late: int
    spread: int


@dataclass(frozen=True)
class Job:
    number: int
    period: int
    earliest: int
    latest: int
    deadline: int
    jitter: int | None
    queue: int | None
    copies: int
    paths: tuple[Path, ...]

    @property
    def waits(self) -> bool:
        """Whether its frames may wait: a copy would leave in the window of another one."""
        return self.copies == 1

    def keeps(self, path: Path) -> bool:
        """Whether a path alone keeps its limits."""
        return (
            path.delay + path.late <= self.deadline
            and all(time.length <= self.period for time in path.occupied)
            and (self.jitter is None or path.spread + 2 * path.late <= self.jitter)
        )


_Part = TypeVar("_Part", bound="OnLink")


def jobs_of(problem: Problem, most_ways: int) -> list[Job]:
    """Every stream of a problem; a stream without a valid path has none."""
    found: list[list[CandidatePath]] = json.loads(_native.candidate_paths(json.dumps(problem), most_ways))
    jobs = []
    for number, (stream, paths) in enumerate(zip(problem["streams"], found, strict=True)):
        jitter = stream.get("jitter_ns")
        made = Job(
            number=number,
            period=stream["period_ns"] * 1_000,
            earliest=stream["earliest_ns"] * 1_000,
            latest=stream["latest_ns"] * 1_000,
            deadline=stream["deadline_ns"] * 1_000,
            jitter=None if jitter is None else jitter * 1_000,
            queue=stream.get("queue"),
            copies=stream.get("copies", 1),
            paths=tuple(_path(problem, path) for path in paths),
        )
        kept = tuple(path for path in made.paths if made.keeps(path))
        jobs.append(Job(**{**made.__dict__, "paths": kept}))
    return jobs


def _path(problem: Problem, found: CandidatePath) -> Path:
    links = problem["links"]
    steps = []
    for entry, taken in zip(found["tree"], found["steps"], strict=True):
        link = links[entry["link"]]
        steps.append(
            Step(
                link=entry["link"],
                parent=entry.get("parent"),
                processing=taken["processing_ps"],
                wire=tuple(taken["wire_ps"]),
                arrives=tuple(taken["arrives_ps"]),
                listens=taken["listens"],
                margin=link["margin_ps"],
                tick=link["limits"]["granularity_ns"] * 1_000,
                waits=link["limits"].get("waiting", True),
                silence=12 * 8 * 10**12 // link["rate_bps"],
            )
        )
    arrivals: list[list[int]] = []
    starts, occupied, delay, late = [], [], 0, 0
    ends: dict[int, list[int]] = {}
    for step in steps:
        ready = (
            [0] * len(step.wire)
            if step.parent is None
            else [arrived + step.processing for arrived in arrivals[step.parent]]
        )
        free, come = ready[0], []
        for at, wire, arrives in zip(ready, step.wire, step.arrives, strict=True):
            begin = max(at, free)
            free = begin + wire
            come.append(begin + arrives)
        arrivals.append(come)
        starts.append(ready[0])
        occupied.append(
            Occupied(step.link, ready[0] - step.margin, free - ready[0] + 2 * step.margin, step.silence)
        )
        if step.listens:
            delay, late = max(delay, come[-1]), max(late, step.margin)
            ends.setdefault(links[step.link]["to"], []).append(come[-1])
    spread = max((max(lasts) - min(lasts) for lasts in ends.values()), default=0)
    return Path(found["tree"], tuple(steps), tuple(starts), tuple(occupied), delay, late, spread)


def apart(one: Path, other: Path, common: int, grain: int) -> Spans:
    """By how much later than one stream, modulo the gcd of their periods, another one may be released, in
    grains.

    Frames of both are forwarded at once. Without a shared link, all distances are allowed.
    """
    size = common // grain
    allowed: Spans = [(0, size - 1)]
    for mine, theirs in on_one_link(one.occupied, other.occupied):
        low = mine.length + mine.at - theirs.at
        high = common - theirs.length + mine.at - theirs.at
        allowed = meet(allowed, folded(low, high, grain, size))
    return allowed


def on_one_link(one: Iterable[_Part], other: Iterable[_Part]) -> Iterator[tuple[_Part, _Part]]:
    """The parts of two paths that are on the same link."""
    return ((mine, theirs) for mine, theirs in product(one, other) if mine.link == theirs.link)


def folded(low: int, high: int, grain: int, size: int) -> Spans:
    """The grains whose points lie in a closed interval, modulo ``size`` of them."""
    first, last = -(-low // grain), high // grain
    if last < first:
        return []
    if last - first + 1 >= size:
        return [(0, size - 1)]
    first, last = first % size, last % size
    return [(first, last)] if first <= last else [(0, last), (first, size - 1)]


def meet(one: Spans, other: Spans) -> Spans:
    """The intersection of both."""
    both = [(max(a, c), min(b, d)) for a, b in one for c, d in other]
    return sorted((low, high) for low, high in both if low <= high)


def common_period(one: Job, other: Job) -> int:
    return gcd(one.period, other.period)
