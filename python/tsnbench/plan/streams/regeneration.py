"""Priorities of a stream's frames along their route, which bridges and member streams may change.

IEEE 802.1Q-2022, 6.9.4; IEEE 802.1CB-2017, 6.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Redundancy, Rewritten, Stream


def rewriting(redundancy: Redundancy) -> Rewritten | None:
    """The fields of member streams with active identification: destination_mac, vid, pcp; otherwise None."""
    function = redundancy.get("recovery", {}).get("identification")
    return None if function is None or isinstance(function, str) else function["active"]


def priorities_along(
    route: Sequence[tuple[int | None, int]],
    pcp: int,
    tables: Mapping[int, Sequence[int]],
    copies: Sequence[int],
    rewritten: int | None,
) -> list[int]:
    """The priority with which frames leave by each entry of a route.

    Args:
        route: the parent of each entry, and the port at its other end. pcp: the talker's priority. tables:
        regenerated priority by port of ingress and received priority. copies: number of the member stream of
        each entry; 0 for a frame without an R-TAG. rewritten: the priority of member streams, if active
        identification changes it. After the last merge point, frames have their original priority again.
    """
    found: list[int] = []

    def after(parent: int | None) -> int:
        if parent is None:
            return pcp
        table = tables.get(route[parent][1])
        return found[parent] if table is None else table[found[parent]]

    def is_rewritten(place: int | None) -> bool:
        return rewritten is not None and place is not None and place < len(copies) and copies[place] > 0

    for place, (parent, _) in enumerate(route):
        if rewritten is not None and is_rewritten(place):
            found.append(rewritten)
            continue
        plain = parent
        while plain is not None and is_rewritten(plain):
            plain = route[plain][0]
        found.append(after(plain))
    return found


def priorities_of(document: PlanDocument, stream: Stream) -> list[int]:
    """The priority with which a stream's frames leave by each entry of its route; IEEE 802.1Q-2022, 6.9.4."""
    redundancy = stream.get("redundancy", {})
    rewritten = rewriting(redundancy)
    if "policing" not in document and not rewritten:
        return [stream["pcp"]] * len(stream["route"])
    tables = {
        table["port"]: table["pcp"]
        for own in document.get("policing", ())
        for table in own.get("regeneration", ())
    }
    route = [(hop.get("parent"), document["ports"][hop["port"]]["peer"]) for hop in stream["route"]]
    pcp = rewritten["pcp"] if rewritten else None
    return priorities_along(route, stream["pcp"], tables, redundancy.get("copies", ()), pcp)
