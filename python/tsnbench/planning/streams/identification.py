"""Stream identification in bridges that split a stream or merge its member streams.

IEEE 802.1CB-2017, 6.4 to 6.7.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Literal

from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.topology.addressing import rewritten_mac
from tsnbench.scenario import model

FUNCTIONS: tuple[Literal["null", "source-mac", "ip"], ...] = ("null", "source-mac", "ip")
"""In the order in which they are tried where a scenario leaves the choice."""


def identify(draft: Draft) -> None:
    """Fills ``identification`` if the scenario does not: the first function that distinguishes the stream
    from every other one at the nodes where it acts."""
    for number, flow in enumerate(draft.flows):
        _rewrite(draft, number, flow)
    if not any("recovery" in flow.redundancy for flow in draft.flows):
        return
    passing = [_passed(draft, flow) for flow in draft.flows]
    for number, flow in enumerate(draft.flows):
        frer = flow.stream.frer
        if frer is None or frer.identification is not None or "recovery" not in flow.redundancy:
            continue
        acting = _acting(draft, flow)
        others = [
            other for place, other in enumerate(draft.flows) if place != number and passing[place] & acting
        ]
        flow.redundancy["recovery"]["identification"] = next(
            (
                name
                for name in FUNCTIONS
                if not any(_seen(name, flow) & _seen(name, other) for other in others)
            ),
            FUNCTIONS[-1],
        )


def _rewrite(draft: Draft, number: int, flow: Flow) -> None:
    """The address, VLAN and priority of member streams with active identification. IEEE 802.1CB-2017, 6.6."""
    active = flow.stream.frer.identification if flow.stream.frer else None
    if not isinstance(active, model.ActiveIdentification) or "recovery" not in flow.redundancy:
        return
    stream = flow.stream
    if stream.vid is None:
        path = f"streams.{flow.group}.frer.identification.active"
        hint = "leave vlan: none out, or write null, source-mac or ip"
        draft.problem(path, "tagged frames, whose VLAN and priority can change", "vlan: none", hint)
        return
    flow.redundancy["recovery"]["identification"] = {
        "active": {
            "destination_mac": active.destination or rewritten_mac(number, len(flow.listeners) > 1),
            "vid": stream.vid if active.vlan is None else active.vlan,
            "pcp": stream.pcp if active.pcp is None else active.pcp,
        }
    }


def _seen(function: str, flow: Flow) -> Set[tuple[Hashable, ...]]:
    """The fields that an identification function reads, as they are in the frames of a flow."""
    pairs = [(flow.destination_mac, flow.stream.vid)]
    if flow.rewritten:
        pairs.append((flow.rewritten["destination_mac"], flow.rewritten["vid"]))
    if function == "null":
        return set(pairs)
    if function == "source-mac":
        return {(flow.talker, vid) for _, vid in pairs}
    return {(flow.destination_ipv4, flow.talker, flow.udp_port, vid) for _, vid in pairs}


def _passed(draft: Draft, flow: Flow) -> set[int]:
    return {node for hop in flow.route for node in (draft.ports[hop.port].node, draft.ports[hop.port].to)}


def _acting(draft: Draft, flow: Flow) -> set[int]:
    """The nodes where a stream splits or member streams merge."""
    copies, merges = flow.redundancy["copies"], flow.redundancy["merges"]
    made = {
        draft.ports[hop.port].node
        for hop, copy in zip(flow.route, copies, strict=True)
        if copy and (hop.parent is None or not copies[hop.parent])
    }
    return made | {draft.ports[flow.route[merge["from"][0]].port].to for merge in merges}
