"""The figures of one capture alone: its streams, their rates, intervals and bursts, and missing numbers.

The engine takes the capture as both ends of a path, which finds every frame with its timestamp and number.
Every delay is 0 and is left out.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from tsnbench import _native, foreign
from tsnbench.libraries import polars as pl
from tsnbench.measure.captures.both_ends import reading, table_of_frames
from tsnbench.measure.captures.interfaces import Capture, Interface, native, of_native, several_interfaces
from tsnbench.measure.conformance import Against, Conformance, conformance
from tsnbench.measure.protocols.measured import ProtocolMeasures
from tsnbench.measure.protocols.tables import protocol_captions, ptp_table
from tsnbench.quantities import UNKNOWN, count, exact, micros, rate
from tsnbench.runs.measures import range_of
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.measure.protocols.trdp import TrdpMeasures
    from tsnbench.plan.document import Plan
    from tsnbench.runs.measures import Gap, Measures, PathReport, Scale, Stat

FORMAT = "tsnbench-inspection/1"
WINDOW_NS = 1_000_000
"""The default window in which frames of a burst are counted."""


class InspectedStream(TypedDict):
    """One stream of a capture; times in ns."""

    stream: str
    frames: int
    octets: tuple[int, int] | None
    """Smallest and largest frame in octets, from destination address to FCS."""
    rate_bps: float | None
    span_ns: int | None
    interval: Stat | None
    """Intervals between frames with consecutive sequence numbers."""
    burst_frames: int | None
    """The greatest number of frames within the window."""
    missing: int | None
    """Missing sequence numbers; None if payloads contain no numbers."""
    gaps: list[Gap]
    """The first 100 places of missing numbers."""
    numbers: Scale | None
    """How the frames contain the numbers; None if the numbers simply count up."""
    duplicate: int
    reordered: int
    restarts: int
    missing_timestamp: int


class Inspection(TypedDict):
    """``tsnbench-inspection/1``."""

    format: str
    file: str
    interface: str | None
    """The only interface that was read; None if all were."""
    frames: int
    unreadable_frames: int
    payloads: list[str]
    window_ns: int
    streams: list[InspectedStream]
    protocols: ProtocolMeasures
    """What frames of PTP, AVTP, PROFINET and EtherCAT say besides their numbers."""
    gates: Conformance | None
    """The conformance of frames to a Plan's gates, if a Plan was given."""
    warnings: list[str]


def inspect_capture(
    path: Capture,
    window_ns: int = WINDOW_NS,
    frames: str | os.PathLike[str] | None = None,
    against: Against | None = None,
) -> Inspection:
    """Computes the figures of one capture.

    Args:
        path: pcap or pcapng file, or one of its interfaces
        (:func:`tsnbench.measure.captures.interfaces.interfaces`).
        window_ns: bursts are counted in every window of this length.
        frames: where to write one row per frame (Parquet).
        against: a Plan's gates that the frames are compared with.

    Returns:
        A dictionary of the format ``tsnbench-inspection/1``; ``["streams"]`` has one entry per stream.

    Raises:
        MeasureError: the file is no readable capture, or holds no frame; the Plan has no such gates.
    """
    return read_capture(path, window_ns, frames, against)[0]


def read_capture(
    path: Capture,
    window_ns: int = WINDOW_NS,
    frames: str | os.PathLike[str] | None = None,
    against: Against | None = None,
    time_out_ns: int | None = None,
) -> tuple[Inspection, TrdpMeasures | None]:
    """The figures of :func:`inspect_capture`, and the TRDP telegrams of the capture if there are any.

    The file is read once. ``time_out_ns`` is the time-out of every subscription, by default 100 ms.

    Raises:
        MeasureError: as :func:`inspect_capture`.
    """
    with tempfile.TemporaryDirectory(prefix="tsnbench-") as folder:
        kept = Path(folder) / "frames.parquet" if frames is None else Path(frames)
        with table_of_frames(kept) as into, reading([path], into):
            text, protocols, trdp, listed = _native.inspect_capture(native(path), into, time_out_ns)
        table = foreign.read_parquet(kept)
    measures: Measures = json.loads(text)
    source = measures["source"]
    several = several_interfaces(path, of_native(os.fspath(path), listed))
    if against is not None:
        _rename(measures["paths"], against.plan)
    names = [one["stream"] for one in measures["paths"]]
    held = None if against is None else conformance(path, table, names, against)
    warnings = [*source["warnings"], *several, *(held["warnings"] if held else ())]
    by_path = table.partition_by("path", as_dict=True)
    made = [
        _stream(one, by_path.get((place,), table.clear()), window_ns)
        for place, one in enumerate(measures["paths"])
    ]
    telegrams: TrdpMeasures | None = json.loads(trdp)
    if telegrams is not None:
        telegrams["source"]["warnings"] += several
    inspected: Inspection = {
        "format": FORMAT,
        "file": os.fspath(path),
        "interface": path.name if isinstance(path, Interface) else None,
        "frames": source["files"][0]["frames"],
        "unreadable_frames": source["ignored"]["unreadable_frames"],
        "payloads": source["formats"],
        "window_ns": window_ns,
        "streams": made,
        "protocols": json.loads(protocols),
        "gates": held,
        "warnings": list(dict.fromkeys(warnings)),
    }
    return inspected, telegrams


def _rename(paths: list[PathReport], plan: Plan) -> None:
    """Names of streams: tsnbench's payload contains the number of the stream in the Plan."""
    streams = plan.document["streams"]
    for one in paths:
        tool, _, number = one["stream"].partition("/")
        if tool == "tsnbench" and number.isdecimal() and int(number) < len(streams):
            one["stream"] = streams[int(number)]["name"]


def _stream(path: PathReport, frames: pl.DataFrame, window_ns: int) -> InspectedStream:
    counted = path["count"]
    times = frames["t_tx_ns"].drop_nulls().sort()
    octets = frames["octets"].drop_nulls()
    burst = None
    if len(times):
        ends = times.search_sorted(times + window_ns, side="left")
        burst = max(end - place for place, end in enumerate(ends.to_list()))
    return {
        "stream": path["stream"],
        "frames": counted["sent"],
        "octets": (int(octets.min()), int(octets.max())) if len(octets) else None,  # type: ignore[arg-type]
        "rate_bps": path["rate"]["sent_bps"],
        "span_ns": int(times[-1] - times[0]) if len(times) else None,
        "interval": path["departures"],
        "burst_frames": burst,
        "missing": counted["never_sent"],
        "gaps": path.get("gaps", []),
        "numbers": path.get("numbers"),
        "duplicate": counted["duplicate_tx"],
        "reordered": counted["reordered"],
        "restarts": counted["restarts"],
        "missing_timestamp": counted["missing_timestamp"],
    }


def gap_text(gap: Gap, numbers: Scale | None) -> str:
    """A gap in the numbers that the frames contain: ``1 at 100``, ``3 at 4 to 6``."""

    def contained(number: int) -> int:
        if numbers is None:
            return number
        whole = number * numbers["step"] + numbers["residue"]
        return (whole % numbers["modulus"] if numbers["modulus"] else whole) + numbers["first"]

    first, last = contained(gap["after"] + 1), contained(gap["after"] + gap["missing"])
    return f"{gap['missing']} at {first}" if gap["missing"] == 1 else f"{gap['missing']} at {first} to {last}"


def inspection_tables(found: Inspection, most: int | None = None) -> list[Sheet]:
    """The table of streams, and that of PTP's messages if there are any."""
    tables = [inspection_table(found, most)]
    if found["protocols"]["ptp"]:
        tables.append(ptp_table(found["protocols"], most))
    return tables


def inspection_table(found: Inspection, most: int | None = None) -> Sheet:
    """One row per stream, times in us; below, a table of gaps in the numbers.

    Args:
        found: ``tsnbench-inspection/1``.
        most: how many rows are shown; all where it is None.
    """
    columns = [
        Column("stream", name=True),
        Column("frames"),
        Column("octets", spare=6),
        Column("rate", spare=5),
        Column("interval: min us", spare=3),
        Column("median us", spare=1),
        Column("max us", spare=2),
        Column("burst", spare=4),
        Column("missing"),
        Column("duplicate", spare=7),
        Column("reordered", spare=8),
    ]
    other = f", {found['unreadable_frames']} unreadable" if found["unreadable_frames"] else ""
    captions = [
        f"{found['frames']:,} frames{other}; payloads: {', '.join(found['payloads']) or UNKNOWN}",
        f"burst: most frames within {exact(found['window_ns'])}; missing: numbers without a frame",
    ]
    sheet = Sheet("streams", columns, captions=captions, most=most)
    for one in found["streams"]:
        octets = UNKNOWN if one["octets"] is None else "-".join(map(str, dict.fromkeys(one["octets"])))
        sheet.rows.append(
            [
                one["stream"],
                count(one["frames"]),
                octets,
                UNKNOWN if one["rate_bps"] is None else rate(one["rate_bps"]),
                *map(micros, range_of(one["interval"])),
                *map(count, (one["burst_frames"], one["missing"], one["duplicate"], one["reordered"])),
            ]
        )
        if one["gaps"]:
            shown = ", ".join(gap_text(gap, one["numbers"]) for gap in one["gaps"][:4])
            more = f" and {len(one['gaps']) - 4} more" if len(one["gaps"]) > 4 else ""
            captions.append(f"{one['stream']}: missing {shown}{more}")
    captions += protocol_captions(found["protocols"])
    return sheet
