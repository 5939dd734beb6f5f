"""The credit-based shaper. IEEE 802.1Q-2022, 8.6.8.2."""

from __future__ import annotations

import statistics
from itertools import pairwise

from twin_arithmetic import GAP, PREAMBLE, Plan, octets_of, port_of, stream_of
from twin_case import Case, Quantity
from twin_sightings import left

from tsnbench.runs import Run

PORT = "zgw1 -> zgw2"


def _spacing(plan: Plan) -> float:
    slope = next(own["cbs"]["idle_slope_bps"] for own in port_of(plan, PORT)["classes"] if own.get("cbs"))
    return (octets_of(plan, "frames") + PREAMBLE + GAP) * 8e6 / slope


def _apart(run: Run) -> list[float]:
    """Distances of the shaped stream's frames, us; the first has nothing to wait for."""
    table = left(run, f"{PORT} tx")
    stamps = table.filter(table["stream"] == "frames")["t_ns"].to_list()
    return [(after - before) / 1e3 for before, after in pairwise(stamps)]


def _mean(run: Run) -> float:
    return statistics.fmean(_apart(run))


SPACING = Case(
    "cbs-spacing",
    (
        Quantity(
            "median distance of two frames",
            "us",
            _spacing,
            lambda run: statistics.median(_apart(run)),
            below=1.2,
            above=1.2,
            why="1 %: cbs counts in whole octets and ns, and wakes by a timer",
        ),
        Quantity(
            "mean distance",
            "us",
            _spacing,
            _mean,
            below=1.2,
            above=1.2,
            why="1 %, as above",
        ),
    ),
    "cbs takes a frame's time from the interface's rate, which is 10 Gbit/s for veth whatever the port's: "
    "with a send slope of idle "
    "slope minus 10 Gbit/s frames are spaced as the idle slope says.",
    short=True,
)

LOOKS = 2
"""The kernel looks at a shaped queue for every frame of another class: when that comes, when it has left."""


def _kernels_loss(plan: Plan) -> float:
    """By how much the kernel's frames are farther apart: half an octet of credit is lost at every look."""
    period_us = stream_of(plan, "files")["pattern"]["period_ns"] / 1e3
    looks = LOOKS * _spacing(plan) / period_us
    return _spacing(plan) * looks * 0.5 / (octets_of(plan, "frames") + PREAMBLE + GAP)


BESIDE = Case(
    "cbs-beside",
    (
        Quantity(
            "mean distance of two frames",
            "us",
            _spacing,
            _mean,
            simulator=0.6,
            below=1.0,
            above=8.5,
            why="the kernel rounds credit down to octets whenever it looks (below): 4.9 us are expected",
        ),
        Quantity(
            "mean distance, with the kernel's rounding",
            "us",
            lambda plan: _spacing(plan) + _kernels_loss(plan),
            _mean,
            simulator=6.0,
            below=2.5,
            above=2.5,
            why="half an octet a look is the mean of a fraction that is cut off; simulated frames lose none",
        ),
    ),
    "Linux's cbs counts credit in whole octets, and forgets the fraction whenever it looks at its queue "
    "before the credit is there (Linux "
    "6.12, and it looks twice for every frame of another class: when that comes and when it has left). "
    "Half an octet is lost "
    "each time, so frames are some tenths of a percent farther apart than the idle slope says, the slower "
    "the slope and the busier "
    "the port, the more. That matters where a reservation is as large as its load: in EX_UCC class B of "
    "path 3 has exactly what its streams "
    "need, the kernel gives it 0.7 % less, and its queues grow as long as the run lasts (in 100 ms to 0.6 "
    "ms of delay, where the bound is "
    "0.08 ms). Hardware that keeps credit by itself, as EnGINE's I210 cards do, has no part in this. "
    "Reserve a percent more than the "
    "load for software cbs.",
)

CASES = (SPACING, BESIDE)
