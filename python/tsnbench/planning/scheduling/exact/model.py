"""Streams as a constraint model: releases, paths, queues and waits that keep all frames apart.

Two streams overlap on a link if and only if their intervals overlap modulo the greatest common divisor of
their periods: one number is their distance modulo it, so that no cycle is unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from tsnbench.libraries import cp_model
from tsnbench.planning.scheduling.exact.job import Job, Path, Spans, apart, common_period, on_one_link

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Placed, Problem

"""The types of ``crates/schedule``."""


class Passage(NamedTuple):
    """A stream's begin and end at a link, ps, margins included: in the queue, and from the first bit out."""

    link: int
    queued: tuple[Any, Any]
    sent: tuple[Any, Any]


@dataclass
class Stream:
    """One stream's variables, by path."""

    job: Job
    release: Any
    """The release in grains."""
    taken: list[Any]
    """By path: whether it is used."""
    queues: list[Any]
    """By queue: whether it is used."""
    starts: list[list[Any]] = field(default_factory=list)
    """By path and entry: first bit out, ps; empty for frames that are forwarded at once."""
    passages: list[list[Passage]] = field(default_factory=list)
    """By path: its times at each link."""
    delays: list[Any] = field(default_factory=list)
    fixed: bool = False


class Model:
    """A model of some streams of a problem, with all others fixed."""

    def __init__(
        self,
        problem: Problem,
        jobs: Iterable[Job],
        *,
        waits: bool,
        assume: bool = False,
        stay: Mapping[int, Placed] | None = None,
    ) -> None:

        self.cp = cp_model
        self.model: Any = cp_model.CpModel()
        self.grain = problem["granularity_ns"] * 1_000
        self.queues = max((link["queues"] for link in problem["links"]), default=1)
        self.waits = waits
        self.together: list[tuple[Stream, Stream, int, Any]] = []
        """Pairs that share links: the distance of the second one in grains, modulo the given number."""
        self.assumed: dict[int, Any] = {}
        stay = stay or {}
        self.streams = [self._stream(job, stay.get(job.number)) for job in jobs]
        if assume:
            self.assumed = {own.job.number: self.model.new_bool_var("") for own in self.streams}
            self.model.add_assumptions(list(self.assumed.values()))
        for place, one in enumerate(self.streams):
            for other in self.streams[:place]:
                if not (one.fixed and other.fixed):
                    self._keep_apart(other, one)

    def _stream(self, job: Job, placed: Placed | None) -> Stream:
        model = self.model
        if placed is not None:
            job = Job(**{**job.__dict__, "paths": tuple(path for path in job.paths if on_path(path, placed))})
        first, last = -(-job.earliest // self.grain), job.latest // self.grain
        release = model.new_int_var(first, max(first, last), "")
        if last < first or not job.paths:
            model.add_bool_or([])
        taken = [model.new_bool_var("") for _ in job.paths]
        if taken:
            model.add_exactly_one(taken)
        queues = [model.new_bool_var("") for _ in range(self.queues)]
        model.add_exactly_one(queues)
        if job.queue is not None:
            model.add(queues[min(job.queue, self.queues - 1)] == 1)
        own = Stream(job, release, taken, queues, fixed=placed is not None)
        if self.waits:
            for path, chosen in zip(job.paths, taken, strict=True):
                self._times(own, path, chosen, placed)
        if placed is not None:
            model.add(release == placed["offset_ns"] * 1_000 // self.grain)
            model.add(queues[placed["queue"]] == 1)
        return own

    def _times(self, own: Stream, path: Path, chosen: Any, placed: Placed | None) -> None:
        """First bits out, entry by entry: at once, or at a tick of the gates after the frame's arrival."""
        model, job = self.model, own.job
        released = own.release * self.grain
        far = job.latest + max(job.deadline, path.delay) + 1
        arrivals: list[list[Any]] = []
        starts, passages, lasts = [], [], []
        for place, step in enumerate(path.steps):
            ready = (
                [released] * len(step.wire)
                if step.parent is None
                else [arrived + step.processing for arrived in arrivals[step.parent]]
            )
            start, held = ready[0], 0
            may_wait = step.parent is not None and job.waits and step.waits
            if may_wait and (placed is None or _held(path, placed)):
                waits = model.new_bool_var("")
                start = model.new_int_var(0, far, "")
                ticks = model.new_int_var(0, far // step.tick, "")
                model.add(start == ready[0]).only_enforce_if(~waits)
                model.add(start >= ready[0] + 1).only_enforce_if(waits)
                model.add(start == ticks * step.tick).only_enforce_if(waits)
                held = waits * step.tick
                if placed is not None:
                    at = placed["offset_ns"] * 1_000 + placed["starts_ps"][place]
                    model.add(start == at)
            free, come = start, []
            for number, (wire, arrives) in enumerate(zip(step.wire, step.arrives, strict=True)):
                begin = start
                if number:
                    begin = free
                    if step.parent is not None:
                        begin = model.new_int_var(0, far + sum(step.wire), "")
                        model.add_max_equality(begin, [free, ready[number]])
                free = begin + wire
                come.append(begin + arrives)
            arrivals.append(come)
            starts.append(start)
            comes, ends = ready[0] - step.margin - held, free + step.margin
            passages.append(Passage(step.link, (comes, ends), (start - step.margin, ends)))
            model.add(ends - comes <= job.period).only_enforce_if(chosen)
            if step.listens:
                lasts.append(come[-1] - released)
        delay = model.new_int_var(0, far, "")
        for last in lasts:
            model.add(delay >= last)
        model.add(delay + path.late <= job.deadline).only_enforce_if(chosen)
        own.starts.append(starts)
        own.passages.append(passages)
        own.delays.append(delay)

    def _keep_apart(self, one: Stream, other: Stream) -> None:
        common = common_period(one.job, other.job)
        if self.waits:
            return self._keep_waiting_apart(one, other, common)
        size = common // self.grain
        everything = [(0, size - 1)]
        allowed = {
            (mine, theirs): apart(path, their_path, common, self.grain)
            for mine, path in enumerate(one.job.paths)
            for theirs, their_path in enumerate(other.job.paths)
        }
        if all(spans == everything for spans in allowed.values()):
            return None
        later, turns = self._later(one, other, size)
        self.together.append((one, other, size, later))
        self.model.add(later == other.release - one.release - size * turns)
        for (mine, theirs), spans in allowed.items():
            if spans != everything:
                literals = self._both(one, other, mine, theirs)
                if spans:
                    self.within(later, spans, literals)
                else:
                    self.model.add_bool_or([~literal for literal in literals])
        return None

    def within(self, expression: Any, spans: Spans, literals: Any) -> None:
        """Keeps an expression within the spans if the literals are true."""
        domain = self.cp.Domain.FromIntervals([list(span) for span in spans])
        self.model.add_linear_expression_in_domain(expression, domain).only_enforce_if(literals)

    def _later(self, one: Stream, other: Stream, size: int) -> tuple[Any, Any]:
        first, last = _range(one.job, self.grain)
        begin, end = _range(other.job, self.grain)
        turns = self.model.new_int_var((begin - last) // size, (end - first) // size, "")
        return self.model.new_int_var(0, size - 1, ""), turns

    def _both(self, one: Stream, other: Stream, mine: int, theirs: int) -> list[Any]:
        literals = [one.taken[mine], other.taken[theirs]]
        numbers = (one.job.number, other.job.number)
        return literals + [self.assumed[number] for number in numbers if number in self.assumed]

    def _keep_waiting_apart(self, one: Stream, other: Stream, common: int) -> None:
        for mine, theirs in product(range(len(one.job.paths)), range(len(other.job.paths))):
            literals = self._both(one, other, mine, theirs)
            for a, b in on_one_link(one.passages[mine], other.passages[theirs]):
                for queue in range(self.queues):
                    same = [] if self.queues == 1 else [one.queues[queue], other.queues[queue]]
                    self._disjoint(a.queued, b.queued, common, one.job, other.job, literals + same)
                if self.queues > 1:
                    self._disjoint(a.sent, b.sent, common, one.job, other.job, literals)

    def _disjoint(
        self, a: tuple[Any, Any], b: tuple[Any, Any], common: int, one: Job, other: Job, literals: list[Any]
    ) -> None:
        far = (one.latest + one.deadline + other.latest + other.deadline) // common + 2
        turns = self.model.new_int_var(-far, far, "")
        self.model.add(b[0] - a[1] - common * turns >= 0).only_enforce_if(literals)
        self.model.add(a[0] + common - b[1] + common * turns >= 0).only_enforce_if(literals)

    def hint(self, placed: Mapping[int, Placed]) -> None:
        """Sets the start of the search."""
        for own in self.streams:
            before = placed.get(own.job.number)
            if before is None or own.fixed:
                continue
            self.model.add_hint(own.release, before["offset_ns"] * 1_000 // self.grain)
            for path, chosen in zip(own.job.paths, own.taken, strict=True):
                self.model.add_hint(chosen, on_path(path, before))

    def move_few(self, earlier: Mapping[int, Placed]) -> None:
        """Minimises the number of streams that leave their earlier places."""
        moved = []
        for own in self.streams:
            before = earlier.get(own.job.number)
            if before is None or own.fixed:
                continue
            goes = self.model.new_bool_var("")
            moved.append(goes)
            release = before["offset_ns"] * 1_000
            at = next((at for at, path in enumerate(own.job.paths) if on_path(path, before)), None)
            never = at is None or release % self.grain or before["queue"] >= self.queues
            if not never and at is not None:
                path = own.job.paths[at]
                never = len(path.starts) != len(before["starts_ps"])
                never |= not self.waits and list(path.starts) != list(before["starts_ps"])
            if never or at is None:
                self.model.add(goes == 1)
                continue
            self.model.add(own.release == release // self.grain).only_enforce_if(~goes)
            self.model.add(own.taken[at] == 1).only_enforce_if(~goes)
            self.model.add(own.queues[before["queue"]] == 1).only_enforce_if(~goes)
            if self.waits:
                for start, planned in zip(own.starts[at], before["starts_ps"], strict=True):
                    self.model.add(start == release + planned).only_enforce_if(~goes)
        if moved:
            self.model.minimize(sum(moved))

    def placed(self, solver: Any) -> dict[int, Placed]:
        """The placements of a solution."""
        found: dict[int, Placed] = {}
        for own in self.streams:
            at = next(place for place, chosen in enumerate(own.taken) if solver.boolean_value(chosen))
            path = own.job.paths[at]
            release = solver.value(own.release) * self.grain
            starts = list(path.starts)
            if self.waits:
                starts = [solver.value(start) - release for start in own.starts[at]]
            queue = next(number for number, chosen in enumerate(own.queues) if solver.boolean_value(chosen))
            found[own.job.number] = {
                "offset_ns": release // 1_000,
                "tree": list(path.tree),
                "starts_ps": starts,
                "queue": queue,
                "delay_ps": _delay(path, starts),
            }
        return found


def same(one: Placed, other: Placed | None) -> bool:
    """Whether both have equal releases, paths and times."""
    if other is None or one["offset_ns"] != other["offset_ns"] or one["queue"] != other["queue"]:
        return False
    return one["tree"] == other["tree"] and one["starts_ps"] == other["starts_ps"]


def on_path(path: Path, placed: Placed) -> bool:
    """Whether a stream was placed on this path."""
    return list(path.tree) == list(placed["tree"])


def _held(path: Path, placed: Placed) -> bool:
    """Whether a frame waits anywhere."""
    return list(placed["starts_ps"]) != list(path.starts)


def any_held(jobs: Sequence[Job], placed: Mapping[int, Placed]) -> bool:
    """Whether a frame of a placed stream waits anywhere."""
    placements = ((jobs[number], own) for number, own in placed.items())
    return any(on_path(path, own) and _held(path, own) for job, own in placements for path in job.paths)


def _range(job: Job, grain: int) -> tuple[int, int]:
    return -(-job.earliest // grain), job.latest // grain


def _delay(path: Path, starts: list[int]) -> int:
    """Delay from the release to the last bit at the last listener."""
    arrivals: list[list[int]] = []
    delay = 0
    for step, start in zip(path.steps, starts, strict=True):
        free, come = start, []
        for number, (wire, arrives) in enumerate(zip(step.wire, step.arrives, strict=True)):
            ready = 0 if step.parent is None else arrivals[step.parent][number] + step.processing
            begin = max(free, ready)
            free = begin + wire
            come.append(begin + arrives)
        arrivals.append(come)
        delay = max(delay, come[-1]) if step.listens else delay
    return delay
