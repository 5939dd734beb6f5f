"""When lists take turns: the begin of the first one at its base time, and each later change.

The class with the shortest windows sends small frames through its port while lists replace each other. The
Plan says which list is in force at each time, extended cycles included.

IEEE 802.1Q-2022, 8.6.9.1 and 8.6.9.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.conform import estimate
from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.libraries import numpy as np
from tsnbench.plan.gates import Period, Span, entries_of, gate_lists, in_turn, open_ns, spans_of_list
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.quantities import exact, share
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Gates, Port

OCTETS = 64
FRAME = OCTETS + PHY_OVERHEAD
BEFORE, BEHIND = 6, 6
"""Cycles that are looked at before and behind a change."""
OVERLOAD, MOST_LOAD = 1.5, 0.95
LONGEST_NS = 20 * 10**9


def ports(bench: Bench) -> list[Port]:
    """Ports whose gates have states before their list, or lists that replace it."""
    return [port for port in bench.ports if "gates" in port and _turns(port["gates"])]


def _periods(gates: Gates) -> list[Period]:
    return in_turn(gates, json.loads(_native.lists_in_force(json.dumps(gates), LONGEST_NS)))


def _turns(gates: Gates) -> list[tuple[str, Period]]:
    """Each period of a port's lists, with the test about its begin."""
    found = _periods(gates)
    return [
        ("gates.begin" if before.words == "before any list" else "gates.change", now)
        for before, now in pairwise(found)
    ]


@dataclass(frozen=True)
class Turns:
    """What one class of a port should do, from the first cycles before a change to those behind the last."""

    own: int
    periods: Sequence[Period]
    from_ns: int
    until_ns: int

    @property
    def begins(self) -> list[int]:
        """Of all periods but the first."""
        return [one.from_ns for one in self.periods if one.from_ns is not None and one.from_ns > self.from_ns]

    def spans(self) -> list[Span]:
        """The times in which the gate should be open; adjacent ones are one."""
        found: list[Span] = []
        for one in self.periods:
            begin = max(self.from_ns, one.from_ns if one.from_ns is not None else self.from_ns)
            end = min(self.until_ns, one.until_ns if one.until_ns is not None else self.until_ns)
            for opens, closes in _repeated(one, self.own, begin, end):
                if found and found[-1][1] >= opens:
                    opens = found.pop()[0]
                found.append((opens, closes))
        return found


def _repeated(one: Period, own: int, begin_ns: int, end_ns: int) -> Iterator[Span]:
    """The windows of a class in a time in which one list is in force."""
    cycle, base = one.gates["cycle_ns"], one.gates["base_time_ns"]
    spans = spans_of_list(entries_of(one.gates), own)
    at = begin_ns - (begin_ns - base) % cycle
    while at < end_ns:
        for opens, closes in spans:
            if at + closes > begin_ns and at + opens < end_ns:
                yield max(begin_ns, at + opens), min(end_ns, at + closes)
        at += cycle


def _of(port: Port) -> Turns | str:
    """The times that a stimulus shows, or why there are none."""
    gates = port["gates"]
    lists = gate_lists(gates)
    shares = {
        own: max(open_ns(one, own) / one["cycle_ns"] for one in lists) for own in set(port["pcp_to_class"])
    }
    able = {own: part for own, part in shares.items() if 0 < part < MOST_LOAD / OVERLOAD}
    begins = [one.from_ns or 0 for _, one in _turns(gates)]
    cycle = max(one["cycle_ns"] for one in lists)
    from_ns, until_ns = max(0, begins[0] - BEFORE * cycle), begins[-1] + BEHIND * cycle
    if not able:
        return f"no class is open for less than {share(MOST_LOAD / OVERLOAD)} of each cycle"
    if until_ns > LONGEST_NS:
        return f"the lists take turns for longer than {exact(LONGEST_NS)}"
    if begins[0] <= 0:
        return "the first list begins with the run: nothing is before it"
    return Turns(min(able, key=lambda own: (able[own], -own)), _periods(gates), from_ns, until_ns)


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Small frames of one class while lists take turns."""
    for port in ports(bench):
        testers, turns = bench.testers(port["name"]), _of(port)
        if testers is None or isinstance(turns, str):
            yield Unsent(port["name"], ALONE if testers is None else str(turns))
            continue
        if bench.settled_ns > turns.from_ns:
            yield Unsent(port["name"], f"clocks settle after the first turn, in {exact(bench.settled_ns)}")
            continue
        part = max(open_ns(one, turns.own) / one["cycle_ns"] for one in gate_lists(port["gates"]))
        wire = min(OVERLOAD * part * port["rate_bps"], MOST_LOAD * testers.rate_bps)
        stream = testers.stream(
            port["pcp_to_class"].index(turns.own),
            bench.vid(port["name"]),
            Periodic(period=round(FRAME * 8e9 / wire)),
            OCTETS,
            start=max(0, turns.from_ns - bench.settled_ns),
            stop=turns.until_ns - bench.settled_ns,
        )
        about = "small frames of one class while lists take turns"
        yield bench.stimulus(
            "gates-turns", port["name"], {"turns": stream}, stream.stop or 0, 20_000_000, about
        )


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """Openings and frames around each turn that are not those of the lists in force."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    kinds = {name for name, _ in _turns(port["gates"])}
    turns, frames = _of(port), seen.frames(number, "turns")
    for test in ("gates.begin", "gates.change"):
        if test not in kinds:
            yield Result(test, stimulus.port, "not-offered", "the scenario's port has no such turn")
        elif isinstance(turns, str) or len(frames) < BEFORE:
            yield undecided(test, stimulus.port, "too-few")
        elif error.own_ns is None:
            yield undecided(test, stimulus.port, "clocks")
        else:
            yield _judged(test, stimulus, (port, turns), frames, error)


def _judged(
    test: str, stimulus: Stimulus, what: tuple[Port, Turns], frames: estimate.Frames, error: Error
) -> Result:
    port, turns = what
    tolerance = error.tolerance_ns(error.own_ns or 0)
    frame_ns = FRAME * 8e9 / port["rate_bps"]
    own = [(kind, one.from_ns or 0) for kind, one in _turns(port["gates"])]
    spans = turns.spans()
    openings = np.array(
        [
            opens
            for (_, before), (opens, closes) in pairwise([(0, turns.from_ns), *spans])
            if closes - opens > frame_ns + tolerance and opens - before > 2 * frame_ns
        ]
    )
    gap_ns = estimate.GAP_OCTETS * 8e9 / port["rate_bps"]
    waited = estimate.after_idle(frames, gap_ns, 2 * error.apart_ns)
    # Only this stream is sent: its first frame found the wire idle, too.
    waited = np.concatenate([frames.begin[:1], waited])
    missed = [one for one in openings if np.abs(waited - one).min() > tolerance]
    strangers = [
        int(begin)
        for begin in frames.begin
        if begin < turns.until_ns and not any(a - tolerance <= begin < b + tolerance for a, b in spans)
    ]
    wrong = sorted([*map(int, missed), *strangers])
    # What is wrong belongs to the last turn before it, or to the first one.
    of = [_turn_of(at + tolerance, own) for at in wrong]
    mine = [at for at, kind in zip(wrong, of, strict=True) if kind == test]
    return Result(
        test,
        stimulus.port,
        "fail" if mine else "pass",
        _words(mine[0], missed, [at for kind, at in own if kind == test]) if mine else "",
        traffic_class=turns.own,
        found=Number(len(mine), "times", len(mine), len(mine)),
        limit=Number(0, "times", 0, 0),
        shown=f"{len(mine)} of {len(openings)}",
        wanted="0",
        frames=len(frames),
        estimates=len(openings),
    )


def _turn_of(at_ns: float, turns: Sequence[tuple[str, int]]) -> str:
    return next((kind for kind, begin in reversed(turns) if begin <= at_ns), turns[0][0])


def _words(at_ns: int, missed: Sequence[int], begins: Sequence[int]) -> str:
    """The first wrong time, counted from the turn before it."""
    begin = max((one for one in begins if one <= at_ns), default=begins[0])
    what = (
        "no waiting frame left at the opening"
        if at_ns in missed
        else "a frame left although its gate is closed"
    )
    side = "behind" if at_ns >= begin else "before"
    return f"{what} {exact(abs(at_ns - begin))} {side} the turn at {exact(begin)}"
