"""Figures as tidy CSV: one row per figure, the same six columns for everything that is measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tsnbench.measure.stat import kinds
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from tsnbench.measure.inspection import Inspection
    from tsnbench.measure.stages import StreamStages
    from tsnbench.measure.types import Measures

COLUMNS = ("stream", "listener", "quantity", "statistic", "value", "unit")
"""``quantity``: delay, frames and so on. ``value`` is empty where a figure is missing."""
STATISTICS = ("count", "min", "mean", "std", "median", "p90", "p99", "p99_9", "max")
Row = tuple[str, str, str, str, float | None, str]


def of_measures(measures: Measures) -> Iterator[Row]:
    """Frames, rates, delays and jitters of every stream at every listener, pooled over its flows."""
    for one in measures["groups"]:
        who = (one["stream"], one["listener"])
        for name, number in one["count"].items():
            yield (*who, "frames", name, _number(number), "frames")
        for name, bps in one["rate"].items():
            yield (*who, "rate", name.removesuffix("_bps"), _number(bps), "bit/s")
        yield from _statistics(who, "delay", one["delay"])
        for kind, stat in kinds(one["jitter"]).items():
            yield from _statistics(who, f"jitter {kind}", stat)
        yield (*who, "jitter spread", "std", one["spread"], "ns")


def of_inspection(found: Inspection) -> Iterator[Row]:
    """Frames, rate and intervals of every stream of a capture, and of every class against its gates."""
    for one in found["streams"]:
        who = (one["stream"], "")
        for name in ("frames", "missing", "duplicate", "reordered", "missing_timestamp"):
            yield (*who, "frames", "count" if name == "frames" else name, _number(one.get(name)), "frames")
        yield (*who, "burst", "max", one["burst_frames"], "frames")
        yield (*who, "rate", "sent", one["rate_bps"], "bit/s")
        yield from _statistics(who, "interval", one["interval"])
    for own in (found["gates"] or {"classes": []})["classes"]:
        who = (f"class {own['traffic_class']}", "")
        for name in ("frames", "began_closed", "ended_closed"):
            yield (*who, "gates", "count" if name == "frames" else name, _number(own.get(name)), "frames")


def of_stages(streams: Iterable[StreamStages]) -> Iterator[Row]:
    """Latency and mean jitter of every stage; the tap stands in the column of listeners."""
    for stream in streams:
        for one in stream.stages:
            who = (stream.stream, one.tap)
            times = one.latencies
            latency = f"stage {one.name} from {stream.reference}"
            yield (*who, latency, "count", len(times), "samples")
            yield (*who, latency, "min", min(times, default=None), "ns")
            yield (*who, latency, "mean", one.mean_ns, "ns")
            yield (*who, latency, "max", max(times, default=None), "ns")
            yield (*who, f"{latency}, jitter", "mean", one.jitter_ns, "ns")


def of_figures(streams: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Counts and figures of ``tsnbench-foreign/1``."""
    for stream in streams:
        who = (stream["stream"], "")
        for name, number in stream["counts"].items():
            yield (*who, "frames", name, number, "frames")
        for figure in stream["figures"]:
            yield from _statistics(who, figure["name"], figure)
            yield (*who, figure["name"], "missing", figure["missing"], "samples")


def text_of(rows: Iterable[Row]) -> str:
    """The rows below their columns' names."""
    return csv_text(COLUMNS, rows)


def _statistics(who: tuple[str, str], quantity: str, stat: Mapping[str, Any] | None) -> Iterator[Row]:
    for name in STATISTICS:
        value = None if stat is None else stat[name]
        yield (*who, quantity, name, 0 if stat is None and name == "count" else value, _unit(name))


def _unit(statistic: str) -> str:
    return "samples" if statistic == "count" else "ns"


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
