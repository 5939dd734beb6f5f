"""Figures as tidy CSV: one row per figure, the same six columns for everything that is measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tsnbench.measure.tables import verdict_rows
from tsnbench.runs.measures import kinds
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from tsnbench.measure.answers import Answered
    from tsnbench.measure.inspection import Inspection
    from tsnbench.measure.protocols.trdp import TrdpMeasures
    from tsnbench.measure.stages import StreamStages
    from tsnbench.runs.measures import Measures, Verdict

COLUMNS = ("stream", "listener", "quantity", "statistic", "value", "unit")
"""``quantity``: delay, frames and so on. ``value`` is empty where a figure is missing."""
STATISTICS = ("count", "min", "mean", "std", "median", "p90", "p99", "p99_9", "max")
Row = tuple[str | float | None, ...]
"""The cells of one figure: whose it is, the quantity, the statistic, the value, the unit."""


def of_measures(measures: Measures) -> Iterator[Row]:
    """Frames, rates, delays and jitters of every stream at every listener, pooled over its flows."""
    for one in measures["groups"]:
        who = (one["stream"], one["listener"])
        for name, number in one["count"].items():
            yield (*who, "frames", name, _number(number), "frames")
        for name, bps in one["rate"].items():
            yield (*who, "rate", name.removesuffix("_bps"), _number(bps), "bit/s")
        yield from statistics(who, "delay", one["delay"])
        for kind, stat in kinds(one["jitter"]).items():
            yield from statistics(who, f"jitter {kind}", stat)
        yield (*who, "jitter spread", "std", one["spread"], "ns")


def of_inspection(found: Inspection) -> Iterator[Row]:
    """Frames, rate and intervals of every stream of a capture, and of every class against its gates."""
    for one in found["streams"]:
        who = (one["stream"], "")
        for name in ("frames", "missing", "duplicate", "reordered", "missing_timestamp"):
            yield (*who, "frames", "count" if name == "frames" else name, _number(one.get(name)), "frames")
        yield (*who, "burst", "max", one["burst_frames"], "frames")
        yield (*who, "rate", "sent", one["rate_bps"], "bit/s")
        yield from statistics(who, "interval", one["interval"])
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


def of_answers(found: Iterable[Answered]) -> Iterator[Row]:
    """Counts and times of every answering stream; quantities name the first request of its chain."""
    for one in found:
        who = (one.chain[-1], one.listener)
        for name, number in (
            ("sent", one.requests),
            ("answered", len(one.pairs)),
            ("received", len(one.times)),
        ):
            yield (*who, f"answers to {one.chain[0]}", name, number, "frames")
        yield from statistics(who, f"time from {one.chain[0]}", one.statistics)


def of_figures(streams: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Counts and figures of ``tsnbench-foreign/1``."""
    for stream in streams:
        who = (stream["stream"], "")
        for name, number in stream["counts"].items():
            yield (*who, "frames", name, number, "frames")
        for figure in stream["figures"]:
            yield from statistics(who, figure["name"], figure)
            yield (*who, figure["name"], "missing", figure["missing"], "samples")


def of_verdict(verdict: Verdict) -> Iterator[Row]:
    """Every requirement of every stream, of the flow that fails most: limit, finding, worst case."""
    for one in verdict_rows(verdict):
        who, quantity = (one["stream"], one["listener"]), f"requirement {one['requirement']}"
        for name in ("limit", "found", "margin", "worst_case"):
            yield (*who, quantity, name, _number(one.get(name)), one["limit_unit"])
        yield (*who, quantity, "met", int(one["met"] == "yes"), "")
        yield (*who, quantity, "proved", int(one["proof"] == "proved"), "")


def of_sync(clocks: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """The clocks of ``tsnbench-sync/1``, which stand in the column of streams: offsets, path delays,
    frequencies, and the gate."""
    for clock in clocks:
        who = (clock["clock"], "")
        for name in ("offset", "path_delay"):
            yield from statistics(who, name.replace("_", " "), clock[name])
        yield from statistics(who, "frequency", clock["frequency"], unit="ppb")
        yield (*who, "offset", "unlocked", clock["unlocked"], "samples")
        yield (*who, "grandmasters", "count", len(clock["grandmasters"]), "")
        gate = clock["gate"]
        yield (*who, "gate", "open at the end", None if gate is None else int(gate["open"]), "")
        for name in ("below", "steady", "first_open", "open"):
            yield (*who, "gate", name.replace("_", " "), gate and gate[f"{name}_ns"], "ns")
        yield (*who, "gate", "closed", gate and gate["closed"], "times")


_EXCHANGE = (
    "requests", "repeated", "replies", "late", "errors", "time_outs", "open", "queries", "confirmations",
    "confirm_time_outs",
)  # fmt: skip


def of_trdp(found: TrdpMeasures) -> Iterator[Row]:
    """The telegrams of every stream as a subscriber counts them, and how they are spread over time; the
    destination stands in the column of listeners."""
    for one in found["streams"]:
        who = (f"{one['name']} from {one['source']}", one["destination"])
        yield (*who, "telegrams", "count", one["telegrams"], "telegrams")
        for name, number in (one["subscription"] or {}).items():
            yield (*who, "telegrams", name, _number(number), "telegrams")
        yield from statistics(who, "interval", one["interval"])
    for exchange in found["exchanges"]:
        who = (exchange["name"], exchange["destination"])
        for name in _EXCHANGE:
            yield (*who, "requests", name.replace("_", " "), exchange[name], "telegrams")  # type: ignore[literal-required]
        yield from statistics(who, "round trip", exchange["round_trip"])
        yield from statistics(who, "confirmation", exchange["confirm_time"])
    who = ("all", "")
    for name in ("process_data", "message_data", "check_errors", "protocol_errors"):
        yield (*who, "telegrams", name, _number(found[name]), "telegrams")  # type: ignore[literal-required]
    for name in ("min", "mean", "max", "variance"):
        spreading = found["spreading"]
        value = None if spreading is None else spreading[name]  # type: ignore[literal-required]
        yield (*who, "telegrams in 10 ms", name, value, "telegrams")


def text_of(rows: Iterable[Row]) -> str:
    """The rows below their columns' names."""
    return csv_text(COLUMNS, rows)


def statistics(
    who: Sequence[str],
    quantity: str,
    stat: Mapping[str, Any] | None,
    names: Iterable[str] = STATISTICS,
    unit: str = "ns",
) -> Iterator[Row]:
    """A row for each statistic of a quantity; without samples their number is 0 and the others are empty."""
    for name in names:
        value = stat[name] if stat is not None else 0 if name == "count" else None
        yield (*who, quantity, name, value, "samples" if name == "count" else unit)


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
