"""Frames that a port cannot send during a run, and that no queue can hold."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench.plan.load import flow_rate
from tsnbench.plan.sizes import PHY_OVERHEAD

if TYPE_CHECKING:
    from tsnbench.plan.streams.facts import Facts
    from tsnbench.plan.types import Stream


def surplus_bits(facts: Facts, number: int, streams: Sequence[Stream]) -> Fraction:
    """A lower bound of the PHY bits of periodic streams that are lost at a port or before it; 0 if unknown.

    All queues on the way hold the largest frames, and what is on links and in bridges is not lost.

    Args:
        facts: the facts of the Plan.
        number: the port.
        streams: all streams of one traffic class that cross the port.
    """
    document = facts.document
    arrives, held = Fraction(0), 0
    end = min(min(one["stop_ns"] for one in streams), document["duration_ns"])
    queues: set[tuple[int, int]] = set()
    for one in streams:
        pattern, rate = one["pattern"], flow_rate(one["pattern"], one["size"])
        if pattern["kind"] != "periodic" or rate is None or "redundancy" in one:
            return Fraction(0)
        late = pattern["offset_ns"] + pattern["jitter_ns"] + one["start_ns"]
        late += pattern["period_ns"] if one.get("any_phase") else 0
        place: int | None = next(at for at, hop in enumerate(one["route"]) if hop["port"] == number)
        while place is not None:
            hop = one["route"][place]
            port = document["ports"][hop["port"]]
            queues.add((hop["port"], port["pcp_to_class"][one["pcp"]]))
            place = hop.get("parent")
            late += document["nodes"][port["node"]]["processing_ns"] + port["propagation_ps"] // 1_000 + 1
        arrives += rate * max(0, end - late - pattern["period_ns"]) / 10**9
    largest = 8 * (facts.most + PHY_OVERHEAD)
    for queue, traffic_class in queues:
        limit = document["ports"][queue]["classes"][traffic_class].get("limit_frames")
        if limit is None:
            return Fraction(0)
        # One frame is on the wire, and one is being received.
        held += (limit + 2) * largest
    return max(Fraction(0), arrives - held - Fraction(document["ports"][number]["rate_bps"] * end, 10**9))
