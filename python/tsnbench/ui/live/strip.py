"""The gates of one port over one cycle, with the planned frames in them.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from tsnbench.plan.gates import gate_lists
from tsnbench.report.parts.planned import PlannedPort, planned_port

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.plan.types import PlanDocument

MOST_SPANS = 2_000
"""Windows of one row, and frames, that are drawn."""


class Row(TypedDict):
    """Classes of the port whose gates always have equal states; times in ns from the begin of the cycle."""

    classes: list[int]
    scheduled: bool
    open: list[tuple[float, float]] | None
    """Begin and length of the windows; None if the gates never close."""


class Frame(TypedDict):
    """One planned frame on the wire, in ns from the begin of the cycle."""

    stream: str
    begin: float
    length: float
    margin: float
    """Greatest deviation of its time, to both sides."""
    row: int


class Strip(TypedDict):
    """One cycle of a port; it begins at a multiple of the cycle time."""

    port: str
    cycle_ns: int | None
    """None without gates and without scheduled streams."""
    rows: list[Row]
    frames: list[Frame]
    left_out: int
    """Frames and windows of the cycle that are not listed."""
    lists: int
    """Gate control lists of the port; the first one is shown."""


def strip(document: PlanDocument, name: str) -> Strip | None:
    """The cycle of a port; without a name, of the one with the longest gate control list.

    None if there is no such port.
    """
    ports = document["ports"]
    wanted = [
        place for place, port in enumerate(ports) if (port["name"] == name if name else "gates" in port)
    ]
    if not wanted:
        return None
    number = max(
        wanted, key=lambda place: len(ports[place]["gates"]["entries"]) if "gates" in ports[place] else 0
    )
    name = document["ports"][number]["name"]
    gates = document["ports"][number].get("gates")
    found = planned_port(document, number)
    if found is None:
        return {"port": name, "cycle_ns": None, "rows": [], "frames": [], "left_out": 0, "lists": 0}
    rows = _rows(found)
    frames = _frames(document, document["ports"][number]["pcp_to_class"], found)
    hidden = max(0, len(frames) - MOST_SPANS) + sum(
        max(0, len(row["open"]) - MOST_SPANS) for row in rows if row["open"]
    )
    for row in rows:
        row["open"] = row["open"] and row["open"][:MOST_SPANS]
    return {
        "port": name,
        "cycle_ns": found.cycle,
        "rows": rows,
        "frames": frames[:MOST_SPANS],
        "left_out": found.left_out + hidden,
        "lists": len(gate_lists(gates)) if gates else 0,
    }


def _rows(port: PlannedPort) -> list[Row]:
    return [
        {
            "classes": list(lane.classes),
            "scheduled": lane.scheduled,
            "open": None if any(length >= port.cycle for _, length in lane.open) else list(lane.open),
        }
        for lane in port.lanes
    ]


def _frames(document: PlanDocument, class_of: Sequence[int], port: PlannedPort) -> list[Frame]:
    rows = {own: place for place, lane in enumerate(port.lanes) for own in lane.classes}
    return [
        {
            "stream": document["streams"][slot.number]["group"],
            "begin": slot.begin,
            "length": slot.length,
            "margin": slot.margin,
            "row": rows[class_of[document["streams"][slot.number]["pcp"]]],
        }
        for slot in port.slots
    ]
