"""What a stream's frames show along their route: priorities that bridges or copies change.

IEEE 802.1Q-2022, 6.9.4; IEEE 802.1CB-2017, 6.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def rewriting(redundancy: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What copies show with active identification: destination_mac, vid, pcp; None without."""
    function = redundancy.get("recovery", {}).get("identification")
    found: Mapping[str, Any] | None = function["active"] if isinstance(function, Mapping) else None
    return found


def priorities_along(
    route: Sequence[tuple[int | None, int]],
    pcp: int,
    tables: Mapping[int, Sequence[int]],
    copies: Sequence[int],
    rewritten: int | None,
) -> list[int]:
    """The priority with which frames leave by each entry of a route.

    Args:
        route: of each entry its parent and the port at the other end.
        pcp: of the talker.
        tables: by port of ingress, received to regenerated priority.
        copies: of each entry, 0 for the plain frame.
        rewritten: of copies, where active identification changes it. Where they have met for the last
            time, frames get back the priority that they had.
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
