"""Links that are cut, lossy or longer; two lossy legs; clocks that drift."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl

from tsnbench.runs import Run
from twin import prp
from twin.arithmetic import Plan, alone_us, releases_us
from twin.case import Case, Own, Quantity
from twin.sightings import delay, delays_us, lost

DOWN_US = (20_000.0, 30_000.0)


def _cut(plan: Plan) -> list[int]:
    return [number for number, at in enumerate(releases_us(plan, "beat")) if DOWN_US[0] <= at < DOWN_US[1]]


def _missing(run: Run) -> list[int]:
    frames = run.delay("beat").frames
    return sorted(frames.filter(frames["delay_ns"].is_null())["seq"].to_list())


CUT = Case(
    "link-down",
    (
        Quantity("frames lost", "frames", lambda plan: float(len(_cut(plan))), lost("beat"), simulator=0.0),
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


def _chance(many: int, share: float) -> float:
    """Three standard deviations of a binomial count."""
    return 3 * math.sqrt(many * share * (1 - share))


LOSS = Case(
    "loss",
    (
        Quantity(
            "frames lost of 1800",
            "frames",
            lambda plan: _mean(plan, 0.1, 20_000.0),
            lost("beat"),
            simulator=_chance(1800, 0.1),
            below=_chance(1800, 0.1),
            above=_chance(1800, 0.1),
            why="chance: three standard deviations of a binomial count",
        ),
    ),
    "The guest's device draws the same random values as the simulator: the same frames are lost.",
    short=True,
)

DELAY = Case(
    "delay",
    (
        Quantity(
            "greatest delay",
            "us",
            lambda plan: alone_us(plan, "beat") + 300.0,
            delay("beat", "max"),
            above=4.5,
            why="three hops of a kernel, up to 1.5 us each",
        ),
        Quantity(
            "least delay",
            "us",
            lambda plan: alone_us(plan, "beat"),
            delay("beat", "min"),
            above=4.5,
            why="three hops of a kernel, up to 1.5 us each",
        ),
    ),
    "Frames that leave after the fault has begun are delayed. Frames that were on the wire before arrive "
    "without the additional delay.",
    short=True,
)

SENT = 2000


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


def _lost(what: str, share: float, seen: Callable[[Run], float]) -> Quantity:
    return Quantity(
        what,
        "frames",
        lambda plan: _mean(plan, share),
        seen,
        simulator=_chance(SENT, share),
        below=_chance(SENT, share),
        above=_chance(SENT, share),
        why="chance: three standard deviations of a binomial count",
    )


LEGS = Case(
    "prp",
    (
        Quantity(
            "frames sent",
            "frames",
            lambda plan: float(len(releases_us(plan, "beat"))),
            lambda run: float(len(run.delay("beat"))),
            simulator=0.0,
        ),
        _lost("lost on the first leg", 0.1, _on_leg("lan-a")),
        _lost("lost on the second leg", 0.1, _on_leg("lan-b")),
        _lost("lost on both legs, so the listener has none", 0.01, lost("beat")),
        Quantity(
            "received on a leg, but not by the listener",
            "frames",
            lambda plan: 0.0,
            _kept_back,
            simulator=0.0,
        ),
        Quantity("received twice by the listener", "frames", lambda plan: 0.0, _twice, simulator=0.0),
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
