"""Ports of scheduled streams with a gate control list of their own: frames are placed in the time in which
their classes are open and no other class with traffic is.

The rest of the time is taken by streams that never send, one for each span, at fixed times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd
from typing import TYPE_CHECKING

from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.planning.draft import Draft, Flow, Gates, Port
from tsnbench.planning.shaping.gates import read_gates
from tsnbench.planning.topology.ptp import ports_with_messages
from tsnbench.quantities import some, time
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Limits, Problem, Stream

INTER_FRAME_GAP = 12
"""Octets."""
MOST_OCTETS = 1 << 16
"""Of a frame in ``crates/schedule``."""
MOST_DEADLINE_NS = 10**9
WRITTEN: Limits = {
    "entries": 1 << 16,
    "shortest_interval_ns": 1,
    "granularity_ns": 1,
    "longest_cycle_ns": 10**9,
    "waiting": False,
}
MOST_NAMED = 12


@dataclass(frozen=True)
class Written:
    """A list, and the spans in which scheduled frames may not pass: begin and end, ns from the begin of a
    cycle."""

    port: Port
    classes: tuple[int, ...]
    gates: Gates
    closed: tuple[tuple[int, int], ...]

    @property
    def free_ns(self) -> int:
        """The time of a cycle in which scheduled frames may pass."""
        return self.gates.cycle_ns - sum(end - begin for begin, end in self.closed)

    def longest_ns(self, period: int) -> int:
        """The longest span in which a frame of each period may pass. Period and cycle repeat together: all
        that counts is where in their greatest common divisor a frame is."""
        common = gcd(period, self.gates.cycle_ns)
        folded = sorted((begin % common, begin % common + end - begin) for begin, end in self.closed)
        if not folded:
            return common
        longest, until = 0, max(end for _, end in folded) - common
        for begin, end in folded:
            longest, until = max(longest, begin - until), max(until, end)
        return longest


def unfit(port: Port) -> str | None:
    """Why scheduled streams cannot pass a port with such gates; None if they can, or if there are none."""
    gates = port.shaper.gates
    if gates is None:
        return None
    if isinstance(gates, model.Planned):
        return "to plan for windows"
    if isinstance(gates, model.Follow):
        return "that follow those of another port"
    if gates.changes:
        return "that change"
    if gates.before is not None and gates.base_time > 0:
        return "that begin late"
    if not gates.guard:
        return "without a guard"
    return "that hold frames" if any(entry.mac for entry in gates.entries) else None


def written_gates(draft: Draft, flows: Sequence[Flow], queues: Sequence[int]) -> list[Written]:
    """The lists of ports that scheduled frames may pass."""
    passed = {hop.port for flow in flows for hop in flow.route}
    if draft.scenario.schedule.ways == "free":
        passed = {port.number for port in draft.ports}
    gptp = draft.scenario.clocks.gptp if draft.scenario.clocks else None
    found = []
    for port in (draft.ports[number] for number in sorted(passed)):
        if not isinstance(port.shaper.gates, model.Gates):
            continue
        gates = read_gates(draft, port, port.shaper.gates, f"shapers.{port.name}.gates")
        if gates is None:
            continue
        pcps = _pcps(draft, flows, port) if not draft.scenario.schedule.pcps else set(queues)
        classes = {port.pcp_to_class[pcp] for pcp in pcps or queues}
        plain = [flow for flow in draft.flows if not flow.stream.scheduled]
        others = {port.pcp_to_class[pcp] for pcp in _pcps(draft, plain, port)}
        if gptp is not None and port.number in ports_with_messages(draft, gptp):
            others.add(port.pcp_to_class[gptp.pcp])
        closed = list(_closed(gates, classes, others - classes))
        if len(closed) > 1 and closed[0][0] == 0 and closed[-1][1] == gates.cycle_ns:
            # One span across the begin of a cycle.
            closed[-1] = closed[-1][0], gates.cycle_ns + closed.pop(0)[1]
        found.append(Written(port, tuple(sorted(classes)), gates, tuple(closed)))
    return found


def _pcps(draft: Draft, flows: Sequence[Flow], port: Port) -> set[int]:
    """The priorities with which frames of some flows leave by a port."""
    return {
        pcp
        for flow in flows
        for hop, pcp in zip(flow.route, draft.priorities(flow), strict=True)
        if hop.port == port.number
    }


def _closed(gates: Gates, classes: Collection[int], others: Collection[int]) -> Iterator[tuple[int, int]]:
    """The spans of a cycle in which some of these classes are closed or others are open."""
    at, begin = 0, None
    for mask, interval in gates.entries:
        free = all(mask >> one & 1 for one in classes) and not any(mask >> one & 1 for one in others)
        if not free and begin is None:
            begin = at
        elif free and begin is not None:
            yield begin, at
            begin = None
        at += interval
    if begin is not None:
        yield begin, at


def with_written_gates(problem: Problem, lists: Sequence[Written]) -> Problem:
    """The problem with streams behind its own that take the time in which frames may not pass."""
    if not lists:
        return problem
    links = [*problem["links"]]
    taken: list[Stream] = []
    for own in lists:
        number = own.port.number
        # Limits of planned lists do not count, and no gate closes for a frame that waits.
        links[number] = {**links[number], "limits": WRITTEN}
        taken += [_taken(problem, own, begin, end) for begin, end in own.closed]
    return {**problem, "links": links, "streams": [*problem["streams"], *taken]}


def _taken(problem: Problem, own: Written, begin: int, end: int) -> Stream:
    """The stream for one span. A scheduled frame keeps an inter-frame gap free before it, and its gate is
    open until its last bit: so the span takes its time later by a gap. No less is taken than whole octets.
    """
    link, cycle, base = problem["links"][own.port.number], own.gates.cycle_ns, own.gates.base_time_ns
    octet = Fraction(8 * 10**12, link["rate_bps"])
    step, margin = 1_000 * problem["granularity_ns"], link["margin_ps"]
    gap = octet * INTER_FRAME_GAP
    first = ((base + begin) * 1_000 + gap + margin) // step * step
    octets = max(1 + PHY_OVERHEAD, ceil(((base + end) * 1_000 + gap - margin - first) / octet))
    count = -(-octets // MOST_OCTETS)
    sizes = [octets // count - PHY_OVERHEAD] * (count - 1)
    offset = int(first // 1_000 % cycle)
    return {
        "talker": link["from"],
        "listeners": [link["to"]],
        "period_ns": cycle,
        "frames": [*sizes, octets - count * PHY_OVERHEAD - sum(sizes)],
        "deadline_ns": MOST_DEADLINE_NS,
        "earliest_ns": offset,
        "latest_ns": offset,
        "queue": 0,
        "tree": [own.port.number],
    }


def refuse(draft: Draft, flows: Sequence[Flow], lists: Sequence[Written], problem: Problem) -> None:
    """Reports lists in which streams have no place although they have one without lists."""
    passing = {
        own.port.number: [
            (flow, stream)
            for flow, stream in zip(flows, problem["streams"], strict=True)
            if any(hop.port == own.port.number for hop in flow.route)
        ]
        for own in lists
    }
    lists = [own for own in lists if passing[own.port.number]]
    short = [_too_short(own, passing[own.port.number], problem) for own in lists]
    for own, found in zip(lists, short, strict=True):
        if found is None and any(short):
            continue
        groups = list(dict.fromkeys(flow.group for flow, _ in passing[own.port.number]))
        alone = f"{_named(own)} may send and no other traffic"
        room = f"{time(own.free_ns)} in {time(own.gates.cycle_ns)} in which {alone}"
        expected, had = found or (
            f"a place for {some(groups, MOST_NAMED)}, without a wait there",
            f"none in the {room}",
        )
        hint = "leave gates out, and they are planned"
        draft.problem(f"shapers.{own.port.name}.gates", expected, had, hint)


def _too_short(
    own: Written, passing: Sequence[tuple[Flow, Stream]], problem: Problem
) -> tuple[str, str] | None:
    """What the frames of a stream need and what the list has at most, if no span is as long."""
    link, cycle = problem["links"][own.port.number], own.gates.cycle_ns
    for flow, stream in passing:
        octets = sum(size + PHY_OVERHEAD for size in stream["frames"])
        needs = ceil(Fraction(8 * 10**9 * octets, link["rate_bps"]) + Fraction(2 * link["margin_ps"], 1_000))
        longest = own.longest_ns(stream["period_ns"])
        if needs > longest:
            alone = f"in which {_named(own)} may send and no other traffic"
            each = f", in each period of {time(stream['period_ns'])} and cycle of {time(cycle)}"
            return f"{time(needs)} for the frames of {flow.group} and the gap before them", (
                f"{time(longest)} at most {alone}{each}"
            )
    return None


def _named(own: Written) -> str:
    numbers = [str(one) for one in own.classes]
    return f"class {numbers[0]}" if len(numbers) == 1 else f"classes {some(numbers, MOST_NAMED)}"
