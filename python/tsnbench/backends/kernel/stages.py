"""Talkers and listeners of a job, and their records of when frames pass the stages of a host.

The kernel's documentation, networking/timestamping.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError

if TYPE_CHECKING:
    from tsnbench.backends.kernel.results.returned import Returned
    from tsnbench.plan.types import PlanDocument

TALKERS = {"interval-start", "wakeup", "send", "qdisc", "driver"}
LISTENERS = {"kernel-rx", "app-rx"}
LISTENING = 40
"""Priority under ``SCHED_FIFO``: lower than that of talkers, which must be on time."""
PTP4L = 45
"""Priority of ptp4l: below talkers, whose time other nodes' messages give; above listeners."""


@dataclass(frozen=True)
class Talker:
    """The program that sends all streams of a node."""

    node: int
    ports: list[int]
    """All ports of the node."""
    notes: bool
    """Whether the host records when frames pass its stages."""


@dataclass(frozen=True)
class Listener:
    """The program that receives at a port whose stages are observed; it ends by itself."""

    node: int
    port: int


def talkers(plan: PlanDocument) -> list[Talker]:
    """One per node that sends."""
    return [
        Talker(
            node,
            [number for number, port in enumerate(plan["ports"]) if port["node"] == node],
            any(
                tap["stage"] in TALKERS and plan["ports"][tap["port"]]["node"] == node for tap in plan["taps"]
            ),
        )
        for node in sorted({stream["talker"] for stream in plan["streams"]})
    ]


def listeners(plan: PlanDocument) -> list[Listener]:
    """One per port with a tap at a stage of a listener."""
    ports = sorted({tap["port"] for tap in plan["taps"] if tap["stage"] in LISTENERS})
    return [Listener(plan["ports"][port]["node"], port) for port in ports]


def names(returned: Returned) -> list[str]:
    """Names of the files that :func:`logs` writes."""
    return sorted(own for own in returned.files if own.startswith("sights-"))


def logs(returned: Returned, into: Path) -> list[str]:
    """The records of talkers and listeners, as files."""
    found = []
    for own in names(returned):
        path = into / own
        path.write_bytes(returned.files[own])
        found.append(str(path))
    return found


def check(returned: Returned) -> None:
    """Checks that every listener kept up with its frames.

    Raises:
        BackendError: a listener did not.
    """
    for own in sorted(returned.files):
        if own.startswith("heard-"):
            for one in json.loads(returned.files[own])["interfaces"]:
                if one["dropped_by_listener"]:
                    lost = one["dropped_by_listener"]
                    raise BackendError(
                        f"the listener at {one['name']} did not keep up: {lost} frames had no room"
                    )


def check_stamps(plan: PlanDocument, frames: Sequence[Sequence[int]], captured: Container[int]) -> None:
    """Checks that talkers had the stamps of all frames that arrived.

    The kernel drops stamps without a word if a talker does not read them in time; its frames would seem
    never to have been sent.

    Args:
        plan: the run's Plan.
        frames: by tap and stream, the frames that were sighted.
        captured: the taps whose frames are from captures.

    Raises:
        BackendError: stamps are missing.
    """
    taps = {(tap["port"], tap["stage"]): number for number, tap in enumerate(plan["taps"])}
    for number, stream in enumerate(plan["streams"]):
        first = taps.get((stream["route"][0]["port"], "tx"))
        if first is None or first in captured or not any(frames[first]):
            continue
        if "redundancy" in stream or plan.get("faults"):
            # A copy may arrive, too.
            continue
        lasts = [
            taps.get((plan["ports"][stream["route"][one["route"]]["port"]]["peer"], "rx"))
            for one in stream["listeners"]
        ]
        arrived = max((frames[last][number] for last in lasts if last is not None), default=0)
        if frames[first][number] < arrived:
            raise BackendError(
                f"the talker of {stream['name']} has stamps of {frames[first][number]} frames, and {arrived} "
                "arrived\n"
                "hint: it was too late to read them; stretch time with --dilate 10, or let talkers talk less"
            )
