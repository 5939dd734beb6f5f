"""Hints for a scenario without a schedule: each change is tried by planning with it before it is printed.

Tries are few and use the first engine alone; they are counted, not timed, so that a scenario always has the
same hints. Only a service, whose other clients wait, limits their time: :func:`patience`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf, lcm
from time import thread_time
from typing import TYPE_CHECKING, Literal, TypeVar

from tsnbench import _native
from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.scheduling.engines import name_paths
from tsnbench.planning.scheduling.exact.budget import Answer
from tsnbench.planning.scheduling.exact.engine import solve
from tsnbench.quantities import some
from tsnbench.scenario import model
from tsnbench.scenario.units import DURATION, RATE

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Found, Problem, Reason, Stream, TreeEntry

Result = TypeVar("Result")
TRIES = 40
"""Most tries for one scenario."""
GROUPS = 12
"""Number of the scenario's streams whose periods are changed."""
LARGEST = 200
"""Most streams of a problem that is planned again."""
SAID = 3
"""Most changes of one hint."""
RATES = tuple(mega * 10**6 for mega in (10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 100_000))
MORE_TIME = 10_000_000_000
"""Time of the exact engine in a hint, ns, if its limit was lower and was reached."""


_PATIENCE_S: ContextVar[float] = ContextVar("patience", default=inf)
"""The longest time for the hints of one scenario."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Within, no change is tried for hints after so many seconds; 0: none. A try that was begun ends."""
    before = _PATIENCE_S.set(seconds)
    try:
        yield
    finally:
        _PATIENCE_S.reset(before)


@dataclass(frozen=True)
class Change:
    """One change of a scenario, and of its problem."""

    words: str
    """``streams.cam.requires.delay: 300 us``."""
    make: Callable[[Problem], None]
    more: str = ""
    """A group of changes of increasing size, of which the first that helps is enough."""


UNCHANGED = Change("", lambda problem: None)


@dataclass
class Hints:
    """Changes that were tried for the reasons of one scenario."""

    draft: Draft
    flows: Sequence[Flow]
    queues: Sequence[int]
    problem: Problem
    left: int = TRIES
    known: dict[str, bool] = field(default_factory=dict)
    alone: Sequence[int] = ()
    """Streams that are impossible alone: changes that help the others are tried without them."""
    end: float = field(default_factory=lambda: thread_time() + _PATIENCE_S.get())
    """No try begins that would end later than this, if it took as long as the longest one before."""
    longest: float = 0

    def of(self, reason: Reason) -> str | None:
        """A change that helps against a reason; None if no try helps."""
        about = streams_of(reason)
        if reason["kind"] == "unknown":
            return self._more_time()
        apart = set() if set(about) <= set(self.alone) else set(self.alone)
        everything = [number for number in range(len(self.flows)) if number not in apart]
        # To streams that have a schedule without the others, no change gives one.
        stuck = 0 < len(about) < len(self.flows) and not self._works(UNCHANGED, about)
        whole: list[str] = []
        part: list[str] = []
        enough: set[str] = set()
        for change in self._changes(reason, about):
            if len(whole) >= SAID:
                break
            if change.more and change.more in enough:
                continue
            if self._works(change, everything):
                whole.append(change.words)
                enough.add(change.more)
            elif stuck and len(part) < SAID and self._works(change, about):
                part.append(change.words)
                enough.add(change.more)
        if whole:
            names = sorted({self.flows[number].group for number in apart})
            beside = f"without {some(names)} " if names else ""
            return f"{beside}there is a schedule with {' or with '.join(whole)}"
        if part:
            who = "this stream alone has" if len(about) == 1 else "these streams alone have"
            return f"{who} a schedule with {' or with '.join(part)}"
        return None

    def works_without(self, numbers: Sequence[int]) -> bool:
        """Whether all other streams have a schedule: tried, however many they are."""
        rest = [number for number in range(len(self.flows)) if number not in set(numbers)]
        part: Problem = {**self.problem, "streams": [self.problem["streams"][number] for number in rest]}
        return self._is_in_time() and self._timed(_planned, _text(part))

    def _is_in_time(self) -> bool:
        return thread_time() + self.longest < self.end

    def _timed(self, tried: Callable[[str], Result], text: str) -> Result:
        begin = thread_time()
        found = tried(text)
        self.longest = max(self.longest, thread_time() - begin)
        return found

    def _works(self, change: Change, numbers: Sequence[int]) -> bool:
        if self.left <= 0 or len(numbers) > LARGEST or not self._is_in_time():
            return False
        changed = _copied(self.problem)
        change.make(changed)
        changed["streams"] = [changed["streams"][number] for number in numbers]
        text = _text(changed)
        if text not in self.known:
            self.left -= 1
            self.known[text] = self._timed(_planned, text)
        return self.known[text]

    def _changes(self, reason: Reason, about: Sequence[int]) -> Iterator[Change]:
        kind = reason["kind"]
        groups = list(dict.fromkeys(self.flows[number].group for number in about))
        if kind == "deadline":
            yield self._deadline(groups[0], -(-reason["smallest_ps"] // 1_000))
        if kind == "jitter":
            limit = -(-(reason["spread_ps"] + reason["margins_ps"]) // 1_000)
            yield self._set(groups[0], ["jitter"], limit, "jitter_ns")
        if kind in ("pair", "together", "period", "link", "gates"):
            yield from self._periods(reason, groups)
        if kind in ("conflict", "impossible", "without"):
            yield from self._another_queue()
            yield from self._releases(groups)
            yield from self._deadlines(groups)
        if kind in ("deadline", "pair", "together", "period", "link", "conflict", "impossible"):
            yield from self._rates(reason, about)

    def _numbers(self, group: str) -> list[int]:
        return [number for number, flow in enumerate(self.flows) if flow.group == group]

    def _set(
        self, group: str, names: Sequence[str], ns: int, key: Literal["deadline_ns", "jitter_ns"]
    ) -> Change:
        numbers = self._numbers(group)

        def make(problem: Problem) -> None:
            for number in numbers:
                problem["streams"][number][key] = ns

        words = [f"streams.{group}.requires.{name}: {DURATION.text(ns)}" for name in names]
        return Change(" and ".join(words), make)

    def _deadline(self, group: str, ns: int) -> Change:
        own = self.flows[self._numbers(group)[0]].stream.requires
        limits = {"delay": own.delay, "delay from release": own.release_delay}
        keys = [key for key, limit in limits.items() if limit is not None and limit < ns]
        return self._set(group, keys or ["delay"], ns, "deadline_ns")

    def _deadlines(self, groups: Sequence[str]) -> Iterator[Change]:
        """A later deadline of one of them: the least that helps, if the whole period helps."""
        for group in groups:
            numbers = self._numbers(group)
            own = [self.problem["streams"][number] for number in numbers]
            if all(stream["deadline_ns"] >= stream["period_ns"] for stream in own):
                continue
            widest = _copied(self.problem)
            for number in numbers:
                widest["streams"][number]["deadline_ns"] = own[0]["period_ns"]
            found = self._found(widest)
            if found is None:
                continue
            margin = max(link["margin_ps"] for link in self.problem["links"])
            every = found["outcome"]["placed"]
            placed = [at["delay_ps"] + margin for number in numbers if (at := every[number])]
            yield self._deadline(group, max(own[0]["deadline_ns"], -(-max(placed) // 1_000)))

    def _found(self, problem: Problem) -> Found | None:
        if self.left <= 0 or len(problem["streams"]) > LARGEST or not self._is_in_time():
            return None
        self.left -= 1
        return self._timed(_schedule, _text(problem))

    def _releases(self, groups: Sequence[str]) -> Iterator[Change]:
        """Releases that are left to the planner."""
        bound = []
        for group in groups:
            stream = self.flows[self._numbers(group)[0]].stream
            assert isinstance(stream.pattern, model.Periodic)
            if stream.release is not None or stream.pattern.offset:
                bound.append((group, "release" if stream.release is not None else "offset"))

        def free(some: Sequence[tuple[str, str]]) -> Change:
            numbers = [number for group, _ in some for number in self._numbers(group)]

            def make(problem: Problem) -> None:
                for number in numbers:
                    stream = problem["streams"][number]
                    stream["earliest_ns"], stream["latest_ns"] = 0, stream["period_ns"] - 1

            names = " and ".join(f"streams.{group}.{key}" for group, key in some)
            return Change(f"{names} left out", make, "release")

        for one in bound:
            yield free([one])
        if len(bound) > 1:
            yield free(bound)

    def _another_queue(self) -> Iterator[Change]:
        """One more PCP, with a class that no other stream has."""
        links = {hop.port for flow in self.flows for hop in flow.route}
        taken = set(self.queues) | {f.stream.pcp for f in self.draft.flows if not f.stream.scheduled}
        if any(flow.stream.vid is None for flow in self.flows):
            return
        for pcp in (7, 6, 5, 4, 3, 2, 1):
            if pcp in taken:
                continue
            classes = [self.draft.ports[link].pcp_to_class for link in links]
            if any(own[pcp] in {own[other] for other in taken} for own in classes):
                continue

            def make(problem: Problem) -> None:
                for link in problem["links"]:
                    link["queues"] = len(self.queues) + 1
                for stream in problem["streams"]:
                    stream.pop("queue", None)

            offered = sorted([*self.queues, pcp], reverse=True)
            if self.draft.scenario.schedule.pcps:
                offered = [*self.queues, pcp]
            yield Change(f"schedule.pcps: {offered}", make)
            return

    def _periods(self, reason: Reason, groups: Sequence[str]) -> Iterator[Change]:
        """Longer periods that are multiples of a shorter one."""
        if reason["kind"] == "period":
            step = self.problem["granularity_ns"]
            needs = -(-reason["needs_ps"] // 1_000 // step) * step
            yield self._period({groups[0]: needs})
            return
        some = list(groups or dict.fromkeys(flow.group for flow in self.flows))[:GROUPS]
        own = {group: self._period_of(group) for group in some}
        rounded = [
            {group: -(-period // base) * base for group, period in own.items() if period > base}
            for base in sorted(set(own.values()))
        ]
        common = [
            {group: lcm(period, other)}
            for group, period in own.items()
            for other in own.values()
            if lcm(period, other) <= 10 * max(period, other)
        ]
        tried = []
        for longer in (*rounded, *common):
            changed = {group: period for group, period in longer.items() if period != own[group]}
            if changed and changed not in tried:
                tried.append(changed)
                yield self._period(changed)

    def _period_of(self, group: str) -> int:
        period: int = self.problem["streams"][self._numbers(group)[0]]["period_ns"]
        return period

    def _period(self, periods: Mapping[str, int]) -> Change:
        def make(problem: Problem) -> None:
            for group, period in periods.items():
                for number in self._numbers(group):
                    stream = problem["streams"][number]
                    flow = self.flows[number]
                    if flow.stream.requires.least_delay is None:
                        stream["deadline_ns"] = period
                    if stream["latest_ns"] - stream["earliest_ns"] == stream["period_ns"] - 1:
                        stream["latest_ns"] = stream["earliest_ns"] + period - 1
                    elif flow.stream.release is None and isinstance(flow.stream.pattern, model.Periodic):
                        first = (flow.start_ns + (flow.stream.pattern.offset or 0)) % period
                        stream["earliest_ns"] = stream["latest_ns"] = first
                    stream["period_ns"] = period

        words = (f"streams.{group}.period: {DURATION.text(period)}" for group, period in periods.items())
        return Change(" and ".join(words), make)

    def _rates(self, reason: Reason, about: Sequence[int]) -> Iterator[Change]:
        """A faster link: the one that a reason names, or all equally slow ones on the paths of its
        streams."""
        links = (
            {reason["link"]}
            if "link" in reason
            else {hop.port for number in about for hop in self.flows[number].route}
        )
        if not links:
            return
        slowest = min(self.problem["links"][link]["rate_bps"] for link in links)
        links = {link for link in links if self.problem["links"][link]["rate_bps"] == slowest}
        # Links are full duplex: both directions have one rate.
        links |= {self.draft.ports[link].peer for link in links}
        names = [self.draft.ports[link].name for link in sorted(links)]
        forth = [
            name
            for name, link in zip(names, sorted(links), strict=True)
            if link < self.draft.ports[link].peer
        ]
        for rate in RATES:
            if rate <= slowest:
                continue

            def make(problem: Problem, rate: int = rate) -> None:
                for link in links:
                    problem["links"][link]["rate_bps"] = rate

            cables = ", ".join(name.replace(" -> ", " -- ") for name in forth)
            yield Change(f"{RATE.text(rate)} on {cables}", make, "rate")

    def _more_time(self) -> str | None:
        """More time for the exact engine, if it had little."""
        wanted = self.draft.scenario.schedule.time
        if wanted >= MORE_TIME or len(self.flows) > LARGEST or thread_time() + MORE_TIME / 1e9 > self.end:
            return None
        text = json.dumps(self.problem)
        found: Found = json.loads(_native.schedule(text, "{}"))
        name_paths(self.problem, found)
        outcome = solve(self.problem, found["outcome"]["placed"], MORE_TIME / 1e9)
        if outcome.answer is Answer.FOUND:
            return f"there is a schedule with schedule.time: {DURATION.text(MORE_TIME)}"
        if outcome.answer is Answer.IMPOSSIBLE:
            return f"with schedule.time: {DURATION.text(MORE_TIME)} it is proved that there is none"
        return None


def streams_of(reason: Reason) -> list[int]:
    """The streams that a reason names."""
    found = [reason["stream"]] if "stream" in reason else []
    for one in reason.get("streams", ()):
        found.append(one if isinstance(one, int) else one["stream"])
    return sorted(set(found))


def _copied(problem: Problem) -> Problem:
    """A copy for changes of the values of streams and links; what these hold is shared."""
    streams, links = problem["streams"], problem["links"]
    return {**problem, "streams": [own.copy() for own in streams], "links": [own.copy() for own in links]}


def _text(problem: Problem) -> str:
    """A problem as JSON, without the links and nodes that no stream passes: most of a large network."""
    trees = [stream.get("tree") for stream in problem["streams"]]
    if any(tree is None for tree in trees):
        return _native.compact(problem)
    passed = {_link(entry) for tree in trees if tree for entry in tree}
    place = {number: place for place, number in enumerate(sorted(passed))}
    links = [problem["links"][number] for number in place]
    ends = {end for link in links for end in (link["from"], link["to"])}
    for stream in problem["streams"]:
        ends.update((stream["talker"], *stream["listeners"]))
    node = {number: place for place, number in enumerate(sorted(ends))}
    streams: list[Stream] = [
        {
            **stream,
            "talker": node[stream["talker"]],
            "listeners": [node[listener] for listener in stream["listeners"]],
            "tree": [_renumbered(entry, place) for entry in tree or ()],  # type: ignore[typeddict-item]
        }
        for stream, tree in zip(problem["streams"], trees, strict=True)
    ]
    part: Problem = {
        **problem,
        "nodes": [problem["nodes"][number] for number in node],
        "links": [{**link, "from": node[link["from"]], "to": node[link["to"]]} for link in links],
        "streams": streams,
    }
    return _native.compact(part)


def _link(entry: TreeEntry | int) -> int:
    return entry if isinstance(entry, int) else entry["link"]


def _renumbered(entry: TreeEntry | int, place: Mapping[int, int]) -> TreeEntry | int:
    return place[entry] if isinstance(entry, int) else {**entry, "link": place[entry["link"]]}


def _planned(text: str) -> bool:
    return _schedule(text) is not None


def _schedule(text: str) -> Found | None:
    """The schedule of first fit for a problem; None if there is none for all streams."""
    try:
        for effort in ({}, {"share": True}):
            found: Found = json.loads(_native.schedule(text, json.dumps(effort)))
            if not found["reasons"]:
                return found
    except ValueError:
        pass
    return None
