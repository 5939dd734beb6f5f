"""Functions of single streams of a Plan, and of PTP's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import PeriodicPattern, Stream


def periodic(stream: Stream) -> PeriodicPattern:
    """The pattern of a periodic stream; every scheduled stream is periodic."""
    pattern = stream["pattern"]
    assert pattern["kind"] == "periodic"
    return pattern


def release_ns(stream: Stream) -> int:
    """The release of a periodic stream within its period, in ns."""
    pattern = periodic(stream)
    return (stream["start_ns"] + pattern["offset_ns"]) % pattern["period_ns"]
