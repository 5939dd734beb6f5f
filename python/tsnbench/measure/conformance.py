"""Conformance of the frames of one capture to a port's gate control list.

IEEE 802.1Q-2022, 8.6.8.4: a frame begins while the gate of its class is open, and ends before it closes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from tsnbench import _native
from tsnbench.libraries import polars as pl
from tsnbench.measure.captures.interfaces import Capture, native
from tsnbench.measure.errors import MeasureError
from tsnbench.plan.gates import clock_spans, gate_lists
from tsnbench.plan.slow_motion import dilated
from tsnbench.quantities import count, exact, micros
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import Gates, PlanDocument, Port

Stamp = Literal["start", "end", "received"]
"""What a stamp means: where the frame leaves the bit after the start delimiter, or the last bit; or the last
bit at the other end of the link."""
STAMPS: dict[Stamp, str] = {
    "start": "start of the frame where it leaves",
    "end": "last bit where the frame leaves",
    "received": "last bit at the other end of the link",
}
TOLERANCE_NS = 2
"""Timestamps are rounded to ns."""
BEFORE_STAMP = 8
"""Octets on the wire before the bit that a stamp at the frame's start means: preamble and start delimiter."""
TAG_OCTETS = 4
MOST_NAMED = 5
"""Frames outside their windows that are named per class; all are counted."""
DATE_NS = 10 * 86_400 * 10**9
"""A stamp beyond is a date, and no time of a run."""


class Outside(TypedDict):
    """A frame that was on the wire while its gate was closed; times in ns."""

    stream: str | None
    sequence: int | None
    """The frame's sequence number; it and the stream are None if two frames share this timestamp."""
    t_ns: int
    in_cycle_ns: int
    """Begin of the frame, counted from the begin of the cycle."""
    over_ns: int | None
    """Time from the end of the window to the frame's end; None if the frame began outside of all windows."""


class ClassConformance(TypedDict):
    """One traffic class of the port."""

    traffic_class: int
    frames: int
    began_closed: int
    ended_closed: int
    first: list[Outside]


class Conformance(TypedDict):
    """The frames of a capture against the gates of one port; all times are those of the capture's clock."""

    port: str
    dilate: int
    """How many times longer than in the Plan everything took."""
    base_time_ns: int
    cycle_ns: int
    stamp: Stamp
    tolerance_ns: int
    classes: list[ClassConformance]
    warnings: list[str]


@dataclass(frozen=True)
class Against:
    """The gates that a capture is compared with, and the reference point of its timestamps."""

    plan: Plan
    port: str | None = None
    """The port where the frames leave; required if several ports have gates."""
    stamp: Stamp | None = None
    """The reference point of timestamps; by default that of the Plan's tap at this port, or ``start``."""
    base_time_ns: int | None = None
    """The begin of a cycle on the capture's clock; by default the Plan's base time."""
    tolerance_ns: int = TOLERANCE_NS
    dilate: int = 1
    """How many times longer than in the Plan everything took in the capture (``run --dilate``)."""


def conformance(path: Capture, frames: pl.DataFrame, names: Sequence[str], to: Against) -> Conformance:
    """Compares every frame of a capture with the gates of a port.

    Args:
        path: pcap or pcapng file, or one interface of it.
        frames: its table of frames (``path``, ``seq``, ``t_tx_ns``).
        names: the streams, by the number in the column ``path``.
        to: the gates, and the reference point of the timestamps.

    Raises:
        MeasureError: the Plan has no such port or gates, or several lists; the capture is damaged.
    """
    document = to.plan.document if to.dilate == 1 else dilated(to.plan.document, to.dilate)
    port = _port(document, to.port)
    gates = port["gates"]
    base = gates["base_time_ns"] if to.base_time_ns is None else to.base_time_ns
    stamp = to.stamp or _tapped(document, port)
    after_ps = port["propagation_ps"] if stamp == "received" else 0
    stamped, warnings = _stamped(path, port), []
    if to.base_time_ns is None and base < DATE_NS and (stamped["t"] >= DATE_NS).any():
        warnings.append(
            "the stamps of the capture are dates, and the base time of the Plan is a time of the run: "
            "--base-time names the begin of a cycle on the clock of the capture"
        )
    made = [
        _class(own, _timed(table, port["rate_bps"], stamp, after_ps), gates, base, to, frames, names)
        for (own,), table in sorted(stamped.partition_by("class", as_dict=True).items())
    ]
    return {
        "port": port["name"],
        "dilate": to.dilate,
        "base_time_ns": base,
        "cycle_ns": gates["cycle_ns"],
        "stamp": stamp,
        "tolerance_ns": to.tolerance_ns,
        "classes": made,
        "warnings": warnings,
    }


def _port(plan: PlanDocument, name: str | None) -> Port:
    gated = [port for port in plan["ports"] if port.get("gates")]
    there = ", ".join(port["name"] for port in gated[:8]) + (", …" if len(gated) > 8 else "")
    if not gated:
        raise MeasureError("the Plan has no gates")
    if name is None and len(gated) > 1:
        raise MeasureError(f"--port: expected one of the ports with gates: {there}")
    found = [port for port in gated if name is None or port["name"] == name]
    if not found:
        raise MeasureError(f"--port: expected a port with gates, found {name}\nhint: {there}")
    if len(gate_lists(found[0]["gates"])) > 1:
        raise MeasureError(
            f"{found[0]['name']}: expected one gate control list, found a port whose list changes"
        )
    return found[0]


def _tapped(plan: PlanDocument, port: Port) -> Stamp:
    """The reference point of timestamps at the Plan's tap of a port, or at the other end of its link."""
    number = plan["ports"].index(port)
    for tap in plan["taps"]:
        if tap["stage"] == "tx" and tap["port"] == number:
            return tap["point"]
    for tap in plan["taps"]:
        if tap["stage"] == "rx" and tap["port"] == port["peer"] and tap["point"] == "end":
            return "received"
    return "start"


def _stamped(path: Capture, port: Port) -> pl.DataFrame:
    """Timestamp, octets from destination address to FCS, and traffic class of every frame."""
    parts = []
    file, interface = native(path)
    for pcp in (None, *range(8)):
        wanted = {"untagged": True} if pcp is None else {"pcp": pcp}
        try:
            _, found = _native.capture_trace(file, json.dumps(wanted), interface)
        except ValueError as error:
            raise MeasureError(f"{path}: {error}") from error
        more, own = (0 if pcp is None else TAG_OCTETS), port["pcp_to_class"][pcp or 0]
        parts.append(
            pl.DataFrame(found, schema={"t": pl.Int64, "octets": pl.Int64}, orient="row").select(
                "t", pl.col("octets") + more, pl.lit(own).alias("class")
            )
        )
    return pl.concat(parts)


def _timed(table: pl.DataFrame, rate_bps: int, stamp: Stamp, after_ps: int) -> pl.DataFrame:
    """Begin of the preamble, and time on the wire, of every frame."""
    octet_ns = 8e9 / rate_bps
    length = ((pl.col("octets") + BEFORE_STAMP) * octet_ns).round(0).cast(pl.Int64)
    before = pl.lit(round(BEFORE_STAMP * octet_ns)) if stamp == "start" else length + round(after_ps / 1000)
    return table.with_columns(length.alias("length"), (pl.col("t") - before).alias("begin")).sort("begin")


def _class(
    own: int,
    timed: pl.DataFrame,
    gates: Gates,
    base: int,
    to: Against,
    frames: pl.DataFrame,
    names: Sequence[str],
) -> ClassConformance:

    cycle = gates["cycle_ns"]
    # The spans begin at multiples of the cycle time and include the base time.
    spans = clock_spans({"base_time_ns": base, "cycle_ns": cycle, "entries": gates["entries"]}, own)
    began, over = _spans_of(timed, spans, cycle, to.tolerance_ns)
    if "initial" in gates:
        # Before the base time every gate keeps its initial state.
        still = timed["begin"] < base
        is_open = bool(gates["initial"] >> own & 1)
        began = pl.select(pl.when(still).then(is_open).otherwise(began)).to_series()
        over = pl.select(pl.when(still).then(0).otherwise(over)).to_series()
    closed, late = ~began, began & (over > to.tolerance_ns)
    worst = timed.with_columns(
        ((pl.col("begin") - base) % cycle).alias("at"),
        pl.when(late).then(over).otherwise(None).alias("over"),
    ).filter(closed | late)
    return {
        "traffic_class": own,
        "frames": len(timed),
        "began_closed": int(closed.sum()),
        "ended_closed": int(late.sum()),
        "first": [_named(row, frames, names) for row in worst.head(MOST_NAMED).iter_rows(named=True)],
    }


def _spans_of(
    timed: pl.DataFrame, spans: Sequence[tuple[int, int]], cycle: int, tolerance: int
) -> tuple[pl.Series, pl.Series]:
    """For each frame: whether it began in a window, and by how much its end exceeded that window."""
    if not spans or spans == [(0, cycle)]:
        always, nothing = (pl.Series([value]).new_from_index(0, len(timed)) for value in (bool(spans), 0))
        return always, nothing
    # The windows of three cycles are joined, so that a window across the end of a cycle is one window. The
    # frame begins in the middle cycle.
    unrolled: list[tuple[int, int]] = []
    for turn in (-1, 0, 1):
        for begin, end in spans:
            if unrolled and unrolled[-1][1] == begin + turn * cycle:
                unrolled[-1] = (unrolled[-1][0], end + turn * cycle)
            else:
                unrolled.append((begin + turn * cycle, end + turn * cycle))
    begins, ends = (pl.Series([window[side] for window in unrolled]) for side in (0, 1))
    at = timed["begin"] % cycle
    # A frame that began before a window, by at most the tolerance, belongs to this window.
    window = begins.search_sorted(at + tolerance, side="right").cast(pl.Int64) - 1
    until = ends.gather(window)
    return at < until + tolerance, at + timed["length"] - until


def _named(row: dict[str, int], frames: pl.DataFrame, names: Sequence[str]) -> Outside:
    same = frames.filter(frames["t_tx_ns"] == row["t"])
    alone = same.row(0, named=True) if len(same) == 1 else None
    return {
        "stream": None if alone is None else names[alone["path"]],
        "sequence": None if alone is None else alone["seq"],
        "t_ns": row["t"],
        "in_cycle_ns": row["at"],
        "over_ns": row["over"],
    }


def kept(found: Conformance) -> bool:
    """Whether no frame was outside its window."""
    return not any(one["began_closed"] or one["ended_closed"] for one in found["classes"])


def conformance_table(found: Conformance) -> Sheet:
    """One row per traffic class; the first frames outside their windows below."""
    columns = [
        Column("class"),
        Column("frames"),
        Column("began while closed"),
        Column("ended while closed"),
        Column("", left=True),
    ]
    captions = [
        f"{found['port']}: cycle {exact(found['cycle_ns'])}, base time {exact(found['base_time_ns'])}; "
        f"stamps: {STAMPS[found['stamp']]}; tolerance {exact(found['tolerance_ns'])}"
    ]
    if found["dilate"] != 1:
        captions.append(f"times are those of the capture, {found['dilate']} times as long as in the Plan")
    sheet = Sheet("gates", columns, captions=captions)
    for one in found["classes"]:
        word = "kept" if not one["began_closed"] + one["ended_closed"] else "OUTSIDE"
        numbers = (one["frames"], one["began_closed"], one["ended_closed"])
        sheet.rows.append([str(one["traffic_class"]), *map(count, numbers), word])
        captions += [f"class {one['traffic_class']}: {in_words(row)}" for row in one["first"]]
    return sheet


def in_words(row: Outside) -> str:
    """One frame outside its window."""
    frame = "a frame" if row["stream"] is None else f"{row['stream']} frame {row['sequence']}"
    began = f"began {micros(row['in_cycle_ns'])} us after the begin of the cycle"
    if row["over_ns"] is None:
        return f"{frame} {began}, while its gate was closed (stamp {row['t_ns']})"
    return (
        f"{frame} {began} and ended {micros(row['over_ns'])} us after its gate closed (stamp {row['t_ns']})"
    )
