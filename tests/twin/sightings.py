"""The quantities of a run, in the units of the cases."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tsnbench.runs import Run
from twin.arithmetic import releases_us
from twin.case import Quantity, frames


def delays_us(run: Run, stream: str) -> list[float]:
    """Delays of the frames that arrived."""
    return [delay / 1e3 for delay in run.delay(stream).frames["delay_ns"].drop_nulls()]


def delay(stream: str, statistic: str) -> Callable[[Run], float]:
    """``min``, ``median``, ``p95`` or ``max`` of a stream's delays, us."""

    def seen(run: Run) -> float:
        ordered = sorted(delays_us(run, stream))
        n = len(ordered)
        rank = {"min": 0, "median": (n - 1) // 2, "p95": -(-95 * n // 100) - 1, "max": n - 1}[statistic]
        return ordered[rank]

    return seen


def left(run: Run, tap: str) -> pl.DataFrame:
    """The frames at a tap, in order of time."""
    seen = run.observations().filter((pl.col("tap") == tap) & pl.col("t_ns").is_not_null())
    return seen.sort("t_ns")


def lost(stream: str) -> Callable[[Run], float]:
    """The number of frames that were sent and did not arrive."""

    def seen(run: Run) -> float:
        return float(run.delay(stream).missing)

    return seen


def arrived(stream: str) -> Callable[[Run], float]:
    """The number of frames that arrived at the listener."""

    def seen(run: Run) -> float:
        return float(len(delays_us(run, stream)))

    return seen


def dropped_at_talker(stream: str) -> Callable[[Run], float]:
    """The number of frames that never left their talker's port."""

    def seen(run: Run) -> float:
        counted = next(one for one in run.counters["streams"] if one["name"] == stream)
        return float(counted["dropped_at_talker"])

    return seen


def all_sent(stream: str, what: str = "frames that were sent") -> Quantity:
    """Every release of a periodic stream is a frame."""
    return frames(
        what, lambda plan: float(len(releases_us(plan, stream))), lambda run: float(len(run.delay(stream)))
    )


def all_arrive(stream: str, what: str) -> Quantity:
    """Every release of a periodic stream arrives."""
    return frames(what, lambda plan: float(len(releases_us(plan, stream))), arrived(stream))
