"""The sum of the waits at all hops of a flow, on all of its paths. All times are ps; None: no bound."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from tsnbench.planning.draft import Draft
from tsnbench.planning.routing.hops_before import ancestors, last_hops, parents
from tsnbench.planning.windows.demand import Wire, lateness, processing

Waits = dict[tuple[int, int], int | None]
"""Greatest delay from the queue to the last bit, by flow and hop."""
Wires = dict[tuple[int, int], Wire]
"""By flow and hop."""


def variation(draft: Draft, wires: Wires, waits: Waits, flow: int, hop: int) -> int | None:
    """Greatest difference between the arrivals of a flow's data units at a queue; None if unknown."""
    own = draft.flows[flow]
    early: dict[int, int] = {}
    late: dict[int, int] = {}
    for at in ancestors(own, hop):
        before = parents(own, at)
        if not before:
            early[at], late[at] = lateness(draft, own)
            continue
        least, most = processing(draft, draft.ports[own.route[at].port])
        reached: list[tuple[int, int]] = []
        for one in before:
            longest = waits.get((flow, one))
            if longest is None:
                return None
            cable = draft.ports[own.route[one].port].propagation_ps
            first = early[one] + wires[flow, one].first + cable + least
            reached.append((first, late[one] + longest + cable + most))
        early[at] = min(first for first, _ in reached)
        late[at] = max(last for _, last in reached)
    return late[hop] - early[hop]


def in_sum(draft: Draft, wires: Wires, waits: Waits, number: int, to: int) -> tuple[int | None, int | None]:
    """The sum of all waits on the slowest path, from the first bit and from the talker's queue.

    If the talker has several ports, the first bit of another one may be earlier; then both count from the
    queue.
    """
    flow = draft.flows[number]
    ends = last_hops(flow, to)
    hops = ancestors(flow, *ends)
    one_port = sum(not parents(flow, at) for at in hops) == 1
    total: dict[int, int | None] = {}
    released: dict[int, int | None] = {}
    for at in hops:
        port, wait = draft.ports[flow.route[at].port], waits[number, at]
        before = parents(flow, at)
        if not before:
            released[at] = None if wait is None else wait + port.propagation_ps
            total[at] = wires[number, at].frame + port.propagation_ps if one_port else released[at]
            continue
        own = None if wait is None else wait + processing(draft, port)[1] + port.propagation_ps
        total[at] = _sum(_longest(total[one] for one in before), own)
        released[at] = _sum(_longest(released[one] for one in before), own)
    return _longest(total[one] for one in ends), _longest(released[one] for one in ends)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _longest(every: Iterable[int | None]) -> int | None:
    return reduce(longer, every)


def longer(one: int | None, other: int | None) -> int | None:
    """The greater of two times."""
    return None if one is None or other is None else max(one, other)
