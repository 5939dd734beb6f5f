"""A measured trace of an oscillator -> changes of its drift.

A CSV file with a header: ``t_s`` and either ``drift_ppm`` (from then on) or ``offset_ns`` (the clock's error
then; it changes linearly between two lines).
"""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from tsnbench import foreign
from tsnbench.scenario import model
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import Named, Reading

_MOST_LINES = 1_000_000
_LARGEST_FILE = 64 << 20
_NUMBER = re.compile(r"[+-]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?")
"""What a table of measurements has: an exponent without a bound would make numbers of any length."""
_MOST_DRIFT = 10**9
_COLUMNS = "a CSV file with the columns t_s and drift_ppm or offset_ns"


def read(reading: Reading, name: Named) -> Values:
    """``drift`` and ``changes`` of a clock; empty where a mistake was noted. Beside the scenario's file."""

    def wrong(expected: str, found: str) -> Values:
        reading.problem(name.place, name.path, expected, found)
        return {}

    path = Path(reading.file).parent / str(name)
    try:
        lines = io.StringIO(foreign.read_text(path, _LARGEST_FILE), newline="")
        rows = [row for _, row in zip(range(_MOST_LINES + 1), csv.DictReader(lines), strict=False)]
    except foreign.UnusableFileError as error:
        return wrong(error.expected, f"{error.found}: {path}")
    except (OSError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return wrong(_COLUMNS, f"{path}: {reason}")
    kind = next((key for key in ("drift_ppm", "offset_ns") if rows and key in rows[0]), None)
    if kind is None or "t_s" not in rows[0]:
        return wrong(_COLUMNS, f"{path} without them")
    if len(rows) > _MOST_LINES:
        return wrong(f"at most {_MOST_LINES} lines", "more")
    try:
        points = [(round(_exact(row["t_s"]) * 10**9), _exact(row[kind])) for row in rows]
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
    # A line is a change only if it differs from the previous one.
    kept = [now for before, now in pairwise([(-1, 0), *drifts]) if now[0] == 0 or now[1] != before[1]]
    start = {"drift": kept[0][1]} if kept and kept[0][0] == 0 else {}
    later = tuple(model.DriftChange(at=at, drift=drift) for at, drift in kept if at > 0)
    return {**start, "changes": later}


def _exact(text: str) -> Fraction:
    """A decimal number of up to 20 digits before and behind the point; raises ValueError at others."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise ValueError
    return Fraction(text)
