"""The traffic of each port: from counters for all ports, and over time from sightings at ports with a tap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.foreign import table_errors
from tsnbench.libraries import polars as pl
from tsnbench.plan.load import passed
from tsnbench.report.facts import RunFacts
from tsnbench.report.parts.curves import origin

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Port, Tap

WIRE_EXTRA = 20
"""Octets of a frame's overhead on the wire: preamble 7, start delimiter 1, inter-frame gap 12. IEEE
802.3-2022, 4.2.3."""
MOMENTS = 50
"""Points over time."""
MOST_PORTS = 6
"""Ports drawn over time: those with the most octets."""


@dataclass(frozen=True)
class Load:
    """The load of a port, as shares of its rate."""

    number: int
    port: Port
    by_class: Mapping[int, float]
    """Traffic class -> share of the port's rate; classes that sent nothing are left out."""

    @property
    def total(self) -> float:
        """Share of the port's rate."""
        return sum(self.by_class.values())

    def reserved(self, traffic_class: int) -> float | None:
        """The reservation of the class's shaper as a share of the port's rate."""
        slope = idle_slope(self.port, traffic_class)
        return None if slope is None else slope / self.port["rate_bps"]


def idle_slope(port: Port, traffic_class: int) -> int | None:
    """The reserved rate of a class in bit/s; None where it has no credit-based shaper."""
    cbs = port["classes"][traffic_class].get("cbs")
    return None if cbs is None else int(passed(cbs, port["rate_bps"]))


def loads(run: RunFacts) -> list[Load]:
    """Every port that sent something, as the Plan orders them."""
    counted = {port.port: port.classes for port in run.counters.ports} if run.counters else {}
    seconds = talking_ns(run) / 1e9
    found = []
    for number, port in enumerate(run.plan["ports"]):
        by_class = {}
        for own in counted.get(port["name"], ()):
            octets = own.sent_octets + WIRE_EXTRA * own.sent_frames
            if octets and 0 <= own.traffic_class < len(port["classes"]):
                by_class[own.traffic_class] = octets * 8 / seconds / port["rate_bps"]
        if by_class:
            # What waited when the talkers stopped was sent later: a port's rate is never exceeded.
            above = max(1.0, sum(by_class.values()))
            found.append(Load(number, port, {own: share / above for own, share in by_class.items()}))
    return found


def talking_ns(run: RunFacts) -> int:
    """The time over which rates are averaged: while talkers send."""
    simulated = run.counters.simulated_ns if run.counters else 0
    return max(1, min(simulated or run.plan["duration_ns"], run.plan["duration_ns"]))


def carried(port: Port, traffic_class: int, used: Sequence[int]) -> list[int]:
    """The priorities of streams in a class, highest first."""
    return [pcp for pcp in sorted(used, reverse=True) if port["pcp_to_class"][pcp] == traffic_class]


def called(port: Port, traffic_class: int, used: Sequence[int]) -> str:
    """``priority 3``, ``priorities 1, 0``: a class by the priorities in it, equal at ports with other class
    numbers."""
    pcps = [str(pcp) for pcp in carried(port, traffic_class, used)]
    if not pcps:
        return f"class {traffic_class}"
    return ("priority " if len(pcps) == 1 else "priorities ") + ", ".join(pcps)


@dataclass(frozen=True)
class Tapped:
    """A tap on the frames of an egress port: at the port itself, or at the other end of its link."""

    number: int
    tap: Tap
    egress: int


def tapped_ports(plan: PlanDocument) -> list[Tapped]:
    """One tap per egress port; one at the port itself is preferred."""
    found: dict[int, Tapped] = {}
    for stage in ("rx", "tx"):
        for number, tap in enumerate(plan["taps"]):
            if tap["stage"] == stage:
                egress = tap["port"] if stage == "tx" else plan["ports"][tap["port"]]["peer"]
                found[egress] = Tapped(number, tap, egress)
    return [found[egress] for egress in sorted(found)]


@dataclass(frozen=True)
class Flowed:
    """The traffic of a port over time: per traffic class the rate in Mbit/s at the times ``t`` (ns since the
    start)."""

    port: Port
    t: tuple[float, ...]
    by_class: Mapping[int, tuple[float, ...]]
    width_ns: int


def over_time(run: RunFacts) -> list[Flowed]:
    """The busiest ports with a tap."""
    taps = tapped_ports(run.plan)
    if run.observations is None or not taps:
        return []
    width = max(1, -(-talking_ns(run) // MOMENTS))
    with table_errors(run.observations):
        table = (
            pl.scan_parquet(run.observations)
            .filter(pl.col("tap").is_in([one.number for one in taps]) & pl.col("t_ns").is_not_null())
            .group_by("tap", "pcp", (pl.col("t_ns") // width).alias("moment"))
            .agg((pl.col("octets").cast(pl.Int64).sum() + WIRE_EXTRA * pl.len()).alias("octets"))
            .collect()
        )
    sums = {
        int(tap): int(octets) for tap, octets in table.group_by("tap").agg(pl.col("octets").sum()).iter_rows()
    }
    busiest = sorted(
        (one for one in taps if one.number in sums), key=lambda one: (-sums[one.number], one.egress)
    )
    return [
        _flowed(table.filter(pl.col("tap") == one.number), run.plan["ports"][one.egress], width)
        for one in sorted(busiest[:MOST_PORTS], key=lambda one: one.egress)
    ]


def _flowed(table: pl.DataFrame, port: Port, width: int) -> Flowed:
    moments = [int(moment) for moment in table["moment"]]
    first = min(moments)
    start = origin(first * width)
    # After the last whole moment only the rest of the queues is sent. This part is left out, because it would
    # look like a drop of the rate.
    last = min(max(moments), first + MOMENTS - 1 if start else MOMENTS - 1)
    rates: dict[int, list[float]] = {}
    for pcp, moment, octets in table.select("pcp", "moment", "octets").iter_rows():
        own = rates.setdefault(port["pcp_to_class"][pcp], [0.0] * (last - first + 1))
        if moment <= last:
            own[moment - first] += octets * 8e3 / width
    return Flowed(
        port=port,
        t=tuple((first + n + 0.5) * width - start for n in range(last - first + 1)),
        by_class={own: tuple(rates[own]) for own in sorted(rates, reverse=True)},
        width_ns=width,
    )
