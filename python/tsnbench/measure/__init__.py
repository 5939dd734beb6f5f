"""Sightings to delay, jitter, loss and verdicts.

The counting is native; here are its doors, the tables people read, and the judging.
"""

from __future__ import annotations

from tsnbench.measure.captures.both_ends import measure_captures
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.headline import clock_notes, headline, sweep_headline
from tsnbench.measure.protocols.trdp import exchanges_table, measure_trdp, trdp_table
from tsnbench.measure.run import measure_after, measure_run
from tsnbench.measure.tables import (
    MOST_ROWS,
    measures_rows,
    measures_table,
    runs_table,
    streams_table,
    verdict_rows,
    verdict_table,
)
from tsnbench.measure.verdict import judge

__all__ = [
    "MOST_ROWS",
    "MeasureError",
    "clock_notes",
    "exchanges_table",
    "headline",
    "judge",
    "measure_after",
    "measure_captures",
    "measure_run",
    "measure_trdp",
    "measures_rows",
    "measures_table",
    "runs_table",
    "streams_table",
    "sweep_headline",
    "trdp_table",
    "verdict_rows",
    "verdict_table",
]
