"""Statistics by the definitions of the reports, as a second implementation: exact, nearest rank."""

from __future__ import annotations

from fractions import Fraction

import polars as pl


def quantile(values: pl.Series, share: str) -> int:
    """Nearest rank: the smallest value that at least ``share`` of all values do not exceed."""
    ordered = values.sort()
    rank = -(-Fraction(share) * len(ordered) // 1)
    return int(ordered[int(rank) - 1])


def mean(values: pl.Series) -> float:
    return float(Fraction(int(values.sum()), len(values)))


def steps(delays: pl.Series) -> pl.Series:
    """|delay(i) - delay(i-1)|; the first frame has none (EnGINE eq. 10)."""
    return delays.diff().drop_nulls().abs()


def us(ns: float) -> str:
    """Microseconds with two decimals."""
    return f"{ns / 1000:.2f}"
