"""Windows of all ports for one cycle, hop by hop: those of the next hop are later by the hop's delay.

IEEE 802.1Q-2022, 8.6.8.4; EnGINE, Section VI-A4 and Fig. 25.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.window_class import Coming, Passed, Window, need, passing
from tsnbench.planning.window_place import Room, gathered, through
from tsnbench.planning.window_units import Unit, Wire, gap_ps, processing, released, wire
from tsnbench.scenario import model

Queue = tuple[int, int]
"""Port and traffic class."""
Way = Literal["gather", "pass", "pass behind the first", "gather at the last"]
WAYS: tuple[Way, ...] = ("gather", "pass behind the first", "gather at the last", "pass")
"""Whether windows open when all have come, or as soon as one may: at which hops."""


@dataclass(frozen=True)
class Demands:
    """Which classes get windows, and who passes which queue: the same for every cycle."""

    queues: dict[Queue, list[tuple[int, int]]]
    """Flows and their hops, at every queue that a flow with a window somewhere passes."""
    windowed: set[Queue]
    wires: dict[tuple[int, int], Wire]
    """By flow and hop."""
    extra: dict[Queue, int]
    """ps in every cycle for what is no stream: PTP."""


@dataclass
class Arrived:
    """Between a flow's first bit and a listener's last one; None where it is not known."""

    most: int | None
    least: int
    spread: int
    """Of the arrivals, within the cycle."""
    sent: int
    """The same of when frames are sent."""
    fastest: int
    """Least that any windows can give."""
    since_release: int | None = None
    """As ``most``, with the wait in the talker's own port."""

    @property
    def varies(self) -> int:
        """By how much the delays of two frames differ at most."""
        apart = self.spread + self.sent
        return apart if self.most is None else min(apart, self.most - self.least)


@dataclass
class Outcome:
    """What came out for one cycle."""

    cycle_ns: int
    windows: dict[Queue, Window] = field(default_factory=dict)
    full: dict[Queue, int] = field(default_factory=dict)
    """Queues whose windows have no room, and how long they would be, ps."""
    waits: dict[tuple[int, int], int | None] = field(default_factory=dict)
    """Most from the queue to the last bit, by flow and hop; None where nothing bounds it."""
    arrived: dict[tuple[int, int], Arrived] = field(default_factory=dict)
    """By flow and the hop that ends at a listener."""


def lay(draft: Draft, demands: Demands, cycle_ns: int, way: Way) -> Outcome | None:
    """Windows for a cycle; None where it holds too many data units to look at."""
    outcome = Outcome(cycle_ns)
    coming: dict[tuple[int, int], list[Unit]] = {}
    for number, flow in enumerate(draft.flows):
        if any((number, 0) in flows for flows in demands.queues.values()):
            first = _talker(draft, number, cycle_ns)
            if first is None:
                return None
            for hop, entry in enumerate(flow.route):
                if entry.parent is None:
                    coming[number, hop] = [replace(unit, hop=hop) for unit in first]
    left = dict(demands.queues)
    while left:
        queue = _next(draft, demands, left, coming)
        _queue(draft, demands, outcome, queue, left.pop(queue), coming, way)
    _sum_up(draft, demands, outcome)
    return outcome


def _talker(draft: Draft, number: int, cycle_ns: int) -> list[Unit] | None:
    if not isinstance(draft.flows[number].stream.pattern, model.Periodic):
        return [Unit(number, 0, 0, 0, known=False)]
    return released(draft, number, cycle_ns)


def _next(
    draft: Draft,
    demands: Demands,
    left: Mapping[Queue, list[tuple[int, int]]],
    coming: Mapping[tuple[int, int], list[Unit]],
) -> Queue:
    """The highest class whose frames have all been followed to here; in a circle the highest class."""
    ready = [queue for queue, flows in left.items() if all(each in coming for each in flows)]
    return max(ready or left, key=lambda queue: (queue in demands.windowed, queue[1], -queue[0]))


def _queue(
    draft: Draft,
    demands: Demands,
    outcome: Outcome,
    queue: Queue,
    flows: list[tuple[int, int]],
    coming: dict[tuple[int, int], list[Unit]],
    way: Way,
) -> None:
    port = draft.ports[queue[0]]
    cycle = outcome.cycle_ns * 1_000
    every = [
        Coming(unit, demands.wires[flow, hop])
        for flow, hop in flows
        for unit in coming.get((flow, hop)) or _any(draft, flow, hop, outcome.cycle_ns)
    ]
    if queue not in demands.windowed:
        passed = _plain(draft, demands, port, queue[1], every, cycle)
    else:
        extra = demands.extra.get(queue, 0)
        if extra:
            every.append(Coming(Unit(-1, 0, 0, 0, known=False), Wire(extra, 0, 0, 0)))
        window = _window(draft, outcome, queue, every, way)
        if window is None:
            outcome.full[queue] = need(every, 0, cycle)
            passed = [None] * len(every)
        else:
            outcome.windows[queue] = window
            passed = list(passing(every, window, cycle))
    for one, result in zip(every, passed, strict=True):
        if one.unit.flow >= 0:
            _go_on(draft, outcome, port, one, result, queue in demands.windowed, coming)


def _any(draft: Draft, flow: int, hop: int, cycle_ns: int) -> list[Unit]:
    """Who comes by a way that leads in a circle with others: at any time, as late as two cycles per hop."""
    pattern = draft.flows[flow].stream.pattern
    period = pattern.period if isinstance(pattern, model.Periodic) else cycle_ns
    cycles = 1 + 2 * len(_before(draft, flow, hop))
    return [Unit(flow, hop, 0, 0, known=False, count=-(-cycles * cycle_ns // period))]


def _before(draft: Draft, flow: int, hop: int) -> list[int]:
    """The hops of a flow in front of one of them, the next one first."""
    route = draft.flows[flow].route
    found: list[int] = []
    at = route[hop].parent
    while at is not None:
        found.append(at)
        at = route[at].parent
    return found


def _window(draft: Draft, outcome: Outcome, queue: Queue, every: list[Coming], way: Way) -> Window | None:
    own = draft.scenario.windows
    room = Room(
        cycle=outcome.cycle_ns * 1_000,
        tick=own.granularity * 1_000,
        shortest=own.shortest_interval * 1_000,
        margin=own.margin * 1_000,
        taken=tuple(window for (number, _), window in outcome.windows.items() if number == queue[0]),
    )
    if _passes(draft, way, every):
        window = through(every, room)
        if window is not None:
            return window
    return gathered(every, room)


def _passes(draft: Draft, way: Way, every: list[Coming]) -> bool:
    if way in ("gather", "pass"):
        return way == "pass"
    units = [one.unit for one in every if one.unit.flow >= 0]
    if way == "pass behind the first":
        return not any(draft.flows[unit.flow].route[unit.hop].parent is None for unit in units)
    return not any(unit.hop in draft.flows[unit.flow].ends for unit in units)


def _plain(
    draft: Draft, demands: Demands, port: Port, traffic_class: int, every: list[Coming], cycle: int
) -> list[Passed | None]:
    """Behind a port without windows: all above and beside it, and one frame below, may be in front."""
    plain = port.shaper.gates is None and port.gates is None and not port.shaper.cbs
    if not plain or port.shaper.ats is not None or port.shaper.cqf is not None or port.express is not None:
        return [None] * len(every)
    above: list[tuple[int, int]] = []
    lower = 0
    for flow, tagged in draft.flows_through()[port.number]:
        its = wire(flow, port, tagged)
        if port.pcp_to_class[draft.priority(flow, port)] < traffic_class:
            lower = max(lower, its.frame + gap_ps(port))
        elif isinstance(flow.stream.pattern, model.Periodic):
            above.append((its.whole, flow.stream.pattern.period * 1_000))
        else:
            return [None] * len(every)
    wait, before = lower, -1
    while wait != before and wait < 4 * cycle:
        # One that was late, one that is due, and who comes meanwhile.
        before, wait = wait, lower + sum(whole * (2 + wait // period) for whole, period in above)
    if wait >= 4 * cycle:
        return [None] * len(every)
    return [
        Passed(one.unit.first, one.unit.last + wait, wait) if one.unit.known else Passed(0, 0, wait)
        for one in every
    ]


def _go_on(
    draft: Draft,
    outcome: Outcome,
    port: Port,
    one: Coming,
    passed: Passed | None,
    windowed: bool,
    coming: dict[tuple[int, int], list[Unit]],
) -> None:
    """To the queues behind this port, and to the listener."""
    unit, times = one.unit, one.wire
    flow = draft.flows[unit.flow]
    key = (unit.flow, unit.hop)
    waits, before = (None if passed is None else passed.waits), outcome.waits.get(key, 0)
    outcome.waits[key] = None if waits is None or before is None else max(waits, before)
    # Behind a window all come at one time of the cycle, whenever they came before.
    known = passed is not None and (unit.known or windowed)
    first = passed.starts + times.first + port.propagation_ps if passed else 0
    last = passed.ends + port.propagation_ps if passed else 0
    fastest = unit.fastest + times.first + port.propagation_ps
    sent = unit.sent
    if flow.route[unit.hop].parent is None and unit.known and passed is not None:
        sent = (passed.starts, passed.ends - times.first)
    unit = replace(unit, known=known, count=_count(flow, unit, passed, windowed), sent=sent, fastest=fastest)
    if unit.hop in flow.ends:
        _arrive(outcome, unit, first, last)
    margin = draft.scenario.windows.margin * 1_000
    for hop, entry in enumerate(flow.route):
        if entry.parent != unit.hop:
            continue
        least, most = processing(draft, draft.ports[entry.port])
        later = replace(
            unit, hop=hop, first=first + least - margin, last=last + most + margin, fastest=fastest + least
        )
        coming.setdefault((unit.flow, hop), []).append(later)


def _count(flow: Flow, unit: Unit, passed: Passed | None, windowed: bool) -> int:
    """How many come together behind a port of those that come at any time before it."""
    if unit.known or passed is None:
        return unit.count
    if windowed:
        # What comes while the window is open may leave with what has come before it.
        return 2 * unit.count
    pattern = flow.stream.pattern
    period = pattern.period * 1_000 if isinstance(pattern, model.Periodic) else passed.waits
    return unit.count + -(-passed.waits // max(1, period))


def _arrive(outcome: Outcome, unit: Unit, first: int, last: int) -> None:
    least, spread, leaving, most = unit.fastest, outcome.cycle_ns * 1_000, outcome.cycle_ns * 1_000, None
    if unit.known and unit.sent is not None:
        most = last - unit.sent[0]
        least, spread, leaving = max(least, first - unit.sent[1]), last - first, unit.sent[1] - unit.sent[0]
    key = (unit.flow, unit.hop)
    before = outcome.arrived.get(key)
    if before is not None:
        most = None if most is None or before.most is None else max(most, before.most)
        least, spread = min(least, before.least), max(spread, before.spread)
        leaving = max(leaving, before.sent)
    since = last - unit.released if unit.known and unit.released is not None else None
    if before is not None:
        since = None if since is None or before.since_release is None else max(since, before.since_release)
    outcome.arrived[key] = Arrived(most, least, spread, leaving, unit.fastest, since)


def _sum_up(draft: Draft, demands: Demands, outcome: Outcome) -> None:
    """All waits on the way are a limit, too."""
    for (number, hop), arrived in outcome.arrived.items():
        route = draft.flows[number].route
        before = [hop, *_before(draft, number, hop)]
        total = demands.wires[number, before[-1]].frame
        for at in before:
            port = draft.ports[route[at].port]
            total += port.propagation_ps
            if at == before[-1]:
                continue
            waits = outcome.waits[number, at]
            if waits is None:
                break
            total += waits + processing(draft, port)[1]
        else:
            arrived.most = total if arrived.most is None else min(total, arrived.most)
            first = outcome.waits[number, before[-1]]
            if first is not None:
                whole = total - demands.wires[number, before[-1]].frame + first
                known = arrived.since_release
                arrived.since_release = whole if known is None else min(whole, known)


def ports_of(windows: Mapping[Queue, Window]) -> dict[int, dict[int, Window]]:
    """By port and class."""
    found: dict[int, dict[int, Window]] = defaultdict(dict)
    for (port, traffic_class), window in windows.items():
        found[port][traffic_class] = window
    return found
