"""The streams that cross each class of each port, whose frames gates may hold.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tsnbench.plan.frames import tag_octets
from tsnbench.plan.streams.policing import chosen_by_gates
from tsnbench.plan.streams.regeneration import priorities_of

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Stream

Crossing = tuple["Stream", int]
"""A stream, and the octets that an R-TAG adds to its frames."""


def crossing_classes(document: PlanDocument) -> dict[tuple[int, int], list[Crossing]]:
    """The streams whose frames gates may hold, by port and class; empty if no port has gates."""
    if not any("gates" in port for port in document["ports"]):
        return {}
    crossing: dict[tuple[int, int], list[Crossing]] = defaultdict(list)
    chosen = chosen_by_gates(document)
    classes = [port["pcp_to_class"] for port in document["ports"]]
    regenerated = "policing" in document
    for number, stream in enumerate(document["streams"]):
        if not regenerated and not chosen and "redundancy" not in stream:
            plain, pcp = (stream, 0), stream["pcp"]
            for hop in stream["route"]:
                port = hop["port"]
                crossing[port, classes[port][pcp]].append(plain)
            continue
        pcps = priorities_of(document, stream)
        for place, hop in enumerate(stream["route"]):
            traffic_class = classes[hop["port"]][pcps[place]]
            if (number, place) in chosen:
                continue
            crossing[hop["port"], traffic_class].append((stream, tag_octets(stream, place)))
    return dict(sorted(crossing.items(), key=lambda item: item[0]))


def crossed_classes(document: PlanDocument) -> list[tuple[int, int]] | None:
    """The keys of :func:`crossing_classes`, without the streams' lists; None where only the lists tell."""
    if "policing" in document or any("redundancy" in stream for stream in document["streams"]):
        return None
    if not any("gates" in port for port in document["ports"]):
        return []
    passed: dict[int, set[int]] = defaultdict(set)
    for stream in document["streams"]:
        passed[stream["pcp"]].update([hop["port"] for hop in stream["route"]])
    return sorted(
        {
            (port, document["ports"][port]["pcp_to_class"][pcp])
            for pcp, ports in passed.items()
            for port in ports
        }
    )
