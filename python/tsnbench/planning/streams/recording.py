"""Reads recordings: captures and tables of times and sizes, exactly.

Times are in ns after the begin of the recording. A capture begins with its first frame of any flow, so flows
of one capture that are replayed as several streams keep their distances. A table counts from 0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tsnbench import _native, foreign
from tsnbench.libraries import polars as pl
from tsnbench.plan.sizes import PHY_OVERHEAD, TAG, frame_from_payload
from tsnbench.scenario import model
from tsnbench.scenario.model.traffic import TABLES

MOST_FRAMES = 1 << 20
"""Of one stream: a Plan lists every one."""
LARGEST_TABLE = 1 << 28
"""Octets of a table as text: 4 million rows of 64 octets."""
_TIMES = {"time_ns": 1, "time_us": 10**3, "time_ms": 10**6, "time_s": 10**9}
_SIZES = ("frame", "phy", "payload")


class RecordingError(ValueError):
    """The file cannot be replayed. The text is the reason; messages put the file's name before it."""


@dataclass(frozen=True)
class Recording:
    """``octets``: sizes of the frames as the stream sends them, from destination address to FCS; None: the
    recording contains no sizes.
    """

    times_ns: Sequence[int]
    octets: Sequence[int] | None


def read(replay: model.Replay, tagged: bool) -> Recording:
    """The requested part of a recording, at the recorded speed; times count from ``begin``.

    Raises:
        RecordingError: the file is missing, broken, empty, too long, or has frames that cannot be sent.
    """
    path = Path(replay.file)
    table = path.suffix.lower() in TABLES
    recording = _table(path, tagged) if table else _capture(path, replay.only, tagged)
    until = replay.until
    kept = [
        place
        for place, time in enumerate(recording.times_ns)
        if time >= replay.begin and (until is None or time < until)
    ]
    if not kept:
        flow = " of this flow" if replay.only != model.CaptureFilter() else ""
        raise RecordingError(f"has no frame{flow} in the part that is replayed")
    if len(kept) > MOST_FRAMES:
        raise RecordingError(f"has {len(kept)} frames in the part that is replayed, more than {MOST_FRAMES}")
    times = [recording.times_ns[place] - replay.begin for place in kept]
    octets = recording.octets and [recording.octets[place] for place in kept]
    return Recording(times, octets)


def _capture(path: Path, only: model.CaptureFilter, tagged: bool) -> Recording:
    try:
        foreign.regular(path)
        begin, frames = _native.capture_trace(str(path), json.dumps(only.model_dump(exclude_none=True)))
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(str(error)) from error
    tag = TAG if tagged else 0
    return Recording([time - begin for time, _ in frames], [max(64, octets + tag) for _, octets in frames])


def read_times(path: Path) -> list[tuple[int, int]]:
    """(ns, number of occurrences) from a table of times; without a column ``count`` each row counts once.

    Raises:
        RecordingError: the file is missing, broken, too long, or has no times.
    """
    table = _open(path)
    times = _times(table)
    counts = [1] * table.height
    if "count" in table.columns:
        counts = _numbers(table["count"].to_list(), "count", 1)
    return list(zip(times, counts, strict=True))


def _table(path: Path, tagged: bool) -> Recording:
    table = _open(path)
    times = _times(table)
    sizes = [name for name in table.columns if name in _SIZES]
    if len(sizes) > 1:
        raise RecordingError(f"needs one column of sizes: {', '.join(_SIZES)}; it has {' and '.join(sizes)}")
    if not sizes:
        return Recording(sorted(times), None)
    octets = _frames(_numbers(table[sizes[0]].to_list(), sizes[0], 1), sizes[0], tagged)
    rows = sorted(zip(times, octets, strict=True), key=lambda row: row[0])
    return Recording([time for time, _ in rows], [size for _, size in rows])


def _open(path: Path) -> pl.DataFrame:

    try:
        if path.suffix.lower() == ".csv":
            foreign.regular(path, LARGEST_TABLE)
            with foreign.table_errors(path, "a CSV file"):
                # Columns are read as texts, so that decimal fractions stay exact.
                table = pl.read_csv(path, infer_schema=False, glob=False)
        else:
            table = foreign.read_parquet(path)
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}") from error
    if table.height > 4 * MOST_FRAMES:
        raise RecordingError(f"has {table.height} rows, more than {4 * MOST_FRAMES}")
    names = [name.strip() for name in table.columns]
    if len(set(names)) < len(names):
        raise RecordingError("has two columns of one name")
    table.columns = names
    return table


def _times(table: pl.DataFrame) -> list[int]:
    """The times of a column in ns."""
    times = [name for name in table.columns if name in _TIMES]
    if len(times) != 1:
        found = ", ".join(name[:40] for name in table.columns[:8])
        raise RecordingError(f"needs one column of times ({', '.join(_TIMES)}), and has {found}")
    return _numbers(table[times[0]].to_list(), times[0], _TIMES[times[0]])


def _numbers(values: list[Any], column: str, worth: int) -> list[int]:
    """Every value multiplied by ``worth``; each product must be a whole number."""
    found = []
    for row, value in enumerate(values, 1):
        try:
            # A float is a binary fraction, from which the intended decimal fraction is unknown. An empty cell
            # is None.
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise ValueError
            number = value * worth if isinstance(value, int) else _exact(value) * worth
        except (ValueError, TypeError, ZeroDivisionError):
            raise RecordingError(
                f"has no number that can be taken exactly in row {row} of {column}"
            ) from None
        if number < 0 or number != int(number) or number > 1 << 62:
            raise RecordingError(
                f"has {column} in row {row} that is negative, not a whole ns or octet, or large"
            )
        found.append(int(number))
    return found


def _exact(text: str) -> int | Fraction:
    text = text.strip()
    if len(text) > 40 or "/" in text or "e" in text.lower():
        raise ValueError
    return int(text) if text.isdecimal() else Fraction(text)


def _frames(sizes: list[int], column: str, tagged: bool) -> list[int]:
    if column == "payload":
        return [frame_from_payload(size, tagged) for size in sizes]
    return [size - PHY_OVERHEAD for size in sizes] if column == "phy" else sizes
