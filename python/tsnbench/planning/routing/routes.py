"""The path of every flow: explicit hops, or the fewest hops; a tree for several listeners.

Of several shortest paths, the flow takes the one whose nodes the scenario names first, compared hop by hop.
Flows of one stream take parallel links in turn. Only bridges and hosts forward.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tsnbench.planning.draft import Draft, Flow, Hop, Ways
from tsnbench.planning.routing.redundancy import route_redundantly
from tsnbench.planning.routing.survivable.planned import Known

Links = dict[tuple[int, int], list[int]]
"""(node, next node) to the ports between them, in order."""
Tree = Mapping[int, int]
"""Node to its predecessor in the direction of the talker; the talker has none."""


def route_flows(draft: Draft) -> None:
    """Fills ``route`` and ``ends`` of every flow."""
    links, neighbours, forwards, single, trees = draft.ways = draft.ways or _ways(draft)
    grown: dict[tuple[int, ...], tuple[tuple[Hop, ...], tuple[int, ...]]] = {}
    behind: dict[tuple[int, int], tuple[Hop, ...]] = {}
    known: Known = {}
    for flow in draft.flows:
        if flow.stream.frer or flow.stream.failover:
            route_redundantly(draft, flow, links, known)
            continue
        chosen: Mapping[tuple[int, int], int] = {}
        if flow.stream.via is not None:
            explicit = _explicit(draft, flow, links)
            if explicit is None:
                continue
            tree, chosen = explicit
        else:
            ends = (flow.talker, *flow.listeners)
            if ends in grown:
                flow.route, flow.ends = grown[ends]
                continue
            near = neighbours[flow.talker]
            if single and len(ends) == 2 and len(near) == 1 and forwards[near[0]]:
                # A talker with a single link has the paths of the node behind it.
                root = near[0]
                if root not in trees:
                    trees[root] = shortest_paths(forwards, neighbours, root)
                if ends[1] == root or ends[1] in trees[root]:
                    first = Hop(links[flow.talker, root][0], None)
                    flow.route = (first, *_behind(root, ends[1], trees[root], links, behind))
                    flow.ends = (len(flow.route) - 1,)
                    grown[ends] = flow.route, flow.ends
                    continue
            if flow.talker not in trees:
                trees[flow.talker] = shortest_paths(forwards, neighbours, flow.talker)
            tree = trees[flow.talker]
            lost = [draft.nodes[node].name for node in flow.listeners if node not in tree]
            if lost:
                expected = f"a path from {flow.stream.talker} to {lost[0]} over bridges or hosts"
                draft.problem(f"streams.{flow.group}", expected, "none")
                continue
            if single:
                # Without parallel links, streams between the same nodes have the same route.
                _grow(flow, tree, links, chosen)
                grown[ends] = flow.route, flow.ends
                continue
        _grow(flow, tree, links, chosen)


def _ways(draft: Draft) -> Ways:
    links: Links = defaultdict(list)
    for port in draft.ports:
        links[port.node, port.to].append(port.number)
    neighbours: list[list[int]] = [[] for _ in draft.nodes]
    for node, to in sorted(links):
        neighbours[node].append(to)
    forwards = [node.forwards for node in draft.nodes]
    return Ways(links, neighbours, forwards, all(len(ports) == 1 for ports in links.values()), {})


def shortest_paths(forwards: Sequence[bool], neighbours: list[list[int]], talker: int) -> Tree:
    """The tree of shortest paths from ``talker`` to every reachable node.

    Args:
        forwards: by node, whether paths may lead through it.
        neighbours: by node, the nodes of its links, in ascending order.
        talker: the root of the tree.
    """
    before: dict[int, int] = {}
    waiting = [talker]
    for node in waiting:
        # The list grows while it is read: in this order, a node's path has the fewest hops.
        for to in neighbours[node]:
            if to not in before and to != talker:
                before[to] = node
                if forwards[to]:
                    waiting.append(to)
    return before


def _behind(
    root: int, listener: int, tree: Tree, links: Links, known: dict[tuple[int, int], tuple[Hop, ...]]
) -> tuple[Hop, ...]:
    """The hops of a path after its first hop, which leads to ``root``; ``known``: those to nodes that
    forward."""
    if listener == root:
        return ()
    last = tree[listener]
    before = known.get((root, last))
    if before is None:
        passed = [last]
        while passed[-1] != root:
            passed.append(tree[passed[-1]])
        ports = [links[hop][0] for hop in pairwise(reversed(passed))]
        before = known[root, last] = tuple([Hop(port, place) for place, port in enumerate(ports)])
    return (*before, Hop(links[last, listener][0], len(before)))


def _explicit(draft: Draft, flow: Flow, links: Links) -> tuple[Tree, Mapping[tuple[int, int], int]] | None:
    """The path as written, and the chosen parallel link (from 0) of its hops."""
    numbers = draft.node_numbers
    via = flow.stream.via or ()
    fault = _fault(draft, flow, [numbers.get(name) for name in via], links)
    if fault is not None:
        draft.problem(f"streams.{flow.group}.via", *fault)
        return None
    path = [numbers[name] for name in via]
    copies = zip(pairwise(path), flow.stream.via_links or (), strict=False)
    return {to: node for node, to in pairwise(path)}, {
        hop: copy - 1 for hop, copy in copies if copy is not None
    }


def _fault(draft: Draft, flow: Flow, hops: list[int | None], links: Links) -> tuple[str, str] | None:
    """The error of explicit hops: (expected, found)."""
    via = flow.stream.via or ()
    written = ", ".join(via) or "none"
    path = [node for node in hops if node is not None]
    names = [draft.nodes[node].name for node in path]
    if len(path) < len(via):
        return "nodes of the network", repr(
            next(name for name, node in zip(via, hops, strict=True) if node is None)
        )
    if not path or path[0] != flow.talker or path[-1] not in flow.listeners:
        return "hops from the talker to a listener, both included", written
    if len(set(path)) < len(path):
        return "every node once", written
    for place, hop in enumerate(pairwise(path)):
        if hop not in links:
            return "neighbours", f"no link {names[place]} - {names[place + 1]}"
    for node in path[1:-1]:
        if not draft.nodes[node].forwards:
            return "bridges or hosts on the way", f"station {draft.nodes[node].name}"
    for node in flow.listeners:
        if node not in path:
            return "all listeners on the way", f"none to {draft.nodes[node].name}"
    for hop, copy in zip(pairwise(path), flow.stream.via_links or (), strict=False):
        if copy is not None and not 1 <= copy <= len(links[hop]):
            return f"parallel link 1 to {len(links[hop])}", f"#{copy}"
    return None


def _grow(flow: Flow, tree: Tree, links: Links, chosen: Mapping[tuple[int, int], int]) -> None:
    """Keeps the tree's parts that lead to listeners: the talker's ports first, parents before children."""
    if len(flow.listeners) == 1:
        _grow_path(flow, tree, links, chosen)
        return
    depth = {flow.talker: 0}
    for listener in flow.listeners:
        path = []
        node = listener
        while node not in depth:
            path.append(node)
            node = tree[node]
        for passed in reversed(path):
            depth[passed] = depth[tree[passed]] + 1
    place: dict[int, int] = {}
    route: list[Hop] = []
    for node in sorted(depth, key=lambda node: (depth[node], node)):
        if node == flow.talker:
            continue
        parent = tree[node]
        parallel = links[parent, node]
        port = parallel[chosen.get((parent, node), flow.number) % len(parallel)]
        place[node] = len(route)
        route.append(Hop(port, place.get(parent)))
    flow.route = tuple(route)
    flow.ends = tuple(place[listener] for listener in flow.listeners)


def _grow_path(flow: Flow, tree: Tree, links: Links, chosen: Mapping[tuple[int, int], int]) -> None:
    """The route of a flow with a single listener: the path to it."""
    node = flow.listeners[0]
    ports: list[int] = []
    while node != flow.talker:
        hop = tree[node], node
        parallel = links[hop]
        ports.append(parallel[chosen.get(hop, flow.number) % len(parallel)])
        node = hop[0]
    ports.reverse()
    flow.route = tuple([Hop(port, place - 1 if place else None) for place, port in enumerate(ports)])
    flow.ends = (len(ports) - 1,)
