"""The credit-based shaper. IEEE 802.1Q-2022, 8.6.8.2."""

from __future__ import annotations

import statistics
from itertools import pairwise

from tsnbench.runs import Run
from twin.arithmetic import GAP, PREAMBLE, Plan, octets_of, port_of
from twin.case import Case, Quantity
from twin.sightings import left

PORT = "zgw1 -> zgw2"


def _spacing(plan: Plan) -> float:
    slope = next(own["cbs"]["idle_slope_bps"] for own in port_of(plan, PORT)["classes"] if own.get("cbs"))
    return (octets_of(plan, "frames") + PREAMBLE + GAP) * 8e6 / slope


def _apart(run: Run) -> list[float]:
    """Distances of the shaped stream's frames in us; the first frame does not wait."""
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
            why="1 %, as for the median",
        ),
    ),
    "cbs computes the time of a frame from the rate that the interface reports. The guest's device "
    "reports the rate of the port. veth always reports 10 Gbit/s. With a send slope of idle slope minus "
    "10 Gbit/s, the idle slope also determines the distance of frames on veth.",
    short=True,
)

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
            why=(
                "the kernel rounds credit down to octets whenever it computes the credit (below): 4.9 us "
                "are expected"
            ),
        ),
    ),
    "Linux's cbs counts credit in whole octets. It cuts off the fraction whenever it computes the credit "
    "and there is not yet enough of it (Linux 6.12). Below one root for all classes (`prio`, as on veth) "
    "it computes the credit twice for every frame of another class, when this frame arrives and when it "
    "has left. Each time it loses half an octet: here 16 times, 8 octets of 1250, 4.9 us of 780, and 785 "
    "us are observed. If every class has a queue of its own (`mqprio` on a device with queues and "
    "back-pressure), frames of other classes have no effect, and the distance is that of the slope. The "
    "loss matters if a reservation is as large as its load. In EX_UCC class B of path 3 has exactly the "
    "bandwidth that its streams need. With 0.7 % less its queues grow during the whole run (in 100 ms to "
    "0.6 ms of delay, where the bound is 0.08 ms). EnGINE's I210 cards compute credit in hardware and do "
    "not have this loss. Software cbs below a common root needs 1 % more than its load.",
    short=True,
)

CASES = (SPACING, BESIDE)
