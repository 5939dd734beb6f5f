"""The links and nodes whose failures a stream has to survive: the named ones that are on its paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.parts import without_none
from tsnbench.planning.select import select
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Survives


def name_failures(draft: Draft) -> None:
    """Fills ``survives`` of flows that have to survive failures."""
    for flow in draft.flows:
        kinds = flow.stream.requires.survives
        flow.survives = [_survives(draft, flow, required) for required in kinds]
        numbers = [required.failures for required in kinds]
        if len(set(numbers)) < len(numbers) and not flow.number:
            again = next(number for place, number in enumerate(numbers) if number in numbers[:place])
            draft.problem(
                f"streams.{flow.group}.requires.survives",
                "each number of failures once",
                f"any: {again} again",
                f"write one {{any: {again}, of: […]}} with all of these links and nodes",
            )


def _survives(draft: Draft, flow: Flow, required: model.Survives) -> Survives:
    """Links by the lower one of their ports. Others than those on the flow's paths lose no frame of it."""
    links, nodes = failing(draft, flow, required, [draft.ports[hop.port] for hop in flow.route])
    return without_none(
        {"failures": required.failures, "links": sorted(links) or None, "nodes": sorted(nodes) or None}
    )


def failing(
    draft: Draft, flow: Flow, required: model.Survives, ports: Iterable[Port]
) -> tuple[set[int], set[int]]:
    """The parts that may fail among the links of some ports and their nodes: links by their lower port, and
    nodes.

    The flow's talker and its listeners do not fail.
    """
    links: set[int] = set()
    nodes: set[int] = set()
    for port in ports:
        links.add(min(port.number, port.peer))
        nodes |= {port.node, port.to}
    nodes -= {flow.talker, *flow.listeners}
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
    return chosen_links & links, chosen_nodes & nodes


def _between_bridges(draft: Draft, number: int) -> bool:
    port = draft.ports[number]
    return all(draft.nodes[node].kind == "bridge" for node in (port.node, port.to))
