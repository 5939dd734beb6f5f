"""The links and nodes whose failures a stream has to survive: the named ones that are on its paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.parts import without_none
from tsnbench.planning.select import select
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Survives


def name_failures(draft: Draft) -> None:
    """Fills ``survives`` of flows that have to survive failures."""
    for flow in draft.flows:
        if flow.stream.requires.survives is not None:
            flow.survives = _survives(draft, flow, flow.stream.requires.survives)


def _survives(draft: Draft, flow: Flow, required: model.Survives) -> Survives:
    """Links by the lower one of their ports. Others than those on the flow's paths lose no frame of it."""
    ports = [draft.ports[hop.port] for hop in flow.route]
    links = {min(port.number, port.peer) for port in ports}
    nodes = {node for port in ports for node in (port.node, port.to)} - {flow.talker, *flow.listeners}
    chosen_links: set[int] = set()
    chosen_nodes: set[int] = set()
    for text in required.of:
        if text == "links":
            chosen_links |= links
        elif text == "nodes":
            chosen_nodes |= nodes
        elif text == "bridge-links":
            chosen_links |= {number for number in links if _between_bridges(draft, number)}
        elif text in draft.node_numbers:
            chosen_nodes.add(draft.node_numbers[text])
        else:
            path = f"streams.{flow.group}.requires.survives.of"
            named = select(draft, text.replace("--", "->"), path)
            chosen_links |= {min(port.number, port.peer) for port in named}
    return without_none(
        {
            "failures": required.failures,
            "links": sorted(chosen_links & links) or None,
            "nodes": sorted(chosen_nodes & nodes) or None,
        }
    )


def _between_bridges(draft: Draft, number: int) -> bool:
    port = draft.ports[number]
    return all(draft.nodes[node].kind == "bridge" for node in (port.node, port.to))
