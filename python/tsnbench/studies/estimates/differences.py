"""Differences between combinations of values, repetition by repetition.

The n-th repetition of every combination has the same seed, so both draw the same arrivals (common random
numbers). The difference of two repetitions with one seed varies much less than the two values themselves, and
its interval can be narrow where the intervals of the two overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

from tsnbench.studies import statistics
from tsnbench.studies.estimates.intervals import QUANTILES
from tsnbench.studies.store import Record, Row

QUANTITIES = ("delay mean", "delay median", "delay p99", "delay p99_9", "delay max", "lost")
"""Figures of one repetition, by the names of :func:`tsnbench.measure.measures_rows`."""
COLUMNS = ("against", "quantity", "pairs", "difference", "low", "high", "confidence", "differs")


def differences(point: Record, against: str, rows: Sequence[Row], first: Sequence[Row]) -> list[Row]:
    """The differences of one combination from the first one, for each stream, listener and quantity.

    Args:
        point: the values of the combination, which begin each row.
        against: the values of the first combination in words.
        rows: the measures of the combination's repetitions: one row per repetition, stream and listener.
        first: the same of the first combination.
    """
    earlier = {(row["seed"], row["stream"], row["listener"]): row for row in first}
    ends = dict.fromkeys((row["stream"], row["listener"]) for row in rows)
    found = []
    for stream, listener in ends:
        pairs = [
            (before, row)
            for row in rows
            if (row["stream"], row["listener"]) == (stream, listener)
            and (before := earlier.get((row["seed"], stream, listener))) is not None
        ]
        who = {**point, "stream": stream, "listener": listener, "against": against}
        found += [{**who, **_difference(quantity, pairs)} for quantity in QUANTITIES]
    return found


def _difference(quantity: str, pairs: Sequence[tuple[Row, Row]]) -> Row:
    """The mean difference over the pairs in which both repetitions have the quantity, with its t interval.

    A quantile has none if a repetition has too few frames for it.
    """
    both = [
        (before[quantity], after[quantity])
        for before, after in pairs
        if before[quantity] is not None and after[quantity] is not None
    ]
    frames = [row["received"] for pair in pairs for row in pair]
    if quantity in QUANTILES and statistics.enough_frames(QUANTILES[quantity], frames, 1):
        both = []
    interval = statistics.difference([a for a, _ in both], [b for _, b in both])
    differs = None if interval is None else "no" if interval.low <= 0 <= interval.high else "yes"
    return {
        "quantity": quantity,
        "pairs": len(both),
        "difference": interval.estimate if interval else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "confidence": interval.confidence if interval else None,
        "differs": differs,
    }
