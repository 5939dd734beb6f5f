"""How far the clocks of a run differed, from the errors that the run recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.libraries import polars as pl
from tsnbench.runs.file_names import CLOCK_ERROR

if TYPE_CHECKING:
    from tsnbench.runs import Run
    from tsnbench.runs.measures import ClocksApart


def clocks_apart(run: Run) -> ClocksApart | None:
    """The greatest difference between the clocks of two nodes at one recorded moment, and the first such
    moment; None if no clock was recorded.

    Raises:
        FolderError: the table of clock errors cannot be read.
    """
    if not (run.folder / CLOCK_ERROR).is_file():
        return None
    error = pl.col("error_ps")
    apart = run.clock_errors().group_by("t_true_ns").agg(apart=error.max() - error.min())
    if apart.is_empty():
        return None
    at, most = apart.sort(["apart", "t_true_ns"], descending=[True, False]).row(0)
    return {"most_ps": most, "at_ns": at}
