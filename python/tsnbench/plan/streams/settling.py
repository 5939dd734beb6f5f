"""The difference between clocks that a Plan allows, and the time that a servo needs to reach it."""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import Clocks, PlanDocument

FIRST_STEP_NS = 20_000
"""A greater first offset is stepped away: ``first_step_threshold`` of ptp4l(8)."""


def margin_ps(document: PlanDocument) -> int | None:
    """The difference of clocks that the schedule allows: the least margin of a scheduled stream. Without one,
    the difference that the scenario promises.

    None without clocks, and if the Plan has neither.
    """
    if "clocks" not in document:
        return None
    margins = [one["scheduled"].get("margin_ps", 0) for one in document["streams"] if "scheduled" in one]
    return min(margins, default=0) or document["clocks"].get("within_ns", 0) * 1_000 or None


def settling_ns(document: PlanDocument) -> int | None:
    """About how long the servos need until clocks stay within the margin; None if nothing has to settle.

    A servo corrects nothing before its second Sync, so two intervals pass first. After this, each Sync leaves
    ``sqrt(1 - kp T)`` of the offset: the magnitude of the poles of linuxptp's proportional-integral servo
    with its default gains, ``z^2 - (2 - kp T - ki T) z + 1 - kp T``. Servos in a row settle together.
    """
    margin = margin_ps(document)
    gptp = document.get("clocks", {}).get("gptp")
    if margin is None or gptp is None:
        return None
    interval = gptp["sync_interval_ns"]
    first = min(_first_offset_ns(document["clocks"], 2 * interval), FIRST_STEP_NS)
    seconds = interval / 1e9
    gain = min(0.7 * seconds**-0.3, 0.7 / seconds) * seconds
    further = log(first * 1_000 / margin) / -log((1 - gain) ** 0.5) if first * 1_000 > margin else 0
    return int(2 * interval + ceil(further) * interval)


def _first_offset_ns(clocks: Clocks, after_ns: int) -> int:
    """The greatest difference of two clocks before the first correction."""
    leads = [own["offset_ns"] + own["deviation_ppt"] * after_ns // 10**12 for own in clocks["nodes"]]
    return max(leads) - min(leads)
