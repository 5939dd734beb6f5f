"""Limits of streams that no frame can keep, whatever the other traffic is."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tsnbench.plan.delay import SmallestDelays
from tsnbench.plan.frames import sizes
from tsnbench.plan.load import flow_rate

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Stream

FROM_RELEASE = "delay from release"


class Broken(NamedTuple):
    """A limit of a stream's delay; times in ns."""

    name: str
    """The limit as a scenario names it: ``delay p99.9``."""
    limit: int
    takes: int
    """The smallest delay to the listener in an empty network."""
    listener: str


def broken_delays(document: PlanDocument, stream: Stream, delays: SmallestDelays) -> Iterator[Broken]:
    """The limits of a stream's delay that are below the smallest delay, by listener."""
    required, frames = stream["requirements"], sizes(stream["size"])
    limits = [("delay", required["delay_ns"])] if "delay_ns" in required else []
    if "release_delay_ns" in required:
        limits.append((FROM_RELEASE, required["release_delay_ns"]))
    for percentile in required.get("delay_percentiles", ()):
        limits.append((f"delay p{percentile['share_ppm'] / 10_000:g}", percentile["delay_ns"]))
    # Most limits are far above the least delay; the paths to the listeners are then not needed.
    limits = [
        (name, limit)
        for name, limit in limits
        if name == FROM_RELEASE or not delays.within(stream, frames.largest, limit)
    ]
    for place, listener in enumerate(stream["listeners"] if limits else ()):
        for name, limit in limits:
            # Every frame must keep the first limits, also the largest one; for a share the smallest frames
            # suffice.
            octets = frames.largest if name in ("delay", FROM_RELEASE) else frames.smallest
            find = delays.since_release_ns if name == FROM_RELEASE else delays.ns
            takes = find(stream, place, octets)
            if takes > limit:
                yield Broken(name, limit, takes, document["nodes"][listener["node"]]["name"])


def broken_rate(stream: Stream) -> tuple[int, Fraction] | None:
    """The required rate and the lower one that the stream sends, in bit/s of frames; None if it sends
    enough."""
    required = stream["requirements"].get("rate_bps")
    offered = flow_rate(stream["pattern"], stream["size"]) if required is not None else None
    if required is None or offered is None:
        return None
    frames = sizes(stream["size"])
    offered *= frames.frame_bits / frames.phy_bits
    return (required, offered) if offered < required else None
