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
    "cbs takes a frame's time from what the interface says its rate is. The guest's device says the "
    "port's; veth says 10 Gbit/s whatever the port's is, and with a send slope of idle slope minus 10 "
    "Gbit/s frames are spaced as the idle slope says there, too.",
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
            why="the kernel rounds credit down to octets whenever it looks (below): 4.9 us are expected",
        ),
    ),
    "Linux's cbs counts credit in whole octets and cuts the fraction off whenever it looks at its queue "
    "before the credit is there (Linux 6.12). Below one root for all classes (`prio`, as on veth) it "
    "looks twice for every frame of another class, when that comes and when it has left, and loses half "
    "an octet each time: here 16 looks, 8 octets of 1250, 4.9 us of 780, and 785 us are seen. Where every "
    "class has a queue of its own (`mqprio` on a device with queues and back-pressure) nobody else's "
    "frames make it look, and the spacing is the slope's. It matters where a reservation is as large as "
    "its load: in EX_UCC class B of path 3 has exactly what its streams need; given 0.7 % less, its "
    "queues grow as long as the run lasts (in 100 ms to 0.6 ms of delay, where the bound is 0.08 ms). "
    "EnGINE's I210 cards keep credit in hardware and have no part in this. Software cbs below a common "
    "root needs a percent more than its load.",
    short=True,
)

CASES = (SPACING, BESIDE)
