"""Paths that share neither node nor link, with the fewest hops in total.

Successive shortest paths over a network in which every node and link is used once (Suurballe 1974; Bhandari
1999). If the talker or the listener has one link, the paths share it: they are disjoint between the first and
the last node with a choice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Set
from math import inf

from tsnbench.planning.draft import Draft, Port

Vertex = tuple[int, bool]
"""The input (False) or output (True) side of a node."""


def disjoint_paths(
    draft: Draft, talker: int, listener: int, count: int, avoid: Iterable[int] = ()
) -> list[list[int]]:
    """Up to ``count`` paths as port numbers, the shortest first; fewer if there are not so many.

    Args:
        avoid: ports of a path that the others must not share, neither the links nor the nodes between.
    """
    head, first = _chain(draft, talker, listener)
    tail, last = _chain(draft, listener, talker)
    tail = [draft.ports[number].peer for number in reversed(tail)]
    avoided = set(avoid) - {*head, *tail}
    if first in (last, listener):
        return []
    shared = {draft.ports[number].to for number in avoided} - {first, last}
    blocked = shared | {number for number, node in enumerate(draft.nodes) if not node.forwards} - {
        first,
        last,
    }
    usable = [
        port
        for port in draft.ports
        if port.number not in avoided and port.peer not in avoided and not {port.node, port.to} & blocked
    ]
    used: set[int] = set()
    for _ in range(count):
        path = _shortest(usable, used, first, last)
        if path is None:
            break
        for number, forward in path:
            if forward:
                used.add(number)
            else:
                used.discard(number)
    by_node: dict[int, list[int]] = {}
    for number in sorted(used):
        by_node.setdefault(draft.ports[number].node, []).append(number)
    paths = []
    for number in by_node.get(first, []):
        found = [number]
        while draft.ports[found[-1]].to != last:
            found.append(by_node[draft.ports[found[-1]].to][0])
        paths.append([*head, *found, *tail])
    return sorted(paths, key=lambda path: (len(path), path))


def _chain(draft: Draft, start: int, end: int) -> tuple[list[int], int]:
    """The ports from ``start`` to the first node with a choice, and that node."""
    ports: list[int] = []
    node, before = start, None
    while node != end:
        choices = [port for port in draft.ports_of_nodes.get(node, ()) if port.number != before]
        if len(choices) != 1 or not (draft.nodes[choices[0].to].forwards or choices[0].to == end):
            break
        ports.append(choices[0].number)
        node, before = choices[0].to, choices[0].peer
    return ports, node


def _shortest(usable: list[Port], used: Set[int], first: int, last: int) -> list[tuple[int, bool]] | None:
    """The next path in the residual network: (port, whether forwards); None if there is none."""
    arcs: dict[Vertex, list[tuple[Vertex, int, int | None]]] = {}
    through = set()
    for port in usable:
        if port.number in used:
            through |= {port.node, port.to}
            arcs.setdefault((port.to, False), []).append(((port.node, True), -1, port.number))
        else:
            arcs.setdefault((port.node, True), []).append(((port.to, False), 1, port.number))
    # A link is usable both ways or not at all, so each of its nodes is some port's own.
    for node in {port.node for port in usable}:
        if node in through and node not in (first, last):
            # The port back to the node before is not used, so the way out has an arc.
            arcs[node, True].append(((node, False), 0, None))
        else:
            arcs.setdefault((node, False), []).append(((node, True), 0, None))
    start: Vertex = (first, True)
    cost: dict[Vertex, int] = {start: 0}
    came: dict[Vertex, tuple[Vertex, int | None, int]] = {}
    waiting = deque([start])
    while waiting:
        vertex = waiting.popleft()
        for to, price, number in arcs.get(vertex, ()):
            if to != start and cost[vertex] + price < cost.get(to, inf):
                cost[to] = cost[vertex] + price
                came[to] = (vertex, number, price)
                waiting.append(to)
    at: Vertex = (last, False)
    if at not in came:
        return None
    path = []
    while at != start:
        at, number, price = came[at]
        if number is not None:
            path.append((number, price > 0))
    return path
