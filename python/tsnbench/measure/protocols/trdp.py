"""TRDP telegrams in captures: the counters of a subscriber at that place, intervals, spreading over time."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from tsnbench import _native
from tsnbench.measure.captures.interfaces import (
    Capture,
    Interface,
    interfaces,
    native,
    refuse_irregular,
    several_interfaces,
)
from tsnbench.measure.errors import MeasureError
from tsnbench.quantities import count, exact, micros
from tsnbench.runs.measures import range_of
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.runs.measures import Source, Stat

DEFAULT_TIME_OUT_NS = 100_000_000
"""Time-out of a subscription that names none."""


class Subscription(TypedDict):
    """The counters of a subscriber of one stream."""

    taken: int
    gaps: int
    missed: int
    repeated: int
    old: int
    restarted: int
    time_outs: int


class TrdpStream(TypedDict):
    """The telegrams of one communication identifier, type, source and destination."""

    name: str
    com_id: int
    kind: str
    version: int
    transport: str
    source: str
    destination: str
    telegrams: int
    data_set_octets: list[int]
    sequence: list[int]
    subscription: Subscription | None
    interval: Stat | None


class Spreading(TypedDict):
    """Telegrams of process data per window."""

    window_ns: int
    windows: int
    min: int
    mean: float
    max: int
    variance: float


class Exchange(TypedDict):
    """The sessions of message data of one caller, communication identifier and destination."""

    name: str
    com_id: int
    transport: str
    caller: str
    destination: str
    requests: int
    repeated: int
    replies: int
    late: int
    errors: int
    time_outs: int
    open: int
    queries: int
    confirmations: int
    confirm_time_outs: int
    round_trip: Stat | None
    confirm_time: Stat | None


class TrdpMeasures(TypedDict):
    """``tsnbench-trdp/1`` as ``crates/measure`` writes it."""

    format: str
    source: Source
    frames: int
    process_data: int
    message_data: int
    check_errors: int
    protocol_errors: int
    data_set_octets: int
    span_ns: int | None
    time_out_ns: int
    spreading: Spreading | None
    streams: list[TrdpStream]
    exchanges: list[Exchange]


def measure_trdp(files: Capture | Sequence[Capture], time_out_ns: int | None = None) -> TrdpMeasures:
    """Measures the TRDP telegrams in captures that were made at one place.

    Args:
        files: pcap or pcapng file (or one interface of it), or several that follow each other.
        time_out_ns: the time-out of every subscription; by default 100 ms.

    Returns:
        A dictionary of the format ``tsnbench-trdp/1``. ``["streams"]`` has one entry per communication
        identifier, type, source and destination: the counts of a subscriber and the statistics of the
        intervals in ns. ``["exchanges"]`` has one entry per caller, identifier and destination of requests
        of message data: replies, time-outs and round-trip times. ``["spreading"]`` tells how many telegrams
        there are per 10 ms, and their variance.

    Raises:
        MeasureError: a file is no readable capture, or holds no TRDP telegram.

    Example:
        >>> from tsnbench import measure_trdp
        >>> found = measure_trdp("train.pcapng")
        >>> [(one["com_id"], one["telegrams"]) for one in found["streams"]]
        [(2000, 10)]
    """
    captures = [files] if isinstance(files, str | os.PathLike) else files
    try:
        refuse_irregular(captures)
        text = _native.measure_trdp(list(map(native, captures)), json.dumps({"time_out_ns": time_out_ns}))
    except (OSError, ValueError) as error:
        raise MeasureError(str(error)) from error
    measures: TrdpMeasures = json.loads(text)
    for capture in captures:
        if not isinstance(capture, Interface):
            measures["source"]["warnings"] += several_interfaces(capture, interfaces(capture))
    return measures


def trdp_table(measures: TrdpMeasures, most: int | None = None) -> Sheet:
    """One row per stream: telegrams, what a subscriber counts, intervals in us; spreading below.

    Args:
        measures: ``tsnbench-trdp/1``.
        most: how many rows are shown; all where it is None.

    Example:
        >>> from tsnbench import measure_trdp
        >>> from tsnbench.measure import trdp_table
        >>> [row[:2] for row in trdp_table(measure_trdp("train.pcapng")).rows]
        [['trdp 2000 Pd 10.0.0.1 > 10.0.0.2', '10']]
    """
    columns = [
        Column("stream", name=True),
        *(Column(name) for name in ("telegrams", "gaps", "missed", "repeated", "restarted", "time-outs")),
        Column("interval: min us", spare=2),
        Column("median us", spare=3),
        Column("max us", spare=1),
    ]
    sheet = Sheet("TRDP", columns, captions=_captions(measures), most=most)
    sheet.rows.extend(map(_row, measures["streams"]))
    return sheet


def _row(stream: TrdpStream) -> list[str]:
    counted = stream["subscription"]
    numbers: list[int | None] = [None] * 5
    if counted is not None:
        numbers = [
            counted["gaps"], counted["missed"], counted["repeated"] + counted["old"], counted["restarted"],
            counted["time_outs"],
        ]  # fmt: skip
    return [
        f"{stream['name']} (tcp)" if stream["transport"] == "tcp" else stream["name"],
        str(stream["telegrams"]),
        *map(count, numbers),
        *(micros(gap, 1) for gap in range_of(stream["interval"])),
    ]


def _captions(measures: TrdpMeasures) -> list[str]:
    wrong = f"{measures['check_errors']} wrong check sequences, {measures['protocol_errors']} other errors"
    found = [
        f"{measures['process_data']} telegrams of process data and {measures['message_data']} of message "
        f"data in {measures['frames']} frames; {wrong}",
        f"time-outs: no telegram within {exact(measures['time_out_ns'])}",
    ]
    spreading = measures["spreading"]
    if spreading is not None:
        found.append(
            f"process data per {spreading['window_ns'] // 1_000_000} ms: {spreading['min']} to "
            f"{spreading['max']}, mean {spreading['mean']:.3f}, variance {spreading['variance']:.3f} "
            f"({spreading['windows']} windows)"
        )
    return found


def exchanges_table(measures: TrdpMeasures, most: int | None = None) -> Sheet:
    """One row per caller, communication identifier and destination of requests; times in us."""
    counts = ("requests", "replies", "late", "errors", "time-outs", "confirmed", "unconfirmed")
    columns = [
        Column("requests of message data", name=True),
        *(Column(name) for name in counts),
        Column("round trip: min us", spare=2),
        Column("median us", spare=3),
        Column("max us", spare=1),
    ]
    captions = ["late: replies after the caller's time-out; unconfirmed: no confirmation within its time-out"]
    if waiting := sum(one["open"] for one in measures["exchanges"]):
        captions.append(f"{waiting} requests were still waiting for a reply at the end of the capture")
    sheet = Sheet("TRDP message data", columns, captions=captions, most=most)
    for one in measures["exchanges"]:
        numbers = (
            one["requests"], one["replies"], one["late"], one["errors"], one["time_outs"],
            one["confirmations"], one["confirm_time_outs"],
        )  # fmt: skip
        name = f"{one['name']} (tcp)" if one["transport"] == "tcp" else one["name"]
        times = (micros(time, 1) for time in range_of(one["round_trip"]))
        sheet.rows.append([name, *map(count, numbers), *times])
    return sheet
