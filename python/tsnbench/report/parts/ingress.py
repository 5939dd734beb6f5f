"""The effects of stream filters, schedulers and cyclic queues on frames.

IEEE 802.1Q-2022, 8.6.5, 8.6.11 and annex T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.report.facts import Counted, Policed
from tsnbench.report.formatting import count

if TYPE_CHECKING:
    from tsnbench.foreign import Json

MOST_ROWS = 60
"""Rows of the table: those that stopped the most."""
NOT_COUNTED = "\u2013"


@dataclass(frozen=True)
class IngressRow:
    """One filter, scheduler group or cyclic queue, ready to print."""

    where: str
    what: str
    frames: str
    too_long: str
    gate: str
    yellow: str
    red: str
    late: str


def policed(counters: Json) -> tuple[Policed, ...]:
    """One filter, scheduler group or cyclic queue, in printed form."""
    found = []
    for node in counters.get("policing") or ():
        name = str(node["node"])
        for own in node["filters"]:
            kinds = (
                "matching_frames",
                "not_passing_sdu",
                "not_passing_frames",
                "yellow_frames",
                "red_frames",
            )
            matching, long, gate, yellow, red = (int(own[kind]) for kind in kinds)
            found.append(Policed(name, f"filter {own['filter']}", matching, long, gate, yellow, red))
        for own in node.get("groups") or ():
            what = f"scheduler group {own['group']}"
            found.append(Policed(name, what, None, late=int(own["discarded_frames"])))
    return tuple(found)


def ingress_rows(counters: Counted | None) -> list[IngressRow]:
    """Filters with matching frames, scheduler groups, and cyclic queues that frames left late."""
    if counters is None:
        return []
    found = [own for own in counters.policed if own.frames != 0]
    found += [
        Policed(port.port, f"cyclic queue {own.traffic_class}", own.sent_frames, late=own.late)
        for port in counters.ports
        for own in port.classes
        if own.late
    ]
    return [_row(own) for own in _most(found)]


def left_out(counters: Counted | None) -> int:
    """Number of filters and groups that are not in the table."""
    if counters is None:
        return 0
    return max(0, len([own for own in counters.policed if own.frames != 0]) - MOST_ROWS)


def _most(found: Sequence[Policed]) -> list[Policed]:
    """The first in their order, without those that stopped the least if there are too many."""
    kept = sorted(range(len(found)), key=lambda place: (-found[place].stopped, place))[:MOST_ROWS]
    return [found[place] for place in sorted(kept)]


def _row(own: Policed) -> IngressRow:
    numbers = (own.frames, own.too_long, own.gate, own.yellow, own.red, own.late)
    return IngressRow(own.where, own.what, *(NOT_COUNTED if n is None else count(n) for n in numbers))
