"""Windows of all ports for one cycle, hop by hop: those of the next hop are later by the delay of the hop.

IEEE 802.1Q-2022, 8.6.8.4; EnGINE, Section VI-A4 and Fig. 25.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Literal

from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.routing.hops_before import end, longest, parents
from tsnbench.planning.topology.devices import limited
from tsnbench.planning.topology.stages import transmit_buffer
from tsnbench.planning.windows.demand import Unit, Wire, gap_ps, lateness, processing, released, wire
from tsnbench.planning.windows.merging import merged
from tsnbench.planning.windows.placement import Room, pass_through, store_and_release
from tsnbench.planning.windows.sizing import Arrival, Departure, Window, departures, time_needed
from tsnbench.planning.windows.waits import Waits, in_sum, longer, variation
from tsnbench.scenario import model

Queue = tuple[int, int]
"""Port and traffic class."""
Forwarding = Literal["gather", "pass", "pass behind the first", "gather at the last"]
FORWARDING: tuple[Forwarding, ...] = ("gather", "pass behind the first", "gather at the last", "pass")
"""At which hops windows open when all data units have arrived, or as soon as one may leave."""


@dataclass(frozen=True)
class Demands:
    """The classes with windows, and the flows of each queue: equal for every cycle."""

    queues: dict[Queue, list[tuple[int, int]]]
    """Flows and their hops, at every queue of a flow with a window, or of one that may precede such a
    flow."""
    inside: Set[int]
    """The flows with a window somewhere."""
    windowed: set[Queue]
    wires: dict[tuple[int, int], Wire]
    """By flow and hop."""
    extra: dict[Queue, int]
    """ps in every cycle for PTP messages, which are no stream."""


@dataclass
class FlowDelays:
    """Times of a flow's data units from their first bit to a listener's last one; None if unknown."""

    most: int | None
    least: int
    fastest: int
    """Least possible delay with any windows."""
    since_release: int | None = None
    """As ``most``, including the wait in the talker's own port."""
    since_due: tuple[int, int] | None = None
    """Least and greatest time from instants that are one period apart, for ``jitter interval``."""

    @property
    def varies(self) -> int | None:
        """Greatest difference of the delays of two frames."""
        return None if self.most is None else self.most - self.least


@dataclass
class Arrivals:
    """Data units where they have been followed to."""

    sent: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """Earliest and latest first bit out of any of the talker's ports, by flow and turn."""
    known: dict[tuple[int, int], list[Unit]] = field(default_factory=dict)
    """By flow and hop."""
    parts: dict[tuple[int, int], dict[int, list[Unit]]] = field(default_factory=dict)
    """By flow, hop and the hop before it: several at a merge, from where they go on when all are there."""
    received: list[tuple[Unit, int, int]] = field(default_factory=list)
    """At listeners, with their earliest and latest last bit."""

    def send(self, unit: Unit, first: int, last: int) -> None:
        """Takes a talker's port."""
        key = (unit.flow, unit.turn)
        before = self.sent.get(key, (first, last))
        self.sent[key] = min(first, before[0]), max(last, before[1])

    def merge(self, flow: Flow, number: int, cycle: int) -> None:
        """Takes the data units that have come by all paths."""
        for key in [key for key in self.parts if key[0] == number]:
            before = parents(flow, key[1])
            if all(hop in self.parts[key] for hop in before):
                own = self.parts.pop(key)
                self.known[key] = merged(flow, [own[hop] for hop in before], cycle)


@dataclass
class Outcome:
    """The result for one cycle."""

    cycle_ns: int
    windows: dict[Queue, Window] = field(default_factory=dict)
    full: dict[Queue, int] = field(default_factory=dict)
    """Queues whose windows have no room, and the length that they would need, ps."""
    waits: Waits = field(default_factory=dict)
    """Greatest delay from the queue to the last bit, by flow and hop; None without a bound."""
    delays: dict[tuple[int, int], FlowDelays] = field(default_factory=dict)
    """By flow and the hop that ends at a listener; where paths merge there, the first of their hops."""
    assumed: list[tuple[int, int]] = field(default_factory=list)
    """Flows and hops with assumed delays, as they are in a cycle with others."""


def lay_out(draft: Draft, demands: Demands, cycle_ns: int, forwarding: Forwarding) -> Outcome | None:
    """Windows for a cycle; None if it contains too many data units to examine."""
    outcome = Outcome(cycle_ns)
    arrivals = Arrivals()
    for number, flow in enumerate(draft.flows):
        first = _talker(draft, demands, number, cycle_ns)
        if first is None:
            return None
        for hop, entry in enumerate(flow.route):
            if entry.parent is None:
                arrivals.known[number, hop] = [replace(unit, hop=hop) for unit in first]
    left = dict(demands.queues)
    while left:
        queue = _next(demands, left, arrivals.known)
        _queue(draft, demands, outcome, queue, left.pop(queue), arrivals, forwarding)
    if any(_too_late(draft, demands, outcome, *each) for each in outcome.assumed):
        outcome.waits = dict.fromkeys(outcome.waits)
    _arrive(draft, outcome, arrivals)
    _sum_up(draft, demands, outcome)
    return outcome


def _talker(draft: Draft, demands: Demands, number: int, cycle_ns: int) -> list[Unit] | None:
    if number not in demands.inside or not isinstance(draft.flows[number].stream.pattern, model.Periodic):
        return [Unit(number, 0, 0, 0, known=False)]
    return released(draft, number, cycle_ns)


def _next(
    demands: Demands,
    left: Mapping[Queue, list[tuple[int, int]]],
    arrivals: Mapping[tuple[int, int], list[Unit]],
) -> Queue:
    """The highest class whose frames have all been followed to here; in a cycle of flows the highest class.

    Of classes without windows, one whose higher classes have also been followed comes first.
    """
    ready = {queue: all(each in arrivals for each in flows) for queue, flows in left.items()}

    def first(queue: Queue) -> tuple[bool, bool, int, int]:
        above = all(own for other, own in ready.items() if other[0] == queue[0] and other[1] > queue[1])
        windowed = queue in demands.windowed
        return windowed, windowed or above, queue[1], -queue[0]

    return max([queue for queue, own in ready.items() if own] or left, key=first)


def _queue(
    draft: Draft,
    demands: Demands,
    outcome: Outcome,
    queue: Queue,
    flows: list[tuple[int, int]],
    arrivals: Arrivals,
    forwarding: Forwarding,
) -> None:
    cycle = outcome.cycle_ns * 1_000
    every = [
        Arrival(unit, demands.wires[flow, hop])
        for flow, hop in flows
        for unit in arrivals.known.get((flow, hop)) or _any(draft, outcome, flow, hop)
    ]
    if queue not in demands.windowed:
        leaving = _plain(draft, demands, outcome, queue, every)
    else:
        extra = demands.extra.get(queue)
        if extra:
            every.append(Arrival(Unit(-1, 0, 0, 0, known=False), Wire(extra, 0, 0, 0)))
        window = _window(draft, outcome, queue, every, forwarding)
        if window is None:
            outcome.full[queue] = time_needed(every, 0, cycle)
            leaving = [None] * len(every)
        else:
            outcome.windows[queue] = window
            leaving = list(departures(every, window, cycle))
    if not all(one.unit.bounded for one in every):
        # So many data units may arrive at once that the others also wait.
        leaving = [None] * len(every)
    for one, result in zip(every, leaving, strict=True):
        if one.unit.flow >= 0:
            _go_on(draft, demands, outcome, queue, one, result, arrivals)
    for flow in {flow for flow, _ in flows}:
        arrivals.merge(draft.flows[flow], flow, cycle)


def _any(draft: Draft, outcome: Outcome, flow: int, hop: int) -> list[Unit]:
    """Arrivals of a flow whose path is part of a cycle: at any time, up to two cycles late per hop."""
    outcome.assumed.append((flow, hop))
    pattern, cycle_ns = draft.flows[flow].stream.pattern, outcome.cycle_ns
    period = pattern.period if isinstance(pattern, model.Periodic) else cycle_ns
    cycles = 1 + 2 * longest(draft.flows[flow], hop)
    return [Unit(flow, hop, 0, 0, known=False, count=-(-cycles * cycle_ns // period))]


def _window(
    draft: Draft, outcome: Outcome, queue: Queue, every: list[Arrival], forwarding: Forwarding
) -> Window | None:
    own = limited(draft, draft.ports[queue[0]], draft.scenario.windows)
    room = Room(
        cycle=outcome.cycle_ns * 1_000,
        tick=own.granularity * 1_000,
        shortest=own.shortest_interval * 1_000,
        margin=own.margin * 1_000,
        taken=tuple(window for (number, _), window in outcome.windows.items() if number == queue[0]),
    )
    if _passes(draft, forwarding, every):
        window = pass_through(every, room)
        if window is not None:
            return window
    return store_and_release(every, room)


def _passes(draft: Draft, forwarding: Forwarding, every: list[Arrival]) -> bool:
    if forwarding in ("gather", "pass"):
        return forwarding == "pass"
    units = [one.unit for one in every if one.unit.flow >= 0]
    if forwarding == "pass behind the first":
        return not any(draft.flows[unit.flow].route[unit.hop].parent is None for unit in units)
    return not any(end(draft.flows[unit.flow], unit.hop) is not None for unit in units)


def _too_late(draft: Draft, demands: Demands, outcome: Outcome, flow: int, hop: int) -> bool:
    """Whether a flow in a cycle may arrive later than was assumed."""
    late = variation(draft, demands.wires, outcome.waits, flow, hop)
    return late is None or late > 2_000 * outcome.cycle_ns * longest(draft.flows[flow], hop)


def _plain(
    draft: Draft, demands: Demands, outcome: Outcome, queue: Queue, every: list[Arrival]
) -> list[Departure | None]:
    """At a port without windows: all higher and equal classes, and one lower frame, may precede a data
    unit."""
    port, cycle = draft.ports[queue[0]], outcome.cycle_ns * 1_000
    own = port.shaper
    plain = own.gates is None and port.gates is None and not own.cbs
    others = (own.ats, own.cqf, own.preemption, own.server)
    if not plain or transmit_buffer(port) > 1 or any(one is not None for one in others):
        return [None] * len(every)
    lower = 0
    for flow, tagged in draft.flows_through()[port.number]:
        if port.pcp_to_class[draft.priority(flow, port)] < queue[1]:
            lower = max(lower, wire(flow, port, tagged).frame + gap_ps(port))
    above: list[tuple[int, int, int]] = []
    for (number, traffic_class), flows in demands.queues.items():
        if number != port.number or traffic_class < queue[1]:
            continue
        for each in flows:
            pattern = draft.flows[each[0]].stream.pattern
            late = variation(draft, demands.wires, outcome.waits, *each)
            if not isinstance(pattern, model.Periodic) or late is None:
                return [None] * len(every)
            period = pattern.period * 1_000
            above.append((demands.wires[each].whole, period, max(period, late)))
    wait, before = lower, -1
    while wait != before and wait < 4 * cycle:
        # The late ones, the one that is due, and those that arrive meanwhile.
        ahead = sum(whole * (1 + (wait + late) // period) for whole, period, late in above)
        before, wait = wait, lower + ahead
    if wait >= 4 * cycle:
        return [None] * len(every)
    return [Departure(one.unit.first, one.unit.last + wait, wait) for one in every]


def _go_on(
    draft: Draft,
    demands: Demands,
    outcome: Outcome,
    queue: Queue,
    one: Arrival,
    departure: Departure | None,
    arrivals: Arrivals,
) -> None:
    """Passes data units on to the next queues, and to the listener."""
    unit, times = one.unit, one.wire
    port, windowed = draft.ports[queue[0]], queue in demands.windowed
    flow = draft.flows[unit.flow]
    key = (unit.flow, unit.hop)
    waits, before = (None if departure is None else departure.waits), outcome.waits.get(key, 0)
    outcome.waits[key] = None if waits is None or before is None else max(waits, before)
    # After a window all leave at one time of the cycle, whenever they arrived.
    known = departure is not None and (unit.known or windowed)
    first = departure.starts + times.first + port.propagation_ps if departure else 0
    last = departure.ends + port.propagation_ps if departure else 0
    fastest = unit.fastest + times.first + port.propagation_ps
    if flow.route[unit.hop].parent is None and unit.known and departure is not None:
        arrivals.send(unit, departure.starts, departure.ends - times.first)
    unit = replace(
        unit,
        known=known,
        count=_count(flow, unit, departure, windowed),
        fastest=fastest,
        bounded=departure is not None,
    )
    if unit.flow in demands.inside and end(flow, unit.hop) is not None:
        arrivals.received.append((unit, first, last))
    margin = draft.scenario.windows.margin * 1_000
    for hop, entry in enumerate(flow.route):
        if unit.hop not in parents(flow, hop):
            continue
        least, most = processing(draft, draft.ports[entry.port])
        later = replace(
            unit, hop=hop, first=first + least - margin, last=last + most + margin, fastest=fastest + least
        )
        arrivals.parts.setdefault((unit.flow, hop), {}).setdefault(unit.hop, []).append(later)


def _count(flow: Flow, unit: Unit, departure: Departure | None, windowed: bool) -> int:
    """Number of data units that leave a port together, if they arrive at any time."""
    if unit.known or departure is None:
        return unit.count
    if windowed:
        # Data units that arrive while the window is open may leave with those that arrived before.
        return 2 * unit.count
    pattern = flow.stream.pattern
    # Others have no bound without a window.
    assert isinstance(pattern, model.Periodic)
    return unit.count + -(-departure.waits // (pattern.period * 1_000))


def _arrive(draft: Draft, outcome: Outcome, arrivals: Arrivals) -> None:
    for unit, first, last in arrivals.received:
        one = FlowDelays(None, unit.fastest, unit.fastest)
        if unit.known and unit.released is not None:
            begin = arrivals.sent[unit.flow, unit.turn]
            one.most = last - begin[0]
            one.least = max(unit.fastest, first - begin[1])
            one.since_release = last - unit.released
            one.since_due = first - unit.released, last - unit.released
        at = end(draft.flows[unit.flow], unit.hop)
        assert at is not None
        before = outcome.delays.get((unit.flow, at))
        outcome.delays[unit.flow, at] = one if before is None else _both(before, one)


def _both(one: FlowDelays, other: FlowDelays) -> FlowDelays:
    """Two data units of one flow together, or one of them by two paths: their delays may differ by more than
    those of each."""
    dues = [each.since_due for each in (one, other) if each.since_due is not None]
    return FlowDelays(
        most=longer(one.most, other.most),
        least=min(one.least, other.least),
        fastest=min(one.fastest, other.fastest),
        since_release=longer(one.since_release, other.since_release),
        since_due=(min(low for low, _ in dues), max(high for _, high in dues)) if len(dues) == 2 else None,
    )


def _sum_up(draft: Draft, demands: Demands, outcome: Outcome) -> None:
    """The sum of all waits on the path is also a bound of the delay."""
    for (number, hop), delays in outcome.delays.items():
        total, released = in_sum(draft, demands.wires, outcome.waits, number, hop)
        if total is None:
            delays.most = delays.since_release = delays.since_due = None
            continue
        delays.most = total if delays.most is None else min(total, delays.most)
        if released is not None:
            known = delays.since_release
            delays.since_release = released if known is None else min(released, known)
            if delays.since_due is None:
                early, late = lateness(draft, draft.flows[number])
                delays.since_due = early + delays.fastest, late + released


def ports_of(windows: Mapping[Queue, Window]) -> dict[int, dict[int, Window]]:
    """The windows by port and class."""
    found: dict[int, dict[int, Window]] = defaultdict(dict)
    for (port, traffic_class), window in windows.items():
        found[port][traffic_class] = window
    return found
