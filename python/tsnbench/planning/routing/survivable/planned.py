"""The paths of a stream from the failures that it has to survive: ``frer: {paths: from-failures}``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.routing.survivable.flow import Demand, Link
from tsnbench.planning.routing.survivable.search import fewest_links, routed
from tsnbench.planning.streams.survival import failing
from tsnbench.scenario import model

Paths = list[list[list[int]]]
"""Per listener, paths as ports."""
Known = dict[tuple[object, ...], frozenset[int]]
"""The links that other flows with the same ends and failures have."""


def from_failures(draft: Draft, flow: Flow, known: Known) -> tuple[Paths, list[int]] | None:
    """The paths to each listener, and the nodes where they merge; None after a problem.

    Every node that two links lead to merges member streams, so each link carries a frame once, and frames
    change sides there (ladder redundancy).
    """
    kinds = flow.stream.requires.survives
    if not kinds:
        draft.problem(
            f"streams.{flow.group}.frer.paths",
            "failures to survive beside paths: from-failures",
            "none",
            "write requires: {survives: 1}",
        )
        return None
    demands: list[Demand] = []
    for required in kinds:
        own = _demands(draft, flow, required)
        for demand in own:
            cut = demand.cut()
            if cut is not None:
                _refuse(draft, flow, required, demand, cut, _remedy(draft, flow, required, own))
                return None
        demands += own
    # The flows of a stream, and of streams that differ in their frames alone, have the same paths.
    key = (flow.talker, flow.listeners, kinds)
    chosen = known.get(key)
    if chosen is None:
        chosen = known[key] = fewest_links(demands)
    links = demands[0].links
    found: Paths = [[] for _ in flow.listeners]
    # Of each kind of failures, one demand for each listener.
    for number, (demand, routes) in enumerate(zip(demands, routed(demands, chosen), strict=True)):
        paths = [[links[place].port for place in path] for path in demand.paths(routes)]
        to = found[number % len(found)]
        to += [path for path in paths if path not in to]
    passed = {port for paths in found for path in paths for port in path}
    into = Counter(draft.ports[port].to for port in passed)
    return found, sorted(node for node, count in into.items() if count > 1)


def _demands(draft: Draft, flow: Flow, required: model.Survives) -> list[Demand]:
    """One for each listener. Stations that are none do not forward."""
    receives = [node.forwards or number in flow.listeners for number, node in enumerate(draft.nodes)]
    sends = [node.forwards or number == flow.talker for number, node in enumerate(draft.nodes)]
    ports = [port for port in draft.ports if sends[port.node] and receives[port.to]]
    failing_links, failing_nodes = failing(draft, flow, required, ports)
    named = {port: f"the link {draft.ports[port].name.replace(' -> ', ' -- ')}" for port in failing_links}
    links = [Link(port.number, port.peer, port.node, port.to) for port in ports]
    return [
        Demand(
            links=links,
            talker=flow.talker,
            listener=listener,
            failures=required.failures,
            failing_links=named,
            failing_nodes={node: draft.nodes[node].name for node in sorted(failing_nodes)},
        )
        for listener in flow.listeners
    ]


def _refuse(
    draft: Draft, flow: Flow, required: model.Survives, demand: Demand, cut: Sequence[str], hint: str
) -> None:
    """Names the parts without which no path is left; the scenario has one if nothing fails."""
    ends = f"{draft.nodes[demand.talker].name} to {draft.nodes[demand.listener].name}"
    parts = " and ".join([", ".join(cut[:-1]), cut[-1]] if len(cut) > 1 else cut)
    verb = "connect" if len(cut) > 1 else "connects"
    fail = "any one of them fails" if required.failures == 1 else f"any {required.failures} of them fail"
    draft.problem(
        f"streams.{flow.group}.requires.survives",
        f"a path that is left if {fail}",
        f"{parts} alone {verb} {ends}",
        hint,
    )


def _remedy(draft: Draft, flow: Flow, required: model.Survives, demands: Sequence[Demand]) -> str:
    """What else the network survives, if it does."""
    for failures in range(required.failures - 1, 0, -1):
        if all(replace(demand, failures=failures).cut() is None for demand in demands):
            return f"add links, or write any: {failures}"
    others = _demands(draft, flow, required.model_copy(update={"of": ("bridge-links",)}))
    if others[0].failing_links and all(demand.cut() is None for demand in others):
        many = f"any: {required.failures}, " if required.failures > 1 else ""
        return f"add links, or write survives: {{{many}of: [bridge-links]}}"
    return "add links"
