"""The faults of a run's Plan with their effects, and when frames were lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.foreign import table_errors
from tsnbench.libraries import polars as pl
from tsnbench.plan import faults
from tsnbench.report.facts import FaultSpan, RunFacts
from tsnbench.report.formatting import span

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument

COLUMNS = 100
"""Number of columns for lost frames: few enough that frames far apart share a bar."""
MOST_FAULTS = 12
"""Faults drawn; the table has all of them."""


@dataclass(frozen=True)
class Losses:
    """Frames of one priority that did not arrive: per pixel column its begin (ns) and how many."""

    title: str
    t: tuple[float, ...]
    lost: tuple[int, ...]
    width_ns: int


def fault_spans(plan: PlanDocument, counters: Json) -> tuple[FaultSpan, ...]:
    """The faults of a Plan, in words, with the run's counters of each."""
    counted = counters.get("faults") or ()
    found = []
    for place, fault in enumerate(plan.get("faults") or ()):
        frames = int(counted[place]["frames"]) if place < len(counted) else None
        what, where = faults.name(fault, span), faults.place(plan, fault)
        found.append(FaultSpan(what, where, int(fault["from_ns"]), int(fault["until_ns"]), frames))
    return tuple(found)


def losses(run: RunFacts) -> list[Losses]:
    """By priority, when lost frames were sent; only priorities that lost some."""
    if run.frames is None or not run.faults:
        return []
    paths: dict[int | None, list[int]] = {}
    for group in run.groups:
        if group.counts.get("lost"):
            paths.setdefault(group.pcp, []).extend(group.paths)
    width = max(1, -(-run.plan["duration_ns"] // COLUMNS))
    found = []
    for pcp, own in paths.items():
        with table_errors(run.frames):
            table = (
                pl.scan_parquet(run.frames)
                .filter(
                    pl.col("path").is_in(own) & pl.col("delay_ns").is_null() & pl.col("t_tx_ns").is_not_null()
                )
                .group_by((pl.col("t_tx_ns") // width * width).alias("t"))
                .agg(pl.len().alias("lost"))
                .sort("t")
                .collect()
            )
        if not table.is_empty():
            title = "Several priorities" if pcp is None else f"Priority {pcp}"
            found.append(Losses(title, tuple(table["t"]), tuple(table["lost"]), width))
    return found


def drawn(faults: Sequence[FaultSpan]) -> Sequence[FaultSpan]:
    """The first few faults, as many as a figure has space for."""
    return faults[:MOST_FAULTS]
