"""Links that are cut, lossy or longer; two lossy legs; clocks that drift."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl

from tsnbench.runs import Run
from twin import prp
from twin.arithmetic import Plan, alone_us, releases_us
from twin.case import Case, Own, Quantity, frames
from twin.sightings import all_sent, delay, delays_us, lost

DOWN_US = (20_000.0, 30_000.0)
SENT = 2000
"""Frames of the case with two legs."""


def _cut(plan: Plan) -> list[int]:
    return [number for number, at in enumerate(releases_us(plan, "beat")) if DOWN_US[0] <= at < DOWN_US[1]]


def _missing(run: Run) -> list[int]:
    frames = run.delay("beat").frames
    return sorted(frames.filter(frames["delay_ns"].is_null())["seq"].to_list())


CUT = Case(
    "link-down",
    (
        frames("frames lost", lambda plan: float(len(_cut(plan))), lost("beat")),
        Quantity(
            "first and last lost frame",
            "",
            lambda plan: f"{_cut(plan)[0]} {_cut(plan)[-1]}",
            lambda run: f"{_missing(run)[0]} {_missing(run)[-1]}",
        ),
    ),
    "No frame is on the wire when the link fails or returns. Such a frame would be lost in both the "
    "simulator and the kernel, because the guest's device cuts its wire at the exact instant.",
    short=True,
)


def _mean(plan: Plan, share: float, from_us: float = 0.0) -> float:
    """The mean of a binomial count: frames that are lost independently."""
    return sum(at >= from_us for at in releases_us(plan, "beat")) * share


def _lost(
    what: str, share: float, seen: Callable[[Run], float], many: int = SENT, from_us: float = 0.0
) -> Quantity:
    # The kernel's chance is another one with each image: of three deviations, one in 370 counts is beyond.
    chance = 5 * math.sqrt(many * share * (1 - share))
    return Quantity(
        what,
        "frames",
        lambda plan: _mean(plan, share, from_us),
        seen,
        simulator=chance,
        below=chance,
        above=chance,
        why="chance: five standard deviations of a binomial count",
    )


LOSS = Case(
    "loss",
    (_lost("frames lost of 1800", 0.1, lost("beat"), 1800, 20_000.0),),
    "The guest's device draws the same random values as the simulator: the same frames are lost.",
    short=True,
)

DELAY = Case(
    "delay",
    tuple(
        Quantity(
            f"{words} delay",
            "us",
            lambda plan, later=later: alone_us(plan, "beat") + later,  # type: ignore[misc]
            delay("beat", statistic),
            above=4.5,
            why="three hops of a kernel, up to 1.5 us each",
        )
        for words, statistic, later in (("greatest", "max", 300.0), ("least", "min", 0.0))
    ),
    "Frames that leave after the fault has begun are delayed. Frames that were on the wire before arrive "
    "without the additional delay.",
    short=True,
)


def _on_leg(bridge: str) -> Callable[[Run], float]:
    """The number of frames that one leg lost."""

    def seen(run: Run) -> float:
        sent = run.observations().filter(pl.col("tap") == f"talker -> {bridge} tx").height
        return float(sent - run.observations().filter(pl.col("tap") == f"{bridge} -> listener rx").height)

    return seen


def _numbers(run: Run, *taps: str) -> set[int]:
    return set(run.observations().filter(pl.col("tap").is_in(taps))["seq"].to_list())


def _kept_back(run: Run) -> float:
    """The number of frames that reached the listener's node but not the listener."""
    came = _numbers(run, "lan-a -> listener rx", "lan-b -> listener rx")
    return float(len(came) - len(delays_us(run, "beat")))


def _twice(run: Run) -> float:
    counted = next(one for one in run.counters["streams"] if one["name"] == "beat")
    return float(counted["delivered"]["listener"] - len(delays_us(run, "beat")))


LEGS = Case(
    "prp",
    (
        all_sent("beat", "frames sent"),
        _lost("lost on the first leg", 0.1, _on_leg("lan-a")),
        _lost("lost on the second leg", 0.1, _on_leg("lan-b")),
        _lost("lost on both legs, so the listener has none", 0.01, lost("beat")),
        frames("received on a leg, but not by the listener", lambda plan: 0.0, _kept_back),
        frames("received twice by the listener", lambda plan: 0.0, _twice),
    ),
    "Linux has no 802.1CB. The kernel therefore uses PRP (`hsr` with `proto 1`, IEC 62439-3) in a guest "
    "of its own, with the same talker at the same pace, and two cables that lose frames as in the faults "
    "of the Plan (netem). Both standards promise the compared results: a frame is lost only if both paths "
    "lose it, and no frame arrives twice. Recovery windows, resets and latent errors differ between the "
    "standards and are not compared. PRP frames carry no VLAN tag here, because `hsr` of this kernel "
    "supports none.",
    own=Own(prp.job, prp.figures),
    short=True,
)


def _worst_ns(run: Run) -> float:
    errors = run.clock_errors()
    late = errors.filter(errors["t_true_ns"] >= run.plan.document["duration_ns"] * 3 // 4)
    worst = late["offset_ps"].abs().max()
    assert isinstance(worst, int)
    return worst / 1000


CLOCKS = Case(
    "clocks",
    (
        Quantity(
            "greatest clock error, last quarter",
            "ns",
            lambda plan: 0.0,
            _worst_ns,
            simulator=40.0,
            above=60.0,
            why="stamps of 8 ns at both ends of two links, and the servo's settling",
        ),
    ),
    "With ptp4l the clocks are synchronised later. ptp4l accepts a neighbour only after some exchanges of "
    "delay requests, 3 s here. Until then clocks run free and have to be stepped. In ptp4l a bridge has "
    "a servo of its own. The station therefore follows a clock that is stepped, and its own servo "
    "oscillates for some 10 s. In the last quarter the clocks have settled, and both results agree. Both "
    "errors are true errors: they come from the device's oscillators, not from ptp4l's own estimate.",
    dilate=1,
)

CASES = (CUT, LOSS, DELAY, LEGS, CLOCKS)
