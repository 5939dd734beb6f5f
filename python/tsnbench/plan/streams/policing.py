"""Matching of stream filters, and selection of queues by stream gates.

IEEE 802.1Q-2022, 8.6.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.plan.streams.regeneration import priorities_of

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, StreamFilter


def chosen_by_gates(document: PlanDocument) -> set[tuple[int, int]]:
    """(stream, entry of its route) whose queue a stream gate chooses, not the frame's priority."""
    found: set[tuple[int, int]] = set()
    for own in document.get("policing", ()):
        filters = own.get("filters", [])
        gates = own.get("gates", [])
        for number, stream in enumerate(document["streams"]):
            pcps = priorities_of(document, stream)
            for place, hop in enumerate(stream["route"]):
                parent = hop.get("parent")
                if parent is None or document["ports"][hop["port"]]["node"] != own["node"]:
                    continue
                ingress = document["ports"][stream["route"][parent]["port"]]["peer"]
                meets = matching(filters, ingress, number, pcps[place])
                gate = None if meets is None else filters[meets].get("gate")
                if gate is not None and any("ipv" in entry for entry in gates[gate]["entries"]):
                    found.add((number, place))
    return found


def matching(filters: Sequence[StreamFilter], port: int, stream: int, priority: int) -> int | None:
    """The index of the filter that a flow's frames match, by the rules of the simulator."""
    for place, one in enumerate(filters):
        by_port = port in one.get("ports", [port])
        by_stream = stream in one.get("streams", [stream])
        if by_port and by_stream and one.get("priority", priority) == priority:
            return place
    return None
