"""Gates: is the list active, does the port leave room at its ends, and where are its edges?

One class at a time sends more than its windows take, first with large frames, then with small ones. Frames
that found the wire idle then began at an opening of their gate, and the last end in a window is near its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench.conform import estimate
from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import FREE_PPM, Number, Result, undecided, verdict_of
from tsnbench.libraries import numpy as np
from tsnbench.plan.gates import entries_of, open_ns, open_spans
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.quantities import count, exact, share, time
from tsnbench.scenario.model import Poisson, Saturating, Stream

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus, Testers
    from tsnbench.conform.estimate import Cycle, Frames, Group
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.gates import Span
    from tsnbench.plan.types import GateCycle, Port

LARGE, SMALL = 1522, 64
"""Octets from destination address to FCS, with a VLAN tag."""
CYCLES, SMALL_CYCLES = 24, 12
"""In which a class sends."""
WARM_CYCLES = 3
"""Until frames wait at the end of each window."""
OVERLOAD = 5
"""How many times a window is offered, so that frames also wait where the device opens a longer one."""
MOST_LOAD = 0.95
"""Of the link: more is sent without random gaps."""
LEAST_OVERLOAD = 1.02
STEADY = 1.5
"""With less overload than this, random gaps would leave times in which no frame waits: then there are no
gaps. If no gate closes, frames without gaps never find the wire idle."""
LEAST_SHARE, LEAST_FRAMES = 0.75, 20
MANY_FRAMES = 200
"""If so many frames come out and none of them waited, no gate closed."""


def ports(bench: Bench) -> list[Port]:
    """The device's ports with a list, also with one that changes."""
    return [port for port in bench.ports if "gates" in port]


def windows(port: Port) -> dict[int, list[Span]]:
    """The windows of each class that frames can be in and whose gate opens and closes, from the cycle's
    begin."""
    entries = entries_of(port["gates"])
    found = ((own, open_spans(entries, own)) for own in sorted(set(port["pcp_to_class"]), reverse=True))
    return {own: spans for own, spans in found if spans}


@dataclass(frozen=True)
class Segment:
    """The time in which one class sends frames of one size."""

    stream: str
    own: int
    octets: int
    begin_ns: int
    end_ns: int
    next_ns: int
    """When its backlog is gone."""


def segments(port: Port, from_ns: int, load: Mapping[int, float]) -> list[Segment]:
    """The times of all classes and sizes, one after the other.

    Args:
        port: of the device.
        from_ns: the begin of the first one.
        load: by class, how many times its windows are offered.
    """
    cycle, found, at = port["gates"]["cycle_ns"], [], from_ns
    for own, spans in windows(port).items():
        shortest = min(end - begin for begin, end in spans) * port["rate_bps"] // (8 * 10**9)
        large = min(LARGE, shortest - 2 * PHY_OVERHEAD)
        if large < SMALL or load.get(own, 0) < LEAST_OVERLOAD:
            continue
        for octets, cycles in ((large, CYCLES), (SMALL, SMALL_CYCLES)):
            name = f"class-{own}-{'large' if cycles == CYCLES else 'small'}"
            end = at + cycles * cycle
            behind = end + _drain(port, own, octets, cycles, load[own]) * cycle
            found.append(Segment(name, own, octets, at, end, behind))
            at = behind
    return found


def _drain(port: Port, own: int, octets: int, cycles: int, load: float) -> int:
    """The cycles until the backlog of a class is gone."""
    frame_ns = (octets + PHY_OVERHEAD) * 8e9 / port["rate_bps"]
    sent = load * cycles * open_ns(port["gates"], own) / frame_ns
    a_cycle = sum(int((end - begin) / frame_ns) for begin, end in windows(port)[own])
    left = min(sent - cycles * a_cycle, port["classes"][own].get("limit_frames", sent))
    return int(max(left, 0) / max(a_cycle, 1)) + 3


def _loads(port: Port, testers: Testers) -> dict[int, float]:
    """By class, how many times its windows are offered: at most five times, and less than the link."""
    gates, found = port["gates"], {}
    for own in windows(port):
        part = open_ns(gates, own) / gates["cycle_ns"]
        wanted = OVERLOAD * part * port["rate_bps"]
        most = MOST_LOAD * testers.rate_bps
        if STEADY * part * port["rate_bps"] > most:
            most = testers.rate_bps
        found[own] = min(wanted, most) / (part * port["rate_bps"])
    return found


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """One stimulus for each port with a list that does not change."""
    for port in ports(bench):
        testers = bench.testers(port["name"])
        if testers is None:
            yield Unsent(port["name"], ALONE)
            continue
        if "changes" in port["gates"]:
            yield Unsent(
                port["name"], "the list is replaced by another one: gates.change tests it", "changing-list"
            )
            continue
        base = port["gates"]["base_time_ns"]
        load = _loads(port, testers)
        parts = segments(port, base if base <= port["gates"]["cycle_ns"] * CYCLES else 0, load)
        if not parts:
            yield Unsent(port["name"], _too_little(port, load))
            continue
        streams = {one.stream: _stream(one, port, testers, load, bench.vid(port["name"])) for one in parts}
        end, drain = parts[-1].end_ns, parts[-1].next_ns - parts[-1].end_ns
        about = "each class alone sends more than its windows take, with large and with small frames"
        yield bench.stimulus("gates", port["name"], streams, end, drain, about)


def _too_little(port: Port, load: Mapping[int, float]) -> str:
    """Why no class of a port can be tested."""
    if not load:
        return "no class that frames can be in has a gate that opens and closes"
    if max(load.values()) < LEAST_OVERLOAD:
        return "the tester's link is too slow to fill the windows"
    return "no window takes a frame of 64 octets"


def _stream(one: Segment, port: Port, testers: Testers, load: Mapping[int, float], vid: int | None) -> Stream:
    part = open_ns(port["gates"], one.own) / port["gates"]["cycle_ns"]
    wire = load[one.own] * part * port["rate_bps"]
    rate = int(wire * one.octets / (one.octets + PHY_OVERHEAD))
    pattern = Saturating() if wire > 1.001 * MOST_LOAD * testers.rate_bps else Poisson(rate=rate)
    return testers.stream(
        port["pcp_to_class"].index(one.own), vid, pattern, one.octets, start=one.begin_ns, stop=one.end_ns
    )


@dataclass(frozen=True)
class Class:
    """What one class of a port showed."""

    own: int
    large: Frames
    small: Frames
    spans: Sequence[Span]
    gates: GateCycle
    octet_ns: float
    error: Error

    @property
    def width_ns(self) -> int:
        """Stamps of equal times differ by at most this."""
        return 2 * self.error.apart_ns

    @property
    def frames(self) -> int:
        return len(self.large) + len(self.small)

    @cached_property
    def openings(self) -> np.ndarray:
        """Begins of frames that waited for an opening."""
        gap = estimate.GAP_OCTETS * self.octet_ns
        both = [estimate.after_idle(frames, gap, self.width_ns) for frames in (self.large, self.small)]
        return np.concatenate(both)

    @cached_property
    def cycle(self) -> Cycle | None:
        return estimate.cycle_of(self.openings, self.gates["cycle_ns"], self.width_ns)

    def groups(self, cycle_ns: float) -> list[Group]:
        """Openings, folded into one cycle that begins at the base time."""
        cycles = max(1.0, len(self.openings) / max(1, len(self.spans)))
        phases = (self.openings - self.gates["base_time_ns"]) % cycle_ns
        return estimate.groups(phases, cycle_ns, self.width_ns, estimate.LEAST_SHARE * cycles)


@dataclass(frozen=True)
class Shown:
    """What all classes of a port showed, and the cycle in which their times are folded."""

    port: str
    classes: Sequence[Class]
    error: Error

    @property
    def gates(self) -> GateCycle:
        return self.classes[0].gates

    @cached_property
    def shortest_ns(self) -> int:
        """The shortest window."""
        return min(end - begin for one in self.classes for begin, end in one.spans)

    @cached_property
    def synchronised(self) -> bool:
        """Whether the clocks are known well enough to tell one window from another."""
        own = self.error.own_ns
        return own is not None and 2 * own <= self.shortest_ns / 2

    @cached_property
    def longest(self) -> Cycle | None:
        """The cycle that most cycles determine."""
        found = [one.cycle for one in self.classes if one.cycle]
        return max(found, key=lambda one: one.cycles, default=None)

    @cached_property
    def cycle_ns(self) -> float:
        """The cycle of the list on the testers' clock."""
        if self.synchronised or self.longest is None:
            return self.gates["cycle_ns"]
        return self.longest.ns

    @cached_property
    def found(self) -> dict[int, list[float]]:
        """Openings of each class, in ns behind the base time."""
        return {one.own: [group.at for group in one.groups(self.cycle_ns)] for one in self.classes}

    @cached_property
    def planned(self) -> dict[int, list[float]]:
        return {one.own: [float(begin) for begin, _ in one.spans] for one in self.classes}

    @cached_property
    def shift(self) -> tuple[float, int]:
        """The shift of the list, and the number of openings that have it."""
        width = self.error.tolerance_ns(self.error.apart_ns)
        return estimate.common_shift(self.found, self.planned, self.cycle_ns, width)

    @property
    def estimates(self) -> int:
        return sum(len(one.openings) for one in self.classes)


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The results of all tests of this suite at one port.

    Args:
        bench: the device as it should be.
        stimulus: what was sent.
        seen: what came out.
        error: of the stamps.
    """
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    octet_ns = 8e9 / port["rate_bps"]
    classes = []
    for own, spans in windows(port).items():
        names = [f"class-{own}-{size}" for size in ("large", "small")]
        if names[0] in stimulus.streams:
            cycle = port["gates"]["cycle_ns"]
            starts = [stimulus.streams[name].start + WARM_CYCLES * cycle for name in names]
            large, small = (
                seen.frames(number, name).since(start) for name, start in zip(names, starts, strict=True)
            )
            classes.append(Class(own, large, small, spans, port["gates"], octet_ns, error))
    frames = sum(len(one.large) + len(one.small) for one in classes)
    yield from (
        replace(one, stimulus=stimulus.name, frames=frames)
        for one in results(Shown(stimulus.port, classes, error))
    )


def results(shown: Shown) -> Iterator[Result]:
    """The results of all tests, each as if those before it had passed."""
    for function in (active, guard, cycle, order, edge, entry, close):
        yield function(shown)


def active(shown: Shown) -> Result:
    """Whether frames obey some list: openings repeat after a cycle."""
    worst: Result | None = None
    for one in shown.classes:
        found = one.cycle
        have = found.share if found else 0.0
        times = found.times if found else 0
        limit = Number(LEAST_SHARE, "share", LEAST_SHARE, 1.0)
        result = Result(
            "gates.active",
            shown.port,
            "pass",
            traffic_class=one.own,
            found=Number(have, "share", have, have),
            limit=limit,
            shown=f"{round(have * times)} of {times}",
            wanted=f">= {share(LEAST_SHARE)}",
            estimates=times,
        )
        if len(one.openings) < LEAST_FRAMES and one.frames < MANY_FRAMES:
            sentence = f"class {one.own}: {count(one.frames)} frames came out, {len(one.openings)} waited"
            result = replace(result, verdict="not-decidable", reason="too-few", sentence=sentence)
        elif have < LEAST_SHARE or times < LEAST_FRAMES // 2:
            sentence = (
                f"class {one.own}: no gate ever closed; {len(one.openings)} of {count(one.frames)} frames "
                "found the wire idle, and their times do not repeat with the cycle"
            )
            result = replace(result, verdict="fail", sentence=sentence)
        if worst is None or _rank(result) > _rank(worst):
            worst = result
    return worst or undecided("gates.active", shown.port, "no-stimulus")


def _rank(result: Result) -> tuple[int, float]:
    """Failures first, then what was not decided, then the least share."""
    place = {"pass": 0, "not-decidable": 1, "fail": 2}.get(result.verdict, 0)
    return place, -(result.found.value if result.found else 0.0)


def guard(shown: Shown) -> Result:
    """Large frames on the wire when the gate closes, against the end that small frames show."""
    past, frames, most = 0, 0, 0.0
    for one in shown.classes:
        cycle_ns = one.cycle.ns if one.cycle else shown.cycle_ns
        openings = [group.at for group in one.groups(cycle_ns)]
        if not openings or not len(one.small):
            return undecided("gates.guard", shown.port, "too-few")
        origin = one.gates["base_time_ns"]
        latest = estimate.last_ends(one.small, openings, origin, cycle_ns)
        latest += int(one.small.wire[0]) + estimate.GAP_OCTETS * one.octet_ns + shown.error.apart_ns
        over = estimate.beyond(one.large, openings, latest, origin, cycle_ns)
        past += int((over > 0).sum())
        frames += len(over)
        most = max(most, float(over.max(initial=0.0)))
    result = Result(
        "gates.guard",
        shown.port,
        "fail" if past else "pass",
        found=Number(past, "frames", past, past),
        limit=Number(0, "frames", 0, 0),
        shown=f"{past} of {count(frames)} past",
        wanted="0",
        estimates=frames,
    )
    if not past:
        return result
    return replace(
        result, sentence=f"frames begin although they do not fit: the last one ends {time(most)} late"
    )


def cycle(shown: Shown) -> Result:
    """The cycle, from openings that are many cycles apart."""
    found, wanted = shown.longest, shown.gates["cycle_ns"]
    if found is None:
        return undecided("gates.cycle", shown.port, "too-few")
    clock = shown.error.clock_ns
    rate = wanted * FREE_PPM / 1e6 if clock is None else 2 * clock / found.cycles
    error = shown.error.apart_ns / found.cycles + rate
    tolerance = max(shown.error.tolerance_ns(error), 2 * error)
    off = found.ns - wanted
    verdict = verdict_of(off, off, tolerance, error)
    words = (
        "" if verdict == "pass" else f"the cycle is {exact(abs(off))} {'longer' if off > 0 else 'shorter'}"
    )
    return Result(
        "gates.cycle",
        shown.port,
        verdict,
        words,
        shown.error.larger if verdict == "not-decidable" else None,
        found=Number(found.ns, "ns", found.ns - error, found.ns + error),
        limit=Number(wanted, "ns", wanted - tolerance, wanted + tolerance),
        shown=exact(round(found.ns, 1)),
        wanted=f"{exact(wanted)} +-{exact(round(tolerance, 1))}",
        estimates=found.times,
    )


def order(shown: Shown) -> Result:
    """Whether every window of the list was found once, near its time."""
    shortest = shown.shortest_ns
    shift, _ = shown.shift
    result = Result(
        "gates.order", shown.port, "pass", shown="as planned", wanted="the list", estimates=shown.estimates
    )
    for one in shown.classes:
        moved = [begin + shift for begin in shown.planned[one.own]]
        near = estimate.deviations(shown.found[one.own], moved, shown.cycle_ns, shortest / 2)
        if near is None or (shown.synchronised and abs(shift) > shortest / 2):
            words = [
                ", ".join(exact(round(at)) for at in times) or "never"
                for times in (shown.found[one.own], shown.planned[one.own])
            ]
            sentence = f"class {one.own} opens at {words[0]} of the cycle, and in the list at {words[1]}"
            return replace(
                result, verdict="fail", traffic_class=one.own, shown="other windows", sentence=sentence
            )
    if not shown.synchronised:
        sentence = (
            "the windows follow each other as in the list; their times need clocks that are synchronised"
        )
        return replace(result, verdict="not-decidable", reason="clocks", sentence=sentence)
    return result


def edge(shown: Shown) -> Result:
    """The shift of the whole list against its base time."""
    error = shown.error.own_ns
    if error is None or not shown.synchronised:
        return undecided("gates.edge", shown.port, "clocks")
    shift, agree = shown.shift
    tolerance = shown.error.tolerance_ns(error)
    verdict = verdict_of(shift, shift, tolerance, error)
    sentence = ""
    if verdict == "fail":
        late = "late" if shift > 0 else "early"
        sentence = (
            f"the list runs {exact(round(abs(shift)))} {late} in every cycle: base time, "
            "or the clock of the device"
        )
    elif verdict == "not-decidable":
        sentence = f"stamps and clocks would have to be exact to {exact(round(abs(abs(shift) - tolerance)))}"
    return Result(
        "gates.edge",
        shown.port,
        verdict,
        sentence,
        shown.error.larger if verdict == "not-decidable" else None,
        found=Number(shift, "ns", shift - error, shift + error),
        limit=Number(0, "ns", -tolerance, tolerance),
        shown=f"{'+' if round(shift) > 0 else ''}{exact(round(shift))}",
        wanted=f"0 +-{exact(round(tolerance))}",
        estimates=shown.estimates,
        tolerance={"openings": agree},
    )


def entry(shown: Shown) -> Result:
    """The opening that is farthest from the list, after the shift of the list."""
    shift, _ = shown.shift
    worst, where = 0.0, shown.classes[0].own
    for one in shown.classes:
        moved = [begin + shift for begin in shown.planned[one.own]]
        for off in estimate.deviations(shown.found[one.own], moved, shown.cycle_ns, shown.cycle_ns) or []:
            if abs(off) >= abs(worst):
                worst, where = off, one.own
    words = f"class {where} opens {_moved(worst)} than in the list"
    return _within(shown, "gates.entry", worst, worst, where, words)


def close(shown: Shown) -> Result:
    """The end of a window, which lies up to one small frame and its gap behind the last end of one."""
    shift, _ = shown.shift
    worst, least, high, where = -1.0, 0.0, 0.0, shown.classes[0].own
    for one in shown.classes:
        begins = [float(begin) for begin, _ in one.spans]
        ends = estimate.last_ends(one.small, begins, one.gates["base_time_ns"] + shift, shown.cycle_ns)
        blind = (float(one.small.wire[0]) if len(one.small) else 0.0) + estimate.GAP_OCTETS * one.octet_ns
        for end, (begin, until) in zip(ends, one.spans, strict=True):
            off = float(end) - (until - begin)
            if not np.isfinite(off):
                return undecided("gates.close", shown.port, "too-few")
            distance = max(off, -(off + blind), 0.0)
            if distance > worst:
                worst, least, high, where = distance, off, off + blind, one.own
    words = f"class {where} closes {_moved(worst if least > 0 else -worst)} than in the list"
    return _within(shown, "gates.close", least, high, where, words)


def _moved(ns: float) -> str:
    return f"{exact(round(abs(ns)))} {'later' if ns > 0 else 'earlier'}"


def _within(shown: Shown, test: str, low: float, high: float, own: int, words: str) -> Result:
    """The result of a time that should be 0 and lies in [low, high]; the clock does not matter."""
    error = float(2 * shown.error.apart_ns)
    tolerance = shown.error.tolerance_ns(error)
    verdict = verdict_of(low, high, tolerance, error)
    span = exact(round(low)) if low == high else f"{exact(round(low))} to {exact(round(high))}"
    return Result(
        test,
        shown.port,
        verdict,
        "" if verdict == "pass" else words,
        "stamps" if verdict == "not-decidable" else None,
        own,
        found=Number(min(low, high, key=abs), "ns", low - error, high + error),
        limit=Number(0, "ns", -tolerance, tolerance),
        shown=span,
        wanted=f"0 +-{exact(round(tolerance))}",
        estimates=shown.estimates,
    )
