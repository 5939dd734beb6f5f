"""Errors of the nodes' clocks: in numbers per node, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench import foreign
from tsnbench.libraries import polars as pl
from tsnbench.report.facts import RunFacts

MOST_CLOCKS = 6
"""Number of clocks drawn: those with the greatest error."""
POINTS = 1500
"""Number of moments drawn of each clock."""


@dataclass(frozen=True)
class ClockRow:
    """One node's clock; all in ns, against the grandmaster's (or true time), in the second half of the run.

    ``t`` (ns) and ``error`` are the curve of the whole run.
    """

    node: str
    worst: float
    """Greatest distance, ahead or behind."""
    mean: float
    spread: float
    t: Sequence[float]
    error: Sequence[float]


def against(run: RunFacts) -> str:
    """The reference of errors: a node's name, or ``true time``."""
    if run.elected:
        return f"the clock that it follows ({run.grandmaster}'s while nothing fails)"
    return run.grandmaster or "true time"


def clock_rows(run: RunFacts) -> list[ClockRow]:
    """Every clock but the grandmaster's, in the order of the nodes; none without clocks."""
    if run.clock_error is None:
        return []
    column = "offset_ps" if run.grandmaster else "error_ps"
    table = foreign.read_parquet(run.clock_error).drop_nulls(column)
    half = run.plan["duration_ns"] // 2
    rows = []
    for (number,), own in sorted(table.group_by("node")):
        name = run.plan["nodes"][int(str(number))]["name"]
        late = own.filter(pl.col("t_true_ns") >= half)[column] / 1e3
        if name == run.grandmaster or late.is_empty():
            continue
        thin = own.sort("t_true_ns").gather_every(-(-len(own) // POINTS))
        rows.append(
            ClockRow(
                node=name,
                worst=float(late.abs().max() or 0),  # type: ignore[arg-type]
                mean=float(late.mean() or 0),  # type: ignore[arg-type]
                spread=float(late.std(ddof=0) or 0),  # type: ignore[arg-type]
                t=thin["t_true_ns"].to_list(),
                error=(thin[column] / 1e3).to_list(),
            )
        )
    return rows
