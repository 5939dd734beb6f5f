"""Departures of frames against the Plan's gate control list.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.compare.runs import Side
from tsnbench.libraries import polars as pl
from tsnbench.plan.gates import entries_of, open_spans
from tsnbench.runs import Run

if TYPE_CHECKING:
    from tsnbench.plan.types import GateCycle, PlanDocument, Tap

PREAMBLE = 8
"""Octets before the bit that a stamp means."""
ROUNDING_NS = 2
"""Stamps are rounded to ns."""


@dataclass(frozen=True)
class Conformance:
    """The departures of one traffic class at one gated port with a tap, in one run."""

    side: int
    port: str
    traffic_class: int
    frames: int
    outside: int
    """Frames that began while their gate was closed, or were on the wire when the gate closed."""
    early_ns: int
    """Greatest time from a frame's begin to the later opening of its gate, in ns; 0 if no frame was early."""
    late_ns: int
    """Greatest time from the closing of a gate to a later last bit, in ns; 0 if no frame was late."""
    opening_ns: int | None
    """The least time from the gate's opening to a frame's first bit, in ns."""


def conformance(number: int, side: Side) -> list[Conformance]:
    """Every gated port with a tap for departures, except ports whose gate control list changes."""
    if side.plan is None or side.folder is None:
        return []
    return list(_ports(number, side, side.plan))


def _ports(number: int, side: Side, plan: PlanDocument) -> Iterator[Conformance]:

    taps = _taps(plan)
    if not taps or plan.get("clocks") or side.folder is None:
        return
    seen = Run.open(side.folder).observations().filter(pl.col("t_ns").is_not_null())
    for place, tap in taps.items():
        port = plan["ports"][place]
        gates = port["gates"]
        if gates.get("changes"):
            continue
        left = seen.filter(pl.col("tap") == tap["name"])
        octet_ns = 8e9 / port["rate_bps"]
        stamped = pl.col("octets") if tap["point"] == "end" else pl.lit(0)
        on_the_way = round(port["propagation_ps"] / 1000) if tap["stage"] == "rx" else 0
        left = left.select(
            own=pl.col("pcp")
            .fill_null(0)
            .replace_strict(dict(enumerate(port["pcp_to_class"])), return_dtype=pl.Int64),
            begin=pl.col("t_ns") - ((stamped + PREAMBLE) * octet_ns).round(0).cast(pl.Int64) - on_the_way,
            wire=((pl.col("octets") + PREAMBLE) * octet_ns).round(0).cast(pl.Int64),
        )
        for (own,), table in sorted(left.partition_by("own", as_dict=True).items()):
            spans = open_spans(entries_of(gates), int(own))
            if spans is not None:
                yield _class(number, port["name"], int(own), gates, spans, table)


def _taps(plan: PlanDocument) -> dict[int, Tap]:
    """The tap of each gated port where its frames leave, or else the tap at the other end of the link."""
    found: dict[int, Tap] = {}
    for stage in ("rx", "tx"):
        for tap in plan["taps"]:
            port = tap["port"] if stage == "tx" else plan["ports"][tap["port"]]["peer"]
            if tap["stage"] == stage and plan["ports"][port].get("gates"):
                found[port] = tap
    return found


def _class(
    number: int,
    port: str,
    own: int,
    gates: GateCycle,
    spans: list[tuple[int, int]],
    table: pl.DataFrame,
) -> Conformance:
    cycle = gates["cycle_ns"]
    outside, early, late, opening = 0, 0, 0, None
    for begin, wire in table.select("begin", "wire").iter_rows():
        at = (begin - gates["base_time_ns"]) % cycle
        before, after, since = _distance(at, wire, spans, cycle)
        outside += max(before, after) > ROUNDING_NS
        early, late = max(early, before), max(late, after)
        if since is not None:
            opening = since if opening is None else min(opening, since)
    return Conformance(
        number,
        port,
        own,
        table.height,
        outside,
        early if early > ROUNDING_NS else 0,
        late if late > ROUNDING_NS else 0,
        opening,
    )


def _distance(at: int, wire: int, spans: list[tuple[int, int]], cycle: int) -> tuple[int, int, int | None]:
    """(ns before opening, ns after closing, ns since opening if the frame began in a window)."""
    best: tuple[int, int, int | None] | None = None
    for opens, closes in spans:
        for start in (at, at + cycle, at - cycle):
            if opens <= start < closes:
                return 0, max(0, start + wire - closes), start - opens
            found = (opens - start, 0, None) if start < opens else (0, start + wire - closes, None)
            if best is None or max(found[:2]) < max(best[:2]):
                best = found
    return best or (0, 0, None)
