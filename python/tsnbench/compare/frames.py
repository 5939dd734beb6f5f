"""Frame by frame: the same stream, listener and sequence number in two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tsnbench.compare.runs import Side
from tsnbench.libraries import polars as pl

FIRST = 8
"""Sequence numbers that are listed of frames in one run only."""


@dataclass(frozen=True)
class Spread:
    """Order statistics (nearest rank) of integers in ns."""

    count: int
    min: int
    p1: int
    median: int
    p99: int
    max: int


@dataclass(frozen=True)
class Joined:
    """One stream at one listener: ``first`` and ``second`` are the places of the runs."""

    stream: str
    listener: str
    first: int
    second: int
    both: int
    """Frames that arrived in both runs."""
    only_first: tuple[int, tuple[int, ...]]
    """Number of frames that arrived in the first run alone, and the first of their sequence numbers."""
    only_second: tuple[int, tuple[int, ...]]
    lost_in_both: int
    other_size: int
    """Frames with the same number and another length: these are not the same frames, and are not joined."""
    delay: Spread | None
    """The second value minus the first one, in ns."""
    departure: Spread | None
    """How much later frames left the talker's port in the second run, in ns."""


def joined(first: tuple[int, Side], second: tuple[int, Side]) -> list[Joined]:
    """Every stream that both runs contain, in the first run's order."""
    keys = ["stream", "listener"]
    columns = ["seq", "t_tx_ns", "delay_ns", "octets"]
    one, other = (side.frames.unique([*keys, "seq"], keep="first") for _, side in (first, second))
    both = one.select(*keys, *columns).join(
        other.select(*keys, *columns), on=[*keys, "seq"], how="full", suffix="_2", coalesce=True
    )
    there = {tuple(row) for row in one.select(keys).unique().rows()} & {
        tuple(row) for row in other.select(keys).unique().rows()
    }
    ordered = [
        key for path in first[1].measures["paths"] if (key := (path["stream"], path["listener"])) in there
    ]
    return [
        _stream(
            key,
            both.filter((pl.col("stream") == key[0]) & (pl.col("listener") == key[1])),
            first[0],
            second[0],
        )
        for key in dict.fromkeys(ordered)
    ]


def _stream(key: tuple[str, str], table: pl.DataFrame, first: int, second: int) -> Joined:

    here, there = pl.col("delay_ns").is_not_null(), pl.col("delay_ns_2").is_not_null()
    unlike = table.filter(here & there & (pl.col("octets") != pl.col("octets_2"))).height
    same = table.filter(here & there & (pl.col("octets") == pl.col("octets_2")))
    return Joined(
        *key,
        first,
        second,
        same.height,
        _only(table.filter(here & ~there)),
        _only(table.filter(there & ~here)),
        table.filter(~here & ~there).height,
        unlike,
        spread(same["delay_ns_2"] - same["delay_ns"]),
        spread((same["t_tx_ns_2"] - same["t_tx_ns"]).drop_nulls()),
    )


def _only(table: pl.DataFrame) -> tuple[int, tuple[int, ...]]:
    return table.height, tuple(table["seq"].sort().head(FIRST).to_list())


def spread(values: pl.Series) -> Spread | None:
    """The order statistics of some values; None if there is no value."""
    if values.is_empty():
        return None
    ordered = values.sort()
    n = len(ordered)
    ranks = [0, *(max(0, -(-part * n // 100) - 1) for part in (1, 50, 99)), n - 1]
    return Spread(n, *ordered.gather(ranks).to_list())


def intervals(side: Side) -> Mapping[tuple[str, str], Spread | None]:
    """The times between arrivals by stream and listener, in order of the frames' sequence numbers."""
    found: dict[tuple[str, str], Spread | None] = {}
    arrived = side.frames.filter(pl.col("t_rx_ns").is_not_null()).sort("seq")
    for key, table in arrived.partition_by("stream", "listener", as_dict=True).items():
        apart: Any = table["t_rx_ns"].diff().drop_nulls()
        found[str(key[0]), str(key[1])] = spread(apart)
    return found
