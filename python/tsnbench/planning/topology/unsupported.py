"""Mechanisms that the hardware of a node does not have, as far as its source says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsnbench.planning.draft import Draft, Flow, Gates, Port
    from tsnbench.scenario import model

WORDS = {
    "gates": "gate control lists",
    "cbs": "credit-based shapers",
    "ats": "asynchronous shaping",
    "cqf": "cyclic queuing",
    "preemption": "frame pre-emption",
    "filters": "stream filters",
    "frer": "seamless redundancy",
}
"""Mechanisms in words, by the keys of ``supports``."""


def unsupported(draft: Draft, number: int, device: model.Device) -> Iterator[tuple[str, str]]:
    """What is planned at a node although its hardware does not have it: what is expected, and found."""
    lacks = {name for name, has in device.supports.items() if has is False}
    for name, where in _used(draft, number) if lacks else ():
        if name in lacks:
            yield f"hardware with {WORDS[name]}", f"{device.name}, which has none, {where}"
    if (most := device.longest_history) is not None:
        for name, history in _histories(draft, number):
            if history > most:
                yield f"a history of at most {most} numbers, as {device.name} has", f"{history} of {name}"


def lists_of(port: Port) -> list[Gates]:
    """Every list that a port has during the run."""
    own = [gates for _, gates, _ in port.gate_changes]
    return own if port.gates is None else [port.gates, *own]


def _used(draft: Draft, number: int) -> Iterator[tuple[str, str]]:
    """The mechanisms that a node uses, each with its place."""
    node, cyclic = draft.nodes[number].name, False
    for port in draft.ports_of_nodes.get(number, ()):
        cyclic = cyclic or port.shaper.cqf is not None
        used = {
            "gates": bool(lists_of(port)) and port.shaper.cqf is None,
            "cbs": bool(port.cbs),
            "cqf": port.shaper.cqf is not None,
            "preemption": port.express is not None,
        }
        yield from ((name, f"at {port.name}") for name, has in used.items() if has)
    if (own := draft.policing.get(number)) is not None:
        if own.schedulers:
            yield "ats", f"at {node}"
        # The stream gates of cyclic queuing are a part of it.
        limits = any("max_sdu_octets" in one for one in own.filters)
        if own.meters or limits or (own.gates and not cyclic):
            yield "filters", f"at {node}"
    for name in _redundant(draft, number):
        yield "frer", f"for {name} at {node}"


def _redundant(draft: Draft, number: int) -> Iterator[str]:
    """The flows that a node splits into member streams, or whose member streams it merges."""
    for flow in draft.flows:
        for place, hop in enumerate(flow.route if flow.redundancy else ()):
            whole = hop.parent is None or not flow.copy(hop.parent)
            if draft.ports[hop.port].node == number and flow.copy(place) and whole:
                yield flow.name
                break
        else:
            if number in _merging(draft, flow):
                yield flow.name


def _merging(draft: Draft, flow: Flow) -> set[int]:
    """The nodes that merge the member streams of a flow."""
    merges = flow.redundancy.get("merges", ())
    return {draft.ports[flow.route[merge["from"][0]].port].to for merge in merges}


def _histories(draft: Draft, number: int) -> Iterator[tuple[str, int]]:
    """The flows whose member streams a node merges, and how many sequence numbers it remembers for each."""
    for flow in draft.flows:
        recovery = flow.redundancy.get("recovery")
        if recovery is None or number not in _merging(draft, flow):
            continue
        algorithm = recovery["algorithm"]
        if algorithm["kind"] == "vector":
            yield flow.name, algorithm["history"]
