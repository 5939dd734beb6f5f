"""Transmission times: etf in strict and in deadline mode, with the card's help and without."""

from __future__ import annotations

from twin_case import Case, Quantity
from twin_sightings import left

from tsnbench.runs import Run


def _after_release(run: Run) -> float:
    """Median time from the instant that was meant to the first bit out; stamps are behind the preamble."""
    table = left(run, "n1 -> n2 tx")
    port = run.plan.document["ports"][0]
    meant = 500_000 + 1_000_000 * table["seq"]
    apart = sorted((table["t_ns"] - meant).to_list())
    return apart[len(apart) // 2] / 1e3 - 8 * 8e6 / port["rate_bps"]


STRICT = Case(
    "etf",
    tuple(
        Quantity(
            f"{variant}: departure after the frame's time",
            "us",
            lambda plan, early=early: early,  # type: ignore[misc]
            _after_release,
            below=1.0,
            above=2.0,
            why="etf's timer and the driver's path, some us of the guest",
            paper=paper,
            variant=variant,
        )
        for variant, early, paper in (
            ("software 100 us", -100.0, "txtime - delta (COTS lessons, L2)"),
            ("software 200 us", -200.0, "txtime - delta (COTS lessons, L2)"),
            ("offload 200 us", 0.0, "txtime (COTS lessons, L2)"),
        )
    ),
    "",
)

DEADLINE = Case(
    "etf-deadline",
    (
        Quantity(
            "departure after the frame's time",
            "us",
            lambda plan: -400.0,
            _after_release,
            below=1.0,
            above=12.0,
            why="the talker's wakeup and its way through the kernel",
        ),
    ),
    "",
)

CASES = (STRICT, DEADLINE)
