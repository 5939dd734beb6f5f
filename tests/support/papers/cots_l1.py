"""Lesson L1, PTP beside TAPRIO: clock errors, and their effect on a scheduled stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from support.shipped import MS, executed, variants
from support.statistics import mean, us

DURATION = 20_000 * MS
CASES = {
    **{f"TAPRIO's ports: {name}": ("taprio", name) for name in variants("papers/cots/l1/taprio")},
    "Solution I": ("solution-1", ""),
    "Solution II": ("solution-2", ""),
    "Solution III": ("solution-3", ""),
}


@dataclass(frozen=True)
class Figures:
    """Figures of the second half of a run."""

    plan: dict[str, Any]
    worst: float
    """The greatest error of a clock relative to the grandmaster, in ns."""
    delays: pl.Series
    """Delays of the scheduled stream by the clocks of its two ends, in ns."""


@cache
def measured(case: str) -> Figures:
    name, variant = CASES[case]
    run = executed(f"papers/cots/l1/{name}", variant, DURATION, 1)
    errors = run.clock_errors().filter(pl.col("t_true_ns") >= DURATION // 2)
    seen = run.observations().filter((pl.col("stream") == "loop") & (pl.col("seq") >= 20_000))
    document = run.plan.document
    ends = [seen.filter(pl.col("stage") == stage).select("seq", "t_ns") for stage in ("tx", "rx")]
    both = ends[0].join(ends[1], on="seq", suffix="_rx")
    worst = errors["offset_ps"].abs().max()
    assert isinstance(worst, int)
    return Figures(document, worst / 1000, both["t_ns_rx"] - both["t_ns"])


def clocks() -> Iterable[list[str]]:
    """Every case, in us; the worst clock in ns."""
    yield ["Where PTP goes", "greatest clock error (ns)", "loop: least", "mean", "greatest"]
    for case in CASES:
        found = measured(case)
        delays = found.delays
        least, most = us(delays.min() or 0), us(delays.max() or 0)
        yield [case, f"{found.worst:.1f}", least, us(mean(delays)), most]


TABLES = {"clocks": clocks}
