"""Gate control lists that follow another port's list: a frame that passes here finds its gate open there.

IEEE 802.1Q-2022, 8.6.8.4; FlexTest, Section VI-E.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tsnbench.plan.delay import BEFORE_STAMP, transmission_ps
from tsnbench.plan.frames import sizes
from tsnbench.plan.gates import Span, folded, open_spans
from tsnbench.plan.streams.paths import paths_to_entry
from tsnbench.planning.draft import Draft, Flow, Gates, Port, plan_route
from tsnbench.planning.select import select
from tsnbench.planning.windows.demand import processing
from tsnbench.scenario import model

Path = tuple[int, int]
"""In ps: how long before the window there a window here begins, and how long before it ends."""

_FOLLOWED = {"entries", "by", "base_time", "cycle", "fit_entries", "most_entries", "extension"}
"""Settings of gates that are in the followed list, or have no effect on it."""


def follow_gates(draft: Draft) -> None:
    """Fills ``gates`` of the ports that follow; a followed port may follow another one."""
    followers = {port.number: port for port in draft.ports if isinstance(port.shaper.gates, model.Follow)}
    leaders = {number: leader for number, port in followers.items() if (leader := _leader(draft, port))}
    draft.raise_problems()
    waiting = dict(leaders)
    while waiting:
        ready = [number for number, leader in waiting.items() if leader.number not in waiting]
        if not ready:
            names = ", ".join(draft.ports[number].name for number in waiting)
            expected, hint = "a port whose list does not follow this one", "write the entries of one of them"
            _problem(draft, followers[min(waiting)], expected, names, hint)
            return
        for number in ready:
            _follow(draft, followers[number], waiting.pop(number))
        draft.raise_problems()


def _leader(draft: Draft, port: Port) -> Port | None:
    follow = port.shaper.gates
    assert isinstance(follow, model.Follow)
    found = select(draft, follow.port, f"shapers.{port.name}.gates.follow")
    if not found:
        return None
    if len(found) > 1:
        hint = f"write follow: {found[0].name}"
        _problem(draft, port, "one port", f"{len(found)} ports for {follow.port!r}", hint)
        return None
    if found[0].shaper.gates is None:
        hint = f"give {found[0].name} entries or a pattern"
        _problem(draft, port, "a port with gates", f"{found[0].name} without", hint)
        return None
    further = _beyond_a_list(found[0])
    if further:
        hint = "write this port's entries, or leave these settings out there"
        _problem(draft, port, "a port with one list of entries", f"{found[0].name} with {further}", hint)
        return None
    return found[0]


def _beyond_a_list(leader: Port) -> str:
    """Settings of its gates beyond one repeated list, which cannot be followed."""
    written = leader.shaper.gates
    if not isinstance(written, model.Gates):
        return ""
    return ", ".join(sorted(set(written.model_dump(exclude_defaults=True)) - _FOLLOWED)).replace("_", " ")


def _problem(draft: Draft, port: Port, expected: str, found: str, hint: str | None = None) -> None:
    draft.problem(f"shapers.{port.name}.gates.follow", expected, found, hint)


def _follow(draft: Draft, port: Port, leader: Port) -> None:
    follow, gates = port.shaper.gates, leader.gates
    assert isinstance(follow, model.Follow)
    assert gates is not None
    paths: dict[int, set[tuple[int, Path]]] = defaultdict(set)
    for flow in draft.flows:
        for path in _paths(draft, flow, port, leader):
            traffic_class = port.pcp_to_class[draft.priority(flow, port)]
            paths[traffic_class].add((leader.pcp_to_class[draft.priority(flow, leader)], path))
    if not paths:
        hint = f"name only ports whose streams pass on through {leader.name}"
        _problem(draft, port, f"a stream from here through {leader.name}", "none", hint)
        return
    open_here: dict[int, list[Span]] = {}
    for traffic_class, together in paths.items():
        spans = [_shifted(gates, there, path, follow.margin) for there, path in sorted(together)]
        open_here[traffic_class] = _common(spans, gates.cycle_ns)
        if not open_here[traffic_class] and any(gates.open_ns(there) for there, _ in together):
            pcps = [pcp for pcp, known in enumerate(port.pcp_to_class) if known == traffic_class]
            draft.problem(
                f"shapers.{port.name}.gates.margin",
                f"windows of {leader.name} that are longer than two margins and the paths' differences",
                f"nothing left for PCP {', '.join(map(str, pcps))}",
                "less margin, or longer entries",
            )
    port.gates = Gates(gates.base_time_ns, _entries(open_here, port.classes, gates.cycle_ns))


def _paths(draft: Draft, flow: Flow, port: Port, leader: Port) -> Iterator[Path]:
    """The times of a flow's smallest and largest frames on every path from one port through the other."""
    route = plan_route(flow.route)
    frames = sizes(flow.size)
    for place, hop in enumerate(flow.route):
        if hop.port != leader.number:
            continue
        for path in paths_to_entry(route, flow.redundancy, place):
            numbers = [number for number, _ in path]
            if port.number not in numbers[:-1]:
                continue
            passed = path[numbers.index(port.number) :]
            ends = [_path(draft, flow, passed, octets) for octets in (frames.smallest, frames.largest)]
            yield min(first for first, _ in ends), max(last for _, last in ends)


def _path(draft: Draft, flow: Flow, passed: list[tuple[int, int]], octets: int) -> Path:
    """From first bit out here to the queue there, and from last bit out here to last bit out there."""
    ports = [draft.ports[number] for number, _ in passed]
    whole = [
        transmission_ps(BEFORE_STAMP + octets + tag, port.rate_bps)
        for (_, tag), port in zip(passed, ports, strict=True)
    ]
    first = last = 0
    for (before, after), (_, tag) in zip(pairwise(ports), passed, strict=False):
        in_time = _needed(draft, before, after, octets + tag, draft.priority(flow, before))
        on_link = transmission_ps(BEFORE_STAMP + in_time, before.rate_bps) + before.propagation_ps
        least, most = processing(draft, after)
        first += on_link + least
        last += on_link + most
    return first, last + whole[-1] - whole[0]


def _needed(draft: Draft, before: Port, after: Port, octets: int, pcp: int) -> int:
    """The octets of a frame that must have arrived when it goes to its queue, as in
    :func:`tsnbench.plan.delay.cut_octets`."""
    threshold = draft.nodes[after.node].cut_through_octets
    if threshold is None or after.rate_bps > before.rate_bps:
        return octets
    preemption = before.shaper.preemption
    return octets if preemption and pcp not in preemption.express else min(octets, threshold)


def _shifted(gates: Gates, traffic_class: int, path: Path, margin: int) -> list[Span] | None:
    """The times at which frames may leave here so that they pass the other gate at once; None: always."""
    first_ps, last_ps = path
    spans: list[Span] = []
    windows = open_spans(gates.entries, traffic_class)
    if windows is None:
        return None
    for begin, end in windows:
        # Times are rounded inwards: no frame arrives before its gate opens, or too late for it.
        opens = -(-(begin * 1_000 - first_ps) // 1_000) + margin
        closes = (end * 1_000 - last_ps) // 1_000 - margin
        turns = opens // gates.cycle_ns * gates.cycle_ns
        spans.append((opens - turns, closes - turns))
    return _apart(sorted(spans), gates.cycle_ns)


def _apart(spans: list[Span], cycle: int) -> list[Span]:
    """Closes the gate for a moment before the next window begins, and leaves out what does not open.

    Where this link is the slower one, windows here are longer than there and could meet. A frame across two
    windows would be late for the first and early for the second.
    """
    apart: list[Span] = []
    for place, (begin, end) in enumerate(spans):
        following = spans[place + 1][0] if place + 1 < len(spans) else spans[0][0] + cycle
        end = min(end, following - 1)
        if end > begin:
            apart.append((begin, end))
    return apart


def _common(every: list[list[Span] | None], cycle: int) -> list[Span]:
    """The intersection of all, within one cycle."""
    common: list[Span] = [(0, cycle)]
    for spans in every:
        if spans is not None:
            within = [part for span in spans for part in folded(span, cycle)]
            common = [
                (max(one[0], other[0]), min(one[1], other[1]))
                for one in common
                for other in within
                if max(one[0], other[0]) < min(one[1], other[1])
            ]
    return sorted(common)


def _entries(open_here: dict[int, list[Span]], classes: int, cycle: int) -> tuple[tuple[int, int], ...]:
    """The list from the cycle's begin; classes without streams that pass there are always open."""
    always = sum(1 << number for number in range(classes) if number not in open_here)
    edges = sorted({0, cycle} | {edge for spans in open_here.values() for span in spans for edge in span})
    entries: list[tuple[int, int]] = []
    for begin, end in pairwise(edges):
        mask = always
        for number, spans in open_here.items():
            if any(span[0] <= begin and end <= span[1] for span in spans):
                mask |= 1 << number
        if entries and entries[-1][0] == mask:
            entries[-1] = (mask, entries[-1][1] + end - begin)
        else:
            entries.append((mask, end - begin))
    return tuple(entries)
