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

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan
    from tsnbench.runs.stamps import NodeStamps

EXACT = ("simulation", "vm")
"""Backends whose stamps mean a known point of the frame, exactly."""
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
    exact = backend in EXACT
    stamp = granularity if exact else max(granularity, SOFTWARE_NS if backend == "netns" else granularity)
    resolution = ROUNDING_NS + (0 if exact else round(PREAMBLE * 8e9 / slowest))
    clocks = document.get("clocks")
    if clocks is None:
        # Hosts tell the errors of their clocks after the run.
        clock = None if backend == "hosts" else 0
    else:
        clock = clocks.get("within_ns") if "gptp" in clocks else None
    return Error(SIGMAS * stamp, clock, resolution, asked_ns)


def may_follow(plan: Plan, backend: str) -> bool:
    """Whether the error of the clocks that is not known before the run can be known after it."""
    clocks = plan.document.get("clocks")
    return backend == "hosts" if clocks is None else "gptp" in clocks


def after(error: Error, plan: Plan, folder: Path, nodes: tuple[str, str]) -> Error:
    """The error with the readings of the clocks of two nodes during the run.

    Args:
        error: known before the run.
        plan: of the run.
        folder: of the run.
        nodes: the device and the tester that stamps.

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
    both = [found.get(node) for node in nodes]
    known = [one for one in both if one is not None and one["readings"]]
    if len(known) < len(both):
        return replace(error, clock_ns=None)
    first = min((stream["start_ns"] for stream in plan.document["streams"]), default=0)
    stamp = max(one.get("granularity_ns", 1) + one.get("unseen_ns", 0) for one in known)
    apart = 0 if known[0]["clock"] == known[1]["clock"] else sum(_most_ns(one, first) for one in known)
    return replace(error, stamps_ns=max(error.stamps_ns, SIGMAS * stamp), clock_ns=apart)


def _most_ns(one: NodeStamps, from_ns: int) -> int:
    """The greatest error of a clock from a time on: at readings, and in between by its drift."""
    every = sorted(one["readings"], key=lambda reading: reading[0])
    readings = [reading for reading in every if reading[0] >= from_ns] or every
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(readings)]
    between = max(gaps, default=0) // 2 * one["drift_ppb"] // 10**9
    return -(-max(abs(offset) + unsure for _, offset, unsure in readings) // 1000) + between
