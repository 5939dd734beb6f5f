"""Windows per class from the requirements of streams, at the ports whose gates are to be planned.

IEEE 802.1Q-2022, 8.6.8.4; EnGINE, Section VI-A4. Several cycles and forwarding rules may meet every
requirement; the plan chooses the one that leaves most to the other classes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from math import gcd, lcm

from tsnbench import quantities
from tsnbench.plan.streams import ptp_traffic
from tsnbench.planning.draft import Draft, Flow, Gates, Port
from tsnbench.planning.topology.devices import limited, long_enough, strictest
from tsnbench.planning.topology.stages import check_scheduled
from tsnbench.planning.windows.demand import wire
from tsnbench.planning.windows.diagnosis import (
    Violation,
    left_to_rest,
    needs_window,
    report_too_full,
    report_violations,
    violations,
)
from tsnbench.planning.windows.gate_list import entries_of, spans_of_rest
from tsnbench.planning.windows.propagation import FORWARDING, Demands, Outcome, Queue, lay_out, ports_of
from tsnbench.planning.windows.sizing import Window
from tsnbench.scenario import model
from tsnbench.scenario.part import Part

MOST_CYCLES = 24
MOST_IN_ALL = 400
"""Most data units of all flows in a cycle that is examined."""


def plan_windows(draft: Draft) -> None:
    """Fills ``gates`` of the ports whose gates are to be planned."""
    ports = [port for port in draft.ports if isinstance(port.shaper.gates, model.Planned)]
    if not ports:
        return
    for port in ports:
        check_scheduled(draft, port, f"shapers.{port.name}.gates", "planned windows")
    demands = _demands(draft, ports)
    if demands is None or draft.problems:
        return
    tried: list[tuple[tuple[int, ...], list[Violation], Outcome]] = []
    best: tuple[tuple[bool, Fraction, int, int], Outcome] | None = None
    for cycle in _cycles(draft, demands):
        for place, forwarding in enumerate(FORWARDING):
            outcome = lay_out(draft, demands, cycle, forwarding)
            if outcome is None:
                break
            wrong = violations(draft, outcome)
            if wrong:
                tried.append(((len(outcome.full), len(wrong)), wrong, outcome))
                continue
            score = (_in_time(draft, outcome), _left(draft, outcome), cycle, -place)
            if best is None or score > best[0]:
                best = (score, outcome)
    if best is None:
        _refuse(draft, tried)
        return
    for number, windows in ports_of(best[1].windows).items():
        _open(draft, draft.ports[number], windows, best[1].cycle_ns)


def _refuse(draft: Draft, tried: list[tuple[tuple[int, ...], list[Violation], Outcome]]) -> None:
    if not tried:
        own = strictest(draft, draft.scenario.windows)
        draft.problem(
            "windows.cycle",
            f"a cycle of at most {quantities.time(own.longest_cycle)} that fits the periods",
            "none in which all data units can be checked",
            "write windows: {cycle: 1 ms}, or periods that are multiples of one another",
        )
        return
    _, wrong, outcome = min(tried, key=lambda entry: entry[0])
    report_violations(draft, wrong, outcome)


def _demands(draft: Draft, ports: list[Port]) -> Demands | None:
    """The demands; classes with a stream that requires a delay or jitter get windows of their own."""
    numbers = {port.number for port in ports}
    windowed: set[Queue] = set()
    crossing: dict[Queue, list[tuple[int, int]]] = defaultdict(list)
    for number, flow in enumerate(draft.flows):
        for hop, (entry, pcp) in enumerate(zip(flow.route, draft.priorities(flow), strict=True)):
            queue = (entry.port, draft.ports[entry.port].pcp_to_class[pcp])
            crossing[queue].append((number, hop))
            if entry.port in numbers and needs_window(flow):
                windowed.add(queue)
    if not windowed:
        draft.problem(
            "shapers",
            "streams with a required delay or jitter through ports with planned gates",
            "none",
            "write requires: {delay: 500 us} at a stream",
        )
        return None
    for port in ports:
        _check_qdisc(draft, port, {own for number, own in windowed if number == port.number})
    for queue in sorted(windowed):
        for number, _ in crossing[queue]:
            _check(draft, draft.flows[number], draft.ports[queue[0]], queue[1])
    for port in ports:
        report_too_full(draft, port, {own for number, own in windowed if number == port.number})
    if draft.problems:
        return None
    inside = {number for queue in windowed for number, _ in crossing[queue]}
    followed = _followed(inside, crossing, windowed)
    queues: dict[Queue, list[tuple[int, int]]] = {}
    for queue, flows in crossing.items():
        own = [each for each in flows if each[0] in followed]
        if own:
            queues[queue] = own
    wires = {
        (number, hop): wire(draft.flows[number], draft.ports[queue[0]], draft.flows[number].copy(hop) > 0)
        for queue, flows in queues.items()
        for number, hop in flows
    }
    return Demands(queues, inside, windowed, wires, dict(_for_ptp(draft, windowed)))


def _followed(
    inside: Set[int], crossing: Mapping[Queue, list[tuple[int, int]]], windowed: Set[Queue]
) -> set[int]:
    """The flows with windows, and those that may precede followed ones without windows."""
    followed, more = set(inside), True
    while more:
        least: dict[int, int] = {}
        for (port, own), flows in crossing.items():
            if (port, own) not in windowed and any(number in followed for number, _ in flows):
                least[port] = min(own, least.get(port, own))
        front = {
            number
            for (port, own), flows in crossing.items()
            if own >= least.get(port, own + 1)
            for number, _ in flows
        }
        more = not front <= followed
        followed |= front
    return followed


def _for_ptp(draft: Draft, windowed: set[Queue]) -> Iterator[tuple[Queue, int]]:
    clocks = draft.scenario.clocks
    if clocks is None or clocks.gptp is None:
        return
    for number, traffic_class in windowed:
        port = draft.ports[number]
        if port.pcp_to_class[clocks.gptp.pcp] == traffic_class:
            yield (number, traffic_class), ptp_traffic.together_ps(port.rate_bps)


def _check(draft: Draft, flow: Flow, port: Port, traffic_class: int) -> None:
    if flow.number:
        return
    kind = flow.stream.pattern.kind
    if kind != "periodic":
        draft.problem(
            f"streams.{flow.group}",
            f"periodic streams alone in class {traffic_class} of {port.name}, whose window is planned",
            f"a {kind} one",
            "give it another PCP, or a period",
        )


def _check_qdisc(draft: Draft, port: Port, classes: set[int]) -> None:
    """Reports kernels' gates: their timers' latency is not part of these windows."""
    qdisc = port.shaper.qdisc
    if (
        qdisc is None
        or qdisc.taprio in (None, "full-offload")
        or draft.nodes[port.node].name not in draft.scenario.hosts
    ):
        return
    offloaded = {port.pcp_to_class[pcp] for pcp, etf in qdisc.etf.items() if etf.offload}
    if qdisc.taprio == "software" or not classes <= offloaded:
        draft.problem(
            f"shapers.{port.name}.gates",
            f"windows that the hardware of {port.name} keeps, or launch times that it keeps",
            f"taprio: {qdisc.taprio}",
            "write taprio: full-offload, or txtime-assist with etf and offload: true for these classes",
        )


def _in_time(draft: Draft, outcome: Outcome) -> bool:
    """Whether delays from the release also hold: talkers must not gain by delaying frames."""
    return all(
        limit is None or (delays.since_release is not None and delays.since_release <= limit * 1_000)
        for (number, _), delays in outcome.delays.items()
        for limit in (draft.flows[number].stream.requires.least_delay,)
    )


def _cycles(draft: Draft, demands: Demands) -> list[int]:
    """Candidates in ns, the longest first."""
    own = strictest(draft, draft.scenario.windows)
    if own.cycle is not None:
        return [own.cycle]
    patterns = [draft.flows[number].stream.pattern for number in sorted(demands.inside)]
    periods = sorted({pattern.period for pattern in patterns if isinstance(pattern, model.Periodic)})
    if not periods:
        return []
    low, high = gcd(*periods), lcm(*periods)
    found = {low, high, *periods}
    found |= {low * turn for turn in (2, 3, 4, 5, 8, 10) if high % (low * turn) == 0}
    found |= {low // turn for turn in (2, 4, 5, 8, 10, 16) if low % turn == 0}
    fitting = [
        cycle
        for cycle in sorted(found, reverse=True)
        if cycle <= own.longest_cycle
        and cycle % own.granularity == 0
        and _units(patterns, cycle) <= max(MOST_IN_ALL, len(patterns))
    ]
    return fitting[:MOST_CYCLES]


def _units(patterns: Sequence[Part], cycle: int) -> int:
    return sum(max(1, cycle // own.period) for own in patterns if isinstance(own, model.Periodic))


def _left(draft: Draft, outcome: Outcome) -> Fraction:
    """The share of time that the ports with windows leave to others, less a full frame before each window."""
    left = Fraction(0)
    for number, windows in ports_of(outcome.windows).items():
        rest = spans_of_rest(list(windows.values()), outcome.cycle_ns * 1_000)
        lost = left_to_rest(draft, draft.ports[number], set(windows))
        left += Fraction(sum(max(0, length - lost) for _, length in rest), outcome.cycle_ns * 1_000)
    return left


def _open(draft: Draft, port: Port, windows: dict[int, Window], cycle_ns: int) -> None:
    own = limited(draft, port, draft.scenario.windows)
    rest = ((1 << port.classes) - 1) & ~sum(1 << number for number in windows)
    guard = left_to_rest(draft, port, set(windows)) if own.guard_band else 0
    guard_ns = -(-guard // (own.granularity * 1_000)) * own.granularity
    base, entries = entries_of(windows, rest, cycle_ns, guard_ns, own.shortest_interval)
    if len(entries) > own.most_entries:
        draft.problem(
            "windows.most-entries",
            f"lists of at most {own.most_entries} entries",
            f"{len(entries)} at {port.name}",
            "fewer classes with requirements there, or hardware that supports more",
        )
    port.gates = long_enough(draft, port, Gates(base, entries))
