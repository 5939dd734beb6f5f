"""Filters that no frame meets: a warning, because the streams they were written for are not policed.

A frame meets the first filter that matches it; IEEE 802.1Q-2022, 8.6.5.3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tsnbench import quantities
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import StreamFilter
    from tsnbench.planning.draft import Draft


class Placed(NamedTuple):
    """The filters of one entry of ``policing`` at one node, by their places in the node's list."""

    entry: int
    node: int
    ports: Sequence[int]
    filters: range


class Arrival(NamedTuple):
    """Frames of a flow at a node: the port by which they come, and their priority from there on."""

    flow: int
    port: int
    priority: int


def warn_of_unused_filters(draft: Draft, placed: Sequence[Placed]) -> None:
    """Notes a warning for each entry of ``policing`` whose filters meet no frame."""
    if not placed:
        return
    arrivals = _arrivals(draft)
    met = {node: _met(own.filters, arrivals[node]) for node, own in draft.policing.items()}
    entries: dict[int, list[Placed]] = defaultdict(list)
    for one in placed:
        entries[one.entry].append(one)
    every = [one for node in arrivals.values() for one in node]
    for entry, places in entries.items():
        own = draft.scenario.policing[entry]
        if isinstance(own, model.Filter) and all(met[one.node].isdisjoint(one.filters) for one in places):
            reason, hint = _reason(draft, own, places, every)
            draft.doubt("unused-filter", f"policing[{entry}]", f"no frame meets this filter: {reason}", hint)


def _arrivals(draft: Draft) -> dict[int, list[Arrival]]:
    """The arrivals at each node."""
    found: dict[int, list[Arrival]] = defaultdict(list)
    for number, flow in enumerate(draft.flows):
        priorities = draft.priorities(flow)
        for place, hop in enumerate((*flow.route, *flow.flood)):
            if place >= len(flow.route):
                priorities.append(priorities[hop.parent or 0])
            port = draft.ports[hop.port]
            priority = draft.regenerated(port.peer, priorities[place])
            found[port.to].append(Arrival(number, port.peer, priority))
    return found


def _met(filters: Sequence[StreamFilter], arrivals: Sequence[Arrival]) -> set[int]:
    """The places of the filters that some frames meet."""
    waiting: dict[int, set[Arrival]] = defaultdict(set)
    for one in arrivals:
        waiting[one.flow].add(one)
    found = set()
    for place, own in enumerate(filters):
        flows = own.get("streams", list(waiting))
        taken = [one for flow in flows for one in waiting.get(flow, ()) if _matches(own, one)]
        for one in taken:
            waiting[one.flow].remove(one)
        if taken:
            found.add(place)
    return found


def _matches(own: StreamFilter, one: Arrival) -> bool:
    return one.port in own.get("ports", ()) and own.get("priority", one.priority) == one.priority


def _reason(
    draft: Draft, own: model.Filter, placed: Sequence[Placed], every: Sequence[Arrival]
) -> tuple[str, str]:
    """Why no frame meets the filters of an entry, and what to write in its place."""
    ports = {port for one in placed for port in one.ports}
    meant = [one for one in every if not own.streams or draft.flows[one.flow].group in own.streams]
    here = {one.priority for one in meant if one.port in ports}
    if not here:
        names = dict.fromkeys(draft.ports[draft.ports[one.port].peer].name for one in meant)
        which = f" of {quantities.some(own.streams, 3)}" if own.streams else ""
        return f"no frame{which} arrives there", f"frames{which} arrive at {quantities.some(list(names), 5)}"
    if own.priority is not None and own.priority not in here:
        found = " or ".join(map(str, sorted(here)))
        return f"frames there have priority {found}", f"write priority: {found}, or leave it out"
    return (
        "filters before it match all of its frames",
        "a frame meets the first filter that matches it: move this one up",
    )
