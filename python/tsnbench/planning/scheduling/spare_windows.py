"""Spare windows: at each port and queue of scheduled streams so many windows more than frames, per round of
their periods. A queue with a frame that missed its window drains there.

A spare window is planned as a stream from one node to the next that never sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft
from tsnbench.planning.scheduling.engines import name_paths, search
from tsnbench.quantities import time

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Found, Placed, Problem, Stream


def with_spare_windows(
    draft: Draft,
    problem: Problem,
    found: Found,
    earlier: Sequence[Placed | None],
    planned: Sequence[bool],
) -> tuple[Problem, Found]:
    """The problem with spare windows behind its streams, which keep their paths, and its schedule.

    Args:
        draft: takes the problem if there is no room.
        problem: the problem without spare windows.
        found: a schedule for it.
        earlier: by stream the decision of an earlier Plan.
        planned: by port, whether its gates are planned.
    """
    wanted = draft.scenario.schedule
    name_paths(problem, found)
    placed = [own for own in found["outcome"]["placed"] if own is not None]
    streams: list[Stream] = [
        {**stream, "tree": own["tree"]} for stream, own in zip(problem["streams"], placed, strict=True)
    ]
    spare = _spare(problem, placed, wanted.spare_windows, planned)
    more: Problem = {**problem, "streams": streams + spare}
    none: list[None] = [None] * len(spare)
    for kept in ([*placed, *none], [*earlier, *none] if any(earlier) else []):
        found = search(wanted, more, kept)
        if not found["reasons"]:
            return more, found
    link = next((reason["link"] for reason in found["reasons"] if "link" in reason), None)
    where = "" if link is None else f" at {draft.ports[link].name}"
    number = wanted.spare_windows
    longest = max(stream["period_ns"] for stream in spare)
    draft.problem(
        "schedule.spare-windows",
        f"{number} spare window{'s' if number > 1 else ''} at each port of scheduled streams",
        f"no room{where} within {time(longest)}",
        "leave spare-windows out, or write fewer or smaller streams",
    )
    return more, found


def _spare(problem: Problem, placed: Sequence[Placed], count: int, planned: Sequence[bool]) -> list[Stream]:
    """Streams that never send, as large as the largest frame of each queue at each link."""
    periods: dict[int, int] = {}
    largest: dict[tuple[int, int], int] = {}
    for stream, own in zip(problem["streams"], placed, strict=True):
        tags = stream.get("more_octets") or [0] * len(own["tree"])
        for entry, tag in zip(own["tree"], tags, strict=True):
            link = entry["link"]
            if not planned[link]:
                continue
            periods[link] = lcm(periods.get(link, 1), stream["period_ns"])
            key = link, own["queue"]
            largest[key] = max(largest.get(key, 0), max(stream["frames"]) + tag)
    return [
        {
            "talker": problem["links"][link]["from"],
            "listeners": [problem["links"][link]["to"]],
            "period_ns": periods[link],
            "frames": [octets],
            "deadline_ns": periods[link],
            "earliest_ns": 0,
            "latest_ns": periods[link] - 1,
            "queue": queue,
            "tree": [link],
        }
        for (link, queue), octets in sorted(largest.items())
        for _ in range(count)
    ]
