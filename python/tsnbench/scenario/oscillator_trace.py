"""A measured trace of an oscillator -> changes of its drift.

A CSV file with a header: ``t_s`` and either ``drift_ppm`` (from then on) or ``offset_ns`` (what the clock
showed too much then; between two lines it gained evenly).
"""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.reading import Named, Reading

_MOST_LINES = 1_000_000
_MOST_DRIFT = 10**9
_COLUMNS = "a CSV file with the columns t_s and drift_ppm or offset_ns"


def read(reading: Reading, name: Named) -> dict[str, Any]:
    """``drift`` and ``changes`` of a clock; empty where a mistake was noted. Beside the scenario's file."""

    def wrong(expected: str, found: str) -> dict[str, Any]:
        reading.problem(name.place, name.path, expected, found)
        return {}

    path = Path(reading.file).parent / str(name)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for _, row in zip(range(_MOST_LINES + 1), csv.DictReader(file), strict=False)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return wrong(_COLUMNS, f"{path}: {error}")
    kind = next((key for key in ("drift_ppm", "offset_ns") if rows and key in rows[0]), None)
    if kind is None or "t_s" not in rows[0]:
        return wrong(_COLUMNS, f"{path} without them")
    if len(rows) > _MOST_LINES:
        return wrong(f"at most {_MOST_LINES} lines", "more")
    try:
        points = [(_ns(row["t_s"]), Fraction(row[kind])) for row in rows]
    except (ValueError, TypeError, ZeroDivisionError):
        return wrong("numbers", f"something else in {path}")
    if any(later <= earlier for (earlier, _), (later, _) in pairwise(points)) or points[0][0] < 0:
        return wrong("times that grow, from 0 s on", f"others in {path}")
    if kind == "offset_ns":
        drifts = [
            (at, round((after - before) * 10**12 / (until - at)))
            for (at, before), (until, after) in pairwise(points)
        ]
    else:
        drifts = [(at, round(ppm * 10**6)) for at, ppm in points]
    if any(abs(drift) > _MOST_DRIFT for _, drift in drifts):
        return wrong("drifts of at most 1000 ppm", f"more in {path}")
    # A line changes something only where it differs from the one before.
    kept = [now for before, now in pairwise([(-1, 0), *drifts]) if now[0] == 0 or now[1] != before[1]]
    start = {"drift": kept[0][1]} if kept and kept[0][0] == 0 else {}
    later = tuple(model.DriftChange(at=at, drift=drift) for at, drift in kept if at > 0)
    return {**start, "changes": later}


def _ns(seconds: str) -> int:
    return round(Fraction(seconds) * 10**9)
