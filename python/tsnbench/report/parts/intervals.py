"""Figures of captures beside delays: gaps between frames, rates over time, and the times of losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tsnbench.foreign import table_errors
from tsnbench.libraries import polars as pl
from tsnbench.report.facts import Measure
from tsnbench.report.parts.curves import MOST_CURVES, Envelope, Steps, ecdf, envelope, origin

MOMENTS = 100
"""Parts of a capture's time in which frames are counted."""
Stamp = Literal["t_tx_ns", "t_rx_ns"]


@dataclass(frozen=True)
class Gaps:
    """The gaps between the frames of one stream at one end."""

    label: str
    frames: int
    distribution: Steps
    """Share of gaps that are at most x us."""
    over_time: Envelope


@dataclass(frozen=True)
class GapPanel:
    """The streams at one end, drawn together."""

    title: str
    curves: tuple[Gaps, ...]
    left_out: int


@dataclass(frozen=True)
class Moments:
    """One number per moment of a capture: from ``t`` (ns since its first frame) for ``width_ns``."""

    label: str
    t: tuple[float, ...]
    y: tuple[float, ...]
    width_ns: int


def gap_panel(frames: Path, streams: Sequence[Measure], stamp: Stamp, title: str) -> GapPanel | None:
    """Gaps of the streams with the most frames; None where no stream has two frames.

    Departures are taken in the order of numbers and arrivals in the order of time, as in the measures.
    """
    found = []
    for stream in _largest(streams):
        table = _frames(frames, stream).filter(pl.col(stamp).is_not_null())
        table = table.sort("path", "seq") if stamp == "t_tx_ns" else table.sort("path", stamp)
        gaps = table.select(
            pl.col(stamp).alias("t"),
            (pl.col(stamp) - pl.col(stamp).shift(1).over("path")).alias("gap"),
        ).drop_nulls()
        if len(gaps):
            found.append(
                Gaps(stream.label, len(gaps) + 1, ecdf(gaps["gap"].sort()), envelope(gaps, "t", "gap"))
            )
    return GapPanel(title, tuple(found), max(0, len(streams) - MOST_CURVES)) if found else None


def rates(frames: Path, streams: Sequence[Measure]) -> list[Moments]:
    """Mbit/s of the streams with the most frames, destination address to FCS."""
    tables = [
        (one, _frames(frames, one).filter(pl.col("t_tx_ns").is_not_null())) for one in _largest(streams)
    ]
    span = _span([table for _, table in tables])
    if span is None:
        return []
    first, width = span
    found = []
    for stream, table in tables:
        if table["octets"].null_count() or not len(table):
            continue
        sums = dict(_by_moment(table, first, width).agg(pl.col("octets").cast(pl.Int64).sum()).iter_rows())
        y = tuple(sums.get(place, 0) * 8e3 / width for place in range(MOMENTS))
        found.append(Moments(stream.label, _times(first, width), y, width))
    return found


def lost_shares(frames: Path, streams: Sequence[Measure]) -> list[Moments]:
    """The share of lost frames, in percent, of the streams that lost the most.

    A stream with frames that lack a stamp is left out: the table does not tell these from lost ones.
    """
    losing = [one for one in streams if one.counts.get("lost") and not one.counts.get("missing_timestamp")]
    losing.sort(key=lambda one: -one.counts["lost"])
    tables = [
        (one, _frames(frames, one).filter(pl.col("t_tx_ns").is_not_null())) for one in losing[:MOST_CURVES]
    ]
    span = _span([table for _, table in tables])
    if span is None:
        return []
    first, width = span
    found = []
    for stream, table in tables:
        shares = _by_moment(table, first, width).agg(pl.col("t_rx_ns").is_null().mean() * 100).sort("moment")
        t = tuple(float(place * width + first - origin(first)) for place in shares["moment"])
        found.append(Moments(stream.label, t, tuple(shares["t_rx_ns"]), width))
    return found


def _largest(streams: Sequence[Measure]) -> list[Measure]:
    kept = sorted(streams, key=lambda one: -one.counts.get("sent", 0))[:MOST_CURVES]
    return [one for one in streams if one in kept]


def _frames(frames: Path, stream: Measure) -> pl.DataFrame:

    with table_errors(frames):
        return (
            pl.scan_parquet(frames)
            .filter(pl.col("path").is_in(list(stream.paths)))
            .select("path", "seq", "t_tx_ns", "t_rx_ns", "octets")
            .collect()
        )


def _span(tables: Sequence[pl.DataFrame]) -> tuple[int, int] | None:
    """The first stamp of all, and the length of a moment in ns."""
    stamps = pl.concat([table["t_tx_ns"] for table in tables]) if tables else None
    if stamps is None or not len(stamps):
        return None
    first, last = stamps.min(), stamps.max()
    assert isinstance(first, int)
    assert isinstance(last, int)
    return first, max(1, -(-(last - first + 1) // MOMENTS))


def _by_moment(table: pl.DataFrame, first: int, width: int) -> pl.dataframe.group_by.GroupBy:

    return table.group_by(((pl.col("t_tx_ns") - first) // width).alias("moment"))


def _times(first: int, width: int) -> tuple[float, ...]:
    return tuple(float(first - origin(first) + place * width) for place in range(MOMENTS))
