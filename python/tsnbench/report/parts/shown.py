"""Which rows a page has of a long table: a browser opens some hundred rows at once, not 10,000."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tsnbench.report.facts import Judged, Measure
from tsnbench.report.formatting import count
from tsnbench.report.parts.bounds import PlannedRow, Row
from tsnbench.report.parts.planned import PlannedStream
from tsnbench.report.parts.verdicts import Row as VerdictRow
from tsnbench.report.parts.verdicts import rank

MOST_ROWS = 200
"""Rows of one table."""
WORST_VERDICTS = "that failed or have the smallest margins"

T = TypeVar("T")


@dataclass(frozen=True)
class Shown(Generic[T]):
    """The rows of a table, and what was left out."""

    rows: tuple[T, ...]
    total: int
    note: str
    """Which rows these are, as a sentence after a caption; empty if they are all rows."""


def first_rows(every: Sequence[T], key: Callable[[T], Any], words: str, where: str) -> Shown[T]:
    """All rows in their order, or the :data:`MOST_ROWS` smallest by ``key``.

    ``words`` describes those rows, and ``where`` names the file or command with all rows.
    """
    if len(every) <= MOST_ROWS:
        return Shown(tuple(every), len(every), "")
    rows = tuple(sorted(every, key=key)[:MOST_ROWS])
    return Shown(
        rows,
        len(every),
        f" The table has {MOST_ROWS} of {count(len(every))} rows, those {words}; {where} has all.",
    )


def measures(every: Sequence[Measure]) -> Shown[Measure]:
    """Streams that lost frames first, then those with the greatest delays."""
    return first_rows(
        every,
        lambda one: (-one.counts.get("lost", 0), -(one.delay["max"] if one.delay else 0)),
        "that lost most frames or have the greatest delays",
        "measures.json",
    )


def verdicts(every: Sequence[VerdictRow]) -> Shown[VerdictRow]:
    """Failed requirements first, then those with the smallest margins."""
    return first_rows(every, lambda one: one.rank, WORST_VERDICTS, "verdict.json")


def judged(every: Sequence[Judged]) -> Shown[Judged]:
    """Failed requirements first, then those with the smallest margins."""
    return first_rows(every, rank, WORST_VERDICTS, "verdict.json")


def bounds(every: Sequence[Row]) -> Shown[Row]:
    """Bounds that a frame exceeded first, then those that a frame came closest to."""

    def key(row: Row) -> tuple[int, float]:
        return {"no": 0, "": 2}.get(row.met, 1), float(row.ratio or "inf")

    return first_rows(every, key, "that were exceeded or that frames came closest to", "bounds.json")


def scheduled(every: Sequence[PlannedStream]) -> Shown[PlannedStream]:
    """Scheduled streams with the smallest rest of their limit."""
    return first_rows(every, lambda one: one.slack, "with the smallest rest of their limit", "plan.json")


def planned_bounds(every: Sequence[PlannedRow]) -> Shown[PlannedRow]:
    """Streams whose bound breaks their limit or is closest to it; limits without a bound come first."""

    def key(row: PlannedRow) -> float:
        if row.limit_ns is None:
            return float("inf")
        return float("-inf") if row.upper_ns is None else row.limit_ns - row.upper_ns

    return first_rows(every, key, "that are closest to their limit or beyond it", "tsnbench plan --bounds")
