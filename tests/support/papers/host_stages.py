"""Delays between any two stages of hosts in a shipped scenario, for the tests of hosts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from support.shipped import MS, executed


@dataclass(frozen=True)
class Stages:
    """One run: all observations, and the counters."""

    seen: pl.DataFrame
    counters: dict[str, Any]

    def delays(self, stream: str, start: str, end: str) -> pl.Series:
        """ns from the first tap of one stage to the last tap of another, in the order of frames."""
        own = self.seen.filter(pl.col("stream") == stream)
        first = own.filter(pl.col("stage") == start).group_by("seq").agg(pl.col("t_ns").min().alias("a"))
        last = own.filter(pl.col("stage") == end).group_by("seq").agg(pl.col("t_ns").max().alias("b"))
        return first.join(last, on="seq").sort("seq").select(d=pl.col("b") - pl.col("a"))["d"]

    def group(self, name: str, start: str, end: str) -> pl.Series:
        """The delays of all flows of a scenario stream, in ns."""
        flows = [flow for flow in self.seen["stream"].unique().sort() if flow.split(".")[0] == name]
        return pl.concat([self.delays(flow, start, end) for flow in flows])

    def qdisc(self, port: str) -> dict[str, int]:
        found = next(one for one in self.counters["ports"] if one["port"] == port)
        return dict(found["qdisc"])


@cache
def staged(name: str, variant: str = "", duration: int = 100 * MS, seed: int = 1) -> Stages:
    """A run of a shipped scenario for ``duration`` ns instead of its own."""
    run = executed(name, variant, duration, seed)
    return Stages(run.observations().select("stream", "seq", "stage", "t_ns"), run.counters)
