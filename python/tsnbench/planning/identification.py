"""How bridges know a stream whose copies they make or eliminate: by what no other frame there has.

IEEE 802.1CB-2017, 6.4 to 6.7.
"""

from __future__ import annotations

from collections.abc import Hashable

from tsnbench.planning.draft import Draft, Flow

FUNCTIONS = ("null", "source-mac", "ip")
"""In the order in which they are tried where a scenario leaves the choice."""


def identify(draft: Draft) -> None:
    """Fills ``identification`` where the scenario does not say it: the first function that tells the stream
    apart from every other one at the nodes where it acts."""
    passing = [_passed(draft, flow) for flow in draft.flows]
    for number, flow in enumerate(draft.flows):
        recovery = flow.redundancy.get("recovery")
        if recovery is None or recovery["identification"] is not None:
            continue
        acting = _acting(draft, flow)
        others = [
            other for place, other in enumerate(draft.flows) if place != number and passing[place] & acting
        ]
        recovery["identification"] = next(
            (name for name in FUNCTIONS if all(_seen(name, flow) != _seen(name, other) for other in others)),
            FUNCTIONS[-1],
        )


def _seen(function: str, flow: Flow) -> tuple[Hashable, ...]:
    """What a function looks at."""
    vid = flow.stream.vid
    if function == "null":
        return flow.destination_mac, vid
    if function == "source-mac":
        return flow.talker, vid
    return flow.destination_ipv4, flow.talker, flow.udp_port, vid


def _passed(draft: Draft, flow: Flow) -> set[int]:
    return {node for hop in flow.route for node in (draft.ports[hop.port].node, draft.ports[hop.port].to)}


def _acting(draft: Draft, flow: Flow) -> set[int]:
    """The nodes where copies are made or meet."""
    copies = flow.redundancy.get("copies", ())
    made = {
        draft.ports[hop.port].node
        for hop, copy in zip(flow.route, copies, strict=False)
        if copy and (hop.parent is None or not copies[hop.parent])
    }
    meets = flow.redundancy.get("merges", ())
    return made | {draft.ports[flow.route[merge["from"][0]].port].to for merge in meets}
