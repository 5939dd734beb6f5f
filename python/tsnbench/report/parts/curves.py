"""From single frames to the points of a figure: order statistics and envelopes, never more points than can be
seen.

Nothing is smoothed. A distribution is drawn through exact order statistics, close enough in rank that no step
between two of them is taller than a pixel; a delay over time keeps the least and the greatest of every
pixel column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tsnbench.foreign import table_errors
from tsnbench.libraries import polars as pl
from tsnbench.report.facts import Measure, RunFacts

MOST_CURVES = 6
"""Curves in one panel; more could not be distinguished."""
COLUMNS = 300
"""Pixel columns of a figure over time."""
LONGEST_RUN_NS = 10 * 86_400 * 10**9
"""A timestamp beyond it is a date."""
MOST_FRAMES = 2_000_000
"""Rows of a table of frames that is kept in memory (60 MB)."""
STEPS = 400
"""Ranks of a distribution that are drawn."""


@dataclass(frozen=True)
class Box:
    """A box plot: quartiles, 1st and 99th percentile as whiskers, extremes; µs."""

    low: float
    p1: float
    p25: float
    median: float
    p75: float
    p99: float
    high: float


@dataclass(frozen=True)
class Steps:
    """A step function: at ``x`` (µs) the share rises or falls to ``y``."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Envelope:
    """Delay over time: per pixel column the time (ns since the run began), and the least, mean and
    greatest delay (µs) in it."""

    t: tuple[float, ...]
    low: tuple[float, ...]
    mean: tuple[float, ...]
    high: tuple[float, ...]
    single: bool
    """Every column holds one frame at most: points, not an envelope."""


@dataclass(frozen=True)
class Curve:
    """All distributions of one stream at one listener."""

    measure: Measure
    frames: int
    ccdf: Steps
    jitter: Steps | None
    box: Box
    over_time: Envelope | None


@dataclass(frozen=True)
class Panel:
    """Streams of one priority, drawn together."""

    title: str
    curves: tuple[Curve, ...]
    left_out: int
    """Streams of this priority that are not drawn."""


def panels(run: RunFacts) -> tuple[Panel, ...]:
    """The streams of a run by priority, at most :data:`MOST_CURVES` each: those with the greatest delay."""
    if run.frames is None:
        return ()
    table = _whole(run)
    by_pcp: dict[int | None, list[Measure]] = {}
    for group in run.groups:
        if group.delay is not None and group.paths:
            by_pcp.setdefault(group.pcp, []).append(group)
    found = []
    for pcp, groups in by_pcp.items():
        slowest = sorted(groups, key=lambda g: (-(g.delay["max"] if g.delay else 0), g.stream, g.listener))
        kept = {id(group) for group in slowest[:MOST_CURVES]}
        drawn = [curve for group in groups if id(group) in kept and (curve := curve_of(run, group, table))]
        if drawn:
            unknown = "Several priorities" if run.plan["streams"] else "Streams"
            title = unknown if pcp is None else f"Priority {pcp}"
            found.append(Panel(title, tuple(drawn), len(groups) - len(drawn)))
    return tuple(found)


def _whole(run: RunFacts) -> pl.LazyFrame | None:
    """The table of frames, read once for all streams; None if it is long, and read again for each stream."""
    if run.frames is None:
        return None
    with table_errors(run.frames):
        frames = pl.scan_parquet(run.frames)
        if frames.select(pl.len()).collect().item() > MOST_FRAMES:
            return None
        return frames.select("path", "seq", "t_tx_ns", "delay_ns").collect().lazy()


def curve_of(run: RunFacts, measure: Measure, table: pl.LazyFrame | None = None) -> Curve | None:
    """The distributions of one stream; None where it has no frame with a delay.

    ``table``: the run's table of frames, if it is in memory.
    """
    if run.frames is None or not measure.paths:
        return None
    with table_errors(run.frames):
        own = (
            (pl.scan_parquet(run.frames) if table is None else table)
            .filter(pl.col("path").is_in(list(measure.paths)) & pl.col("delay_ns").is_not_null())
            .select("path", "seq", "t_tx_ns", "delay_ns")
            .collect()
        )
    if own.is_empty():
        return None
    ordered = own["delay_ns"].sort()
    return Curve(
        measure=measure,
        frames=own.height,
        ccdf=ccdf(ordered),
        jitter=_jitter(own),
        box=box(ordered),
        over_time=_over_time(own),
    )


def box(ordered: pl.Series) -> Box:
    """Order statistics of a sorted series of ns; nearest rank."""
    n = len(ordered)
    ranks = [0, *(nearest_rank(p, 100, n) for p in (1, 25, 50, 75, 99)), n - 1]
    return Box(*(value / 1e3 for value in ordered.gather(ranks)))


def nearest_rank(part: int, whole: int, n: int) -> int:
    """Index of the ``part / whole`` quantile among ``n`` sorted values: ceil(p * n) - 1, in integers."""
    return max(0, -(-part * n // whole) - 1)


def ccdf(ordered: pl.Series) -> Steps:
    """The share of frames with a greater delay, at exact ranks evenly spaced on a log axis of the share."""
    n = len(ordered)
    tail = {n - 1 - min(n - 1, round(math.exp(step * math.log(n) / STEPS)) - 1) for step in range(STEPS + 1)}
    return _steps(ordered, sorted(tail | {0}), lambda rank: (n - rank - 1) / n)


def ecdf(ordered: pl.Series) -> Steps:
    """The share of values not greater, at exact ranks evenly spaced."""
    n = len(ordered)
    ranks = sorted({round(step * (n - 1) / STEPS) for step in range(STEPS + 1)})
    return _steps(ordered, ranks, lambda rank: (rank + 1) / n)


def _steps(ordered: pl.Series, ranks: list[int], share: Callable[[int], float]) -> Steps:
    """One step per distinct value: of equal values the last rank is the share at that value."""
    values = ordered.gather(ranks).to_list()
    last_of = dict(zip(values, ranks, strict=True))
    # Values after the last drawn rank may be equal to the drawn value, so the last equal value is searched.
    ends = ordered.search_sorted(pl.Series(list(last_of), dtype=ordered.dtype), side="right").to_list()
    return Steps(tuple(value / 1e3 for value in last_of), tuple(share(end - 1) for end in ends))


def _jitter(table: pl.DataFrame) -> Steps | None:
    """ECDF of delay-step-abs: the step from the flow's previous frame that arrived."""
    steps = (
        table.sort("path", "seq")
        .select((pl.col("delay_ns") - pl.col("delay_ns").shift(1).over("path")).abs().alias("step"))["step"]
        .drop_nulls()
        .sort()
    )
    return ecdf(steps) if len(steps) else None


def origin(first: int) -> int:
    """The time 0 of a figure: the begin of a run's own clock; the first frame of a capture."""
    return 0 if 0 <= first < LONGEST_RUN_NS else first


def _over_time(table: pl.DataFrame) -> Envelope | None:

    sent = table.filter(pl.col("t_tx_ns").is_not_null())
    return None if sent.is_empty() else envelope(sent, "t_tx_ns", "delay_ns")


def envelope(table: pl.DataFrame, time: str, value: str) -> Envelope:
    """Values over time, both in ns and without gaps; the table has a row at least."""
    first, last = table[time].min(), table[time].max()
    assert isinstance(first, int)
    assert isinstance(last, int)
    width = max(1, -(-(last - first + 1) // COLUMNS))
    single = table.height <= COLUMNS
    column = pl.col(time) if single else (pl.col(time) - first) // width * width + first + width // 2
    found = (
        table.group_by(column.alias("at"))
        .agg(
            pl.col(value).min().alias("low"),
            pl.col(value).mean().alias("mean"),
            pl.col(value).max().alias("high"),
        )
        .sort("at")
    )
    return Envelope(
        t=tuple(at - origin(first) for at in found["at"]),
        low=tuple(at / 1e3 for at in found["low"]),
        mean=tuple(at / 1e3 for at in found["mean"]),
        high=tuple(at / 1e3 for at in found["high"]),
        single=single,
    )
