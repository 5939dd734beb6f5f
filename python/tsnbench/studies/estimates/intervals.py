"""Intervals over the repetitions of a study: one row for each combination of values, stream and quantity.

A repetition is the unit of statistics: frames of one run depend on each other, runs with other seeds do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tsnbench.studies import statistics
from tsnbench.studies.statistics import CONFIDENCE, Interval
from tsnbench.studies.store import Record, Row

QUANTILES = {
    "delay median": Fraction(1, 2),
    "delay p99": Fraction(99, 100),
    "delay p99_9": Fraction(999, 1000),
}
"""Quantiles with an interval, by the names of :func:`tsnbench.measure.measures_rows`."""
COLUMNS = ("quantity", "repetitions", "estimate", "low", "high", "confidence", "method")


def intervals(point: Record, rows: Sequence[Row], met: Sequence[bool]) -> list[Row]:
    """The intervals of one combination of values.

    Args:
        point: the values, which begin each row.
        rows: the measures of its repetitions: one row for each repetition, stream and listener. Times in ns.
        met: whether each repetition met all requirements.
    """
    if len(met) < 2:
        return []
    found = [{**point, "stream": None, "listener": None, **_met(met)}]
    ends = dict.fromkeys((row["stream"], row["listener"]) for row in rows)
    for stream, listener in ends:
        own = [row for row in rows if (row["stream"], row["listener"]) == (stream, listener)]
        who = {**point, "stream": stream, "listener": listener}
        found += [{**who, **row} for row in (mean_delay(own), *_quantiles(own), _greatest(own), _lost(own))]
    return found


def mean_delay(rows: Sequence[Row]) -> Row:
    """The mean over all frames, with its t interval over repetitions."""
    means = [(row["delay mean"], row["received"]) for row in rows if row["delay mean"] is not None]
    interval = statistics.mean(means)
    return _row("delay mean", len(means), interval, "t" if interval else "needs two repetitions with frames")


def _quantiles(rows: Sequence[Row]) -> list[Row]:
    found = []
    for name, p in QUANTILES.items():
        there = [row for row in rows if row[name] is not None]
        few = statistics.enough_frames(p, [row["received"] for row in there], 1)
        interval = None if few else statistics.free([row[name] for row in there])
        method = "order of the repetitions" if interval else "needs six repetitions"
        if few:
            method = f"needs {few.needed} frames in each repetition, found {few.frames}"
        found.append(_row(name, len(there), interval, method))
    return found


def _greatest(rows: Sequence[Row]) -> Row:
    delays = [row["delay max"] for row in rows if row["delay max"] is not None]
    row = _row("delay max", len(delays), None, "")
    share = statistics.exceeded_at_most(len(delays))
    if delays and share is not None:
        row["estimate"] = max(delays)
        row["method"] = f"the next run exceeds it with a probability of at most {share:.3g}"
        row["confidence"] = CONFIDENCE
    return row


def _lost(rows: Sequence[Row]) -> Row:
    losses = statistics.losses([(row["lost"] or 0, row["sent"] or 0) for row in rows])
    row = _row("lost share", len(rows), losses.share, losses.method.value)
    if losses.share is None and losses.sent:
        row["estimate"] = losses.lost / losses.sent
    if losses.replications_at_most is not None:
        row["method"] = f"no run lost a frame: at most {losses.replications_at_most:.3g} of all runs lose one"
        row["confidence"] = CONFIDENCE
    return row


def _met(met: Sequence[bool]) -> Row:
    limits = statistics.clopper_pearson(sum(met), len(met))
    low, high = limits if limits else (None, None)
    return {
        "quantity": "runs that met", "repetitions": len(met), "estimate": sum(met) / len(met),
        "low": low, "high": high, "confidence": CONFIDENCE, "method": "clopper-pearson",
    }  # fmt: skip


def _row(quantity: str, repetitions: int, interval: Interval | None, method: str) -> Row:
    return {
        "quantity": quantity,
        "repetitions": repetitions,
        "estimate": interval.estimate if interval else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "confidence": interval.confidence if interval else None,
        "method": method,
    }
