"""Gate schedules and the frames that left under them: departures folded into one cycle, and whether any left
a closed gate.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from tsnbench.foreign import table_errors
from tsnbench.libraries import polars as pl
from tsnbench.plan.delay import BEFORE_STAMP
from tsnbench.plan.gates import Period, entries_of, in_turn, spans_of_list
from tsnbench.report.facts import RunFacts
from tsnbench.report.parts.ports import Tapped, talking_ns, tapped_ports

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import Gates, Port

BINS = 720
"""Columns of one cycle."""
TOLERANCE_NS = 2
"""Timestamps are rounded to ns, once at each end of the link."""


@dataclass(frozen=True)
class Folded:
    """One gated port: its gates, and how often each class was on the wire at each moment of the cycle."""

    port: Port
    gates: Period
    """The list in force; the port's other lists are shown separately."""
    busy: Mapping[int, tuple[float, ...]]
    """Traffic class -> per column the share of cycles in which a frame of it was on the wire."""
    departures: int
    outside: int
    """Departures that began while their gate was closed."""
    derived: bool
    """Whether the times are from timestamps at the other end of the link, less the time on it."""
    tapped: bool

    @property
    def open_spans(self) -> dict[int, list[tuple[int, int]]]:
        """Traffic class -> (start, length) in ns of each time that its gate is open."""
        return {
            own: [(begin, end - begin) for begin, end in spans_of_list(entries_of(self.gates.gates), own)]
            for own in range(len(self.port["classes"]))
        }


def folded(run: RunFacts) -> list[Folded]:
    """Every port with gates, once for every list that was in force."""
    taps = {one.egress: one for one in tapped_ports(run.plan)}
    lists = [
        (port, gates, taps.get(number))
        for number, port in enumerate(run.plan["ports"])
        if "gates" in port
        for gates in _periods(port["gates"], run.in_force.get(port["name"], ()))
    ]
    left = _departures(run, lists)
    return [
        Folded(port, gates, {}, 0, 0, derived=False, tapped=False)
        if tapped is None or left is None
        else _fold(run, port, gates, tapped, left.get(number))
        for number, (port, gates, tapped) in enumerate(lists)
    ]


def _periods(gates: Gates, in_force: Sequence[Json]) -> list[Period]:
    """The lists of a port in turn; the only list of a port has no name."""
    return in_turn(gates, in_force) if in_force else [Period(None, None, gates, words="")]


def _departures(
    run: RunFacts, lists: Sequence[tuple[Port, Period, Tapped | None]]
) -> dict[int, pl.DataFrame] | None:
    """Number of a list -> frames that left under it by priority, length and time in the cycle.

    One pass over the observations for all lists. None if nothing was observed.
    """
    if run.observations is None:
        return None
    each = pl.DataFrame(
        [
            (
                number,
                tapped.number,
                tapped.tap["point"] == "end",
                8e9 / port["rate_bps"],
                round(port["propagation_ps"] / 1000) if tapped.tap["stage"] == "rx" else 0,
                gates.from_ns,
                gates.until_ns,
                gates.gates["base_time_ns"],
                gates.gates["cycle_ns"],
            )
            for number, (port, gates, tapped) in enumerate(lists)
            if tapped is not None
        ],
        schema={
            "list": pl.Int64,
            "tap": pl.Int64,
            "at_end": pl.Boolean,
            "octet_ns": pl.Float64,
            "propagation": pl.Int64,
            "from": pl.Int64,
            "until": pl.Int64,
            "base": pl.Int64,
            "cycle": pl.Int64,
        },
        orient="row",
    )
    stamped = pl.when("at_end").then(pl.col("octets")).otherwise(0)
    before = ((stamped + BEFORE_STAMP) * pl.col("octet_ns")).round(0).cast(pl.Int64) + pl.col("propagation")
    left = pl.col("t_ns") - before
    in_force = (pl.col("from").is_null() | (left >= pl.col("from"))) & (
        pl.col("until").is_null() | (left < pl.col("until"))
    )
    with table_errors(run.observations):
        table = (
            pl.scan_parquet(run.observations)
            .select(pl.col("tap").cast(pl.Int64), "t_ns", "pcp", "octets")
            .filter(pl.col("t_ns").is_not_null())
            .join(each.lazy(), on="tap")
            .filter(in_force)
            .select("list", "pcp", "octets", ((left - pl.col("base")) % pl.col("cycle")).alias("at"))
            .group_by("list", "pcp", "octets", "at")
            .len()
            .collect()
        )
    return {key[0]: part for key, part in table.partition_by("list", as_dict=True).items()}


def _fold(run: RunFacts, port: Port, gates: Period, tapped: Tapped, left: pl.DataFrame | None) -> Folded:
    octet_ns = 8e9 / port["rate_bps"]
    columns: dict[int, list[float]] = {}
    outside = departures = 0
    if left is not None:
        departures = int(left["len"].sum())
        for (pcp,), part in left.partition_by("pcp", as_dict=True).items():
            own = port["pcp_to_class"][pcp]
            outside += _outside(part["at"], part["len"], gates, own)
            busy = columns.setdefault(own, [0.0] * BINS)
            for octets, at, frames in part.select("octets", "at", "len").iter_rows():
                start = at * BINS // gates.gates["cycle_ns"]
                length = max(1, round((octets + BEFORE_STAMP) * octet_ns * BINS / gates.gates["cycle_ns"]))
                for column in range(start, start + length):
                    busy[column % BINS] += frames
    until = talking_ns(run) if gates.until_ns is None else min(talking_ns(run), gates.until_ns)
    cycles = max(1.0, (until - max(0, gates.from_ns or 0)) / gates.gates["cycle_ns"])
    return Folded(
        port=port,
        gates=gates,
        busy={own: tuple(min(1.0, hits / cycles) for hits in busy) for own, busy in sorted(columns.items())},
        departures=departures,
        outside=outside,
        derived=tapped.tap["stage"] == "rx",
        tapped=True,
    )


def _outside(at: pl.Series, frames: pl.Series, gates: Period, own: int) -> int:
    """Departures whose gate is closed at their start, within the rounding of timestamps."""
    entries = entries_of(gates.gates)
    is_open = pl.Series([bool(mask >> own & 1) for mask, _ in entries])
    bounds = pl.Series(list(accumulate(length for _, length in entries)))
    inside = pl.Series([False]).new_from_index(0, len(at))
    for shift in (-TOLERANCE_NS, 0, TOLERANCE_NS):
        entry = bounds.search_sorted((at + shift) % gates.gates["cycle_ns"], side="right")
        inside = inside | is_open.gather(entry)
    return int(frames.filter(~inside).sum())
