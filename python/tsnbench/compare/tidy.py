"""A comparison as tidy CSV: one row per figure, with the run that has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tsnbench.measure.tidy import Row, statistics
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from tsnbench.compare.comparison import Comparison
    from tsnbench.compare.frames import Spread

COLUMNS = ("stream", "listener", "run", "quantity", "statistic", "value", "unit")
"""The columns of ``tsnbench measure --csv``, and the run. ``value`` is empty where a figure is missing."""
ALLOWANCES = ("difference", "below", "above")
"""Of an agreement: how far the run is from the first one, and how far it may be below and above it."""


def text_of(found: Comparison) -> str:
    """Figures of every stream in every run, bounds, gates, and every agreement with the first run."""
    return csv_text(COLUMNS, [*_streams(found), *_bounds(found), *_gates(found), *_agreements(found)])


def _streams(found: Comparison) -> Iterator[Row]:
    for row in found.rows:
        who = (row.stream, row.listener, found.sides[row.side].label)
        for name, frames in (("sent", row.sent), ("received", row.received), ("lost", row.lost)):
            yield (*who, "frames", name, frames, "frames")
        yield from statistics(who, "delay", row.delay)
        yield (*who, "jitter spread", "std", row.spread_ns, "ns")
        yield from spread_rows(who, "interval", row.interval)


def spread_rows(who: Sequence[str], quantity: str, found: Spread | None) -> Iterator[Row]:
    """The order statistics of a quantity; none without values."""
    values = asdict(found) if found else {}
    return statistics(who, quantity, values, values)


def _bounds(found: Comparison) -> Iterator[Row]:
    """Bounds are of the first run's Plan; a stream without a bound has an empty value."""
    for (stream, listener), (upper, _) in found.bounds.items():
        yield (stream, listener, found.sides[0].label, "worst-case bound", "max", upper, "ns")


def _gates(found: Comparison) -> Iterator[Row]:
    """The port and its class stand in the column of streams, as in ``tsnbench inspect --csv``."""
    for one in found.gates:
        who = (f"{one.port} class {one.traffic_class}", "", found.sides[one.side].label, "gates")
        yield (*who, "count", one.frames, "frames")
        yield (*who, "outside", one.outside, "frames")
        for name, time in (("early", one.early_ns), ("late", one.late_ns), ("opening", one.opening_ns)):
            yield (*who, name, time, "ns")


def _agreements(found: Comparison) -> Iterator[Row]:
    """``agrees`` is 1 or 0."""
    for one in found.agreements:
        who = (one.stream, one.listener, found.sides[one.second].label, f"agreement {one.quantity}")
        for name in ALLOWANCES:
            yield (*who, name, getattr(one, name), one.unit)
        yield (*who, "agrees", int(one.agrees), "")
