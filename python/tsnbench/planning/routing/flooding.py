"""Flooding: where learning bridges send frames of unicast flows until they have learned the listener's port.

IEEE 802.1Q-2022, 8.6.3 and 8.7. Every port is a member of every VLAN.
"""

from __future__ import annotations

from collections import deque

from tsnbench.planning.draft import Draft, Flow, Hop


def flood_flows(draft: Draft) -> None:
    """Fills ``flood``. No frame circulates: learning bridges and hosts must form a tree."""
    if all(node.learning is None for node in draft.nodes):
        return
    circle = _circle(draft)
    if circle is not None:
        draft.problem(
            "network",
            "no circles among bridges where one of them learns",
            f"one through {draft.nodes[circle].name}",
            "leave links out that a spanning tree would not use",
        )
        return
    for flow in draft.flows:
        if flow.redundancy:
            found = f"the flow {flow.name} with several paths"
            draft.problem(f"streams.{flow.group}", "one path where bridges learn", found)
        elif len(flow.listeners) == 1:
            flow.flood = _flood(draft, flow)


def _flood(draft: Draft, flow: Flow) -> tuple[Hop, ...]:
    """All other ports of every learning bridge that the flow reaches, and of the following ones."""
    own = {hop.port for hop in flow.route}
    hops: list[Hop] = []
    waiting = deque((place, hop.port) for place, hop in enumerate(flow.route))
    while waiting:
        place, came_by = waiting.popleft()
        node = draft.ports[came_by].to
        if draft.nodes[node].learning is None or node in flow.listeners:
            continue
        for port in draft.ports_of_nodes[node]:
            if port.number != draft.ports[came_by].peer and port.number not in own:
                waiting.append((len(flow.route) + len(hops), port.number))
                hops.append(Hop(port.number, place))
    return tuple(hops)


def _circle(draft: Draft) -> int | None:
    """A node on a cycle of forwarding nodes, if there is one; parallel links are also a cycle."""
    group = list(range(len(draft.nodes)))

    def of(node: int) -> int:
        while group[node] != node:
            node = group[node]
        return node

    for port in draft.ports[::2]:
        if draft.nodes[port.node].forwards and draft.nodes[port.to].forwards:
            a, b = of(port.node), of(port.to)
            if a == b:
                return port.node
            group[a] = b
    return None
