"""The greatest error of a run's times: what is known before the run, and what the run's clocks show.

Nothing is assumed in favour of a verdict: an error that nobody knows is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.conform.judge import PREAMBLE, SIGMAS, Error
from tsnbench.measure.stamps import stamps
from tsnbench.runs.errors import FolderError
from tsnbench.runs.stamps import KERNEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsnbench.plan.document import Plan
    from tsnbench.runs.stamps import NodeStamps

EXACT, KERNELS = ("simulation", "vm"), ("vm", "netns")
"""Backends whose stamps mean a known point of the frame, exactly; where a kernel imitates the device."""
ROUNDING_NS = 2
SOFTWARE_NS = 1_000
"""Error of one stamp of a kernel, if nothing else is known of it."""


def before(plan: Plan, backend: str, asked_ns: int) -> Error:
    """The error that is known before a run.

    Args:
        plan: of a stimulus.
        backend: the name of the place where it runs.
        asked_ns: the tolerance that the user asks for.
    """
    document = plan.document
    granularity = max((tap["granularity_ns"] for tap in document["taps"]), default=1)
    slowest = min(port["rate_bps"] for port in document["ports"])
    exact, software = backend in EXACT, backend == "netns"
    stamp = max(granularity, SOFTWARE_NS) if software else granularity
    resolution = ROUNDING_NS + (0 if exact else round(PREAMBLE * 8e9 / slowest))
    clocks = document.get("clocks")
    if clocks is None:
        # Hosts tell the errors of their clocks after the run.
        clock = None if backend == "hosts" else 0
    else:
        clock = clocks.get("within_ns") if "gptp" in clocks else None
    kernel, planned = backend in KERNELS, backend != "hosts"
    return Error(SIGMAS * stamp, clock, resolution, asked_ns, clock, not software, kernel, planned)


def may_follow(plan: Plan, backend: str) -> bool:
    """Whether the error of the clocks that is not known before the run can be known after it."""
    clocks = plan.document.get("clocks")
    return backend == "hosts" if clocks is None else "gptp" in clocks


def after(
    error: Error, plan: Plan, folder: Path, device: str, senders: Sequence[str], at: str, dilate: int = 1
) -> Error:
    """The error with the readings of the clocks during the run.

    Args:
        error: known before the run.
        plan: of the run.
        folder: of the run.
        device: the device under test.
        senders: the nodes that stamp frames on their way to the device.
        at: the node that stamps frames behind it.
        dilate: how many times slower the run was than its Plan.

    Raises:
        FolderError: a file with readings cannot be used.
    """
    try:
        found = stamps(folder)
    except (OSError, ValueError) as problem:
        raise FolderError(folder, f"the readings of the clocks cannot be used: {problem}") from problem
    clocks = plan.document.get("clocks")
    if found is None or (clocks is not None and "gptp" not in clocks):
        return error
    first = min((stream["start_ns"] for stream in plan.document["streams"]), default=0)
    known = [one for node in (*senders, at) if (one := found.get(node)) is not None]
    of_all, behind = (
        max(error.stamps_ns, SIGMAS * max((_stamp_ns(one, dilate) for one in those), default=0))
        for those in (known, [one for one in known if one is found.get(at)])
    )
    # A virtual interface hands a frame over at once, a card when the whole frame is there.
    software = any(one["clock"].startswith(KERNEL) for one in known)
    return replace(
        error,
        stamps_ns=of_all,
        behind_ns=behind if at in found else None,
        whole=error.whole and not software,
        clock_ns=_apart(found, [device], at, first),
        testers_ns=_apart(found, senders, at, first),
    )


def _stamp_ns(one: NodeStamps, dilate: int) -> int:
    """The error of one stamp of a node."""
    software = -(-SOFTWARE_NS // dilate) if one["clock"].startswith(KERNEL) else 0
    return max(one.get("granularity_ns", 1) + one.get("unseen_ns", 0), software)


def _apart(found: Mapping[str, NodeStamps], nodes: Sequence[str], at: str, from_ns: int) -> int | None:
    """The greatest difference of the clocks of nodes from that of another one; None if it is not known."""
    most, there = 0, found.get(at)
    for node in nodes:
        own = found.get(node)
        if own is None or there is None:
            return None
        if own["clock"] == there["clock"]:
            continue
        if not own["readings"] or not there["readings"]:
            return None
        most = max(most, _most_ns(own, from_ns) + _most_ns(there, from_ns))
    return most


def _most_ns(one: NodeStamps, from_ns: int) -> int:
    """The greatest error of a clock from a time on: at readings, and in between by its drift."""
    every = sorted(one["readings"], key=lambda reading: reading[0])
    readings = [reading for reading in every if reading[0] >= from_ns] or every
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(readings)]
    between = max(gaps, default=0) // 2 * one["drift_ppb"] // 10**9
    return -(-max(abs(offset) + unsure for _, offset, unsure in readings) // 1000) + between
