"""Estimates against a second implementation, which is written from the formulas alone, and under noise.

The frames are made here, without the simulator: a class with a backlog of frames of one size, whose windows
repeat, on a clock with noise.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from support.devices import bench, lab, results
from tsnbench.conform import estimate
from tsnbench.conform.estimate import Frames
from tsnbench.conform.judge import Error, verdict_of

GAP = 960.0


def backlog(
    windows: Sequence[tuple[int, int]], cycle: float, wire: int, cycles: int, guard: bool = True
) -> list[tuple[float, int]]:
    """Begins and wire times (ns) of frames that fill the windows of a cycle."""
    found, free = [(0.0, wire)], wire + GAP
    for number in range(1, cycles):
        for opens, closes in windows:
            at = max(free, number * cycle + opens)
            while at < number * cycle + closes - (wire if guard else 0):
                found.append((at, wire))
                at += wire + GAP
            free = max(free, at)
    return found


def frames(rows: Sequence[tuple[float, int]], noise: float = 0.0, seed: int = 0) -> Frames:
    draw = random.Random(seed)
    begin = np.array([round(at + draw.gauss(0, noise)) for at, _ in rows], dtype=np.int64)
    return Frames(begin, np.array([wire for _, wire in rows], dtype=np.int64))


def second_openings(of: Frames, slack: float) -> list[int]:
    rows = list(zip(of.begin.tolist(), of.wire.tolist(), strict=True))
    return [now for (before, wire), (now, _) in pairwise(rows) if now - before - wire > GAP + slack]


def second_cycle(times: Sequence[int], windows: int) -> float:
    """The mean time between an opening and the same one of the last cycle."""
    last = (len(times) - 1) // windows * windows
    return (times[last] - times[0]) * windows / last


@pytest.mark.parametrize("seed", range(20))
def test_two_ways_give_equal_openings_and_cycles(seed: int) -> None:
    draw = random.Random(seed)
    first = draw.randint(150_000, 400_000)
    windows = [(20_000, 20_000 + first), (600_000, 600_000 + draw.randint(150_000, 350_000))]
    cycle = 1_000_000 + draw.choice([0, 0, 1_000, -1_000])
    of = frames(backlog(windows, cycle, 10_000, 40))
    times = estimate.after_idle(of, GAP, 20)
    assert times.tolist() == second_openings(of, 20)
    found = estimate.cycle_of(times, 1_000_000, 20)
    assert found is not None
    assert found.share == 1.0
    assert found.ns == pytest.approx(second_cycle(times.tolist(), 2), rel=1e-6)
    groups = estimate.groups(times % cycle, cycle, 20, 10)
    assert [round(one.at) for one in groups] == [20_000, 600_000]
    by_hand = [statistics.median(t % cycle for t in times.tolist()[place::2]) for place in range(2)]
    assert [one.at for one in groups] == pytest.approx(by_hand, abs=1)
    ends = estimate.last_ends(of.since(1), [20_000, 600_000], 0, cycle)
    for end, (opens, closes) in zip(ends.tolist(), windows, strict=True):
        fit = int((closes - opens - 10_000 - 1e-9) // (10_000 + GAP))
        assert end == pytest.approx(fit * (10_000 + GAP) + 10_000, abs=2)


@pytest.mark.parametrize(("stamp", "clock"), [(8, 41), (30, 100), (1_000, 1_000)])
def test_the_error_of_a_shift_is_within_u(stamp: int, clock: int) -> None:
    """The stamps have normal noise, and the clock an error up to its bound: 100 draws each."""
    error = Error(4 * stamp, clock, 2)
    own, width = error.own_ns or 0, 2 * error.apart_ns
    verdicts: dict[float, set[str]] = {part: set() for part in (0.0, 0.25, 0.5, 1.0, 2.0)}
    for seed in range(100):
        offset = random.Random(seed).uniform(-clock, clock)
        for part, seen in verdicts.items():
            shift = part * 2 * own + offset
            rows = backlog([(300_000 + shift, 500_000 + shift)], 1_000_000, 12_000, 40)
            times = estimate.after_idle(frames(rows, stamp, seed), GAP, width)
            (group,) = estimate.groups(times % 1_000_000, 1_000_000, width, 10)
            found, agree = estimate.common_shift({0: [group.at]}, {0: [300_000.0]}, 1_000_000, width)
            assert agree == 1
            assert abs(found - part * 2 * own) <= own
            seen.add(verdict_of(found, found, 2 * own, own))
    assert verdicts[0.0] == {"pass"}
    assert "fail" not in verdicts[0.25] | verdicts[0.5]
    assert "pass" not in verdicts[1.0]
    assert verdicts[2.0] == {"fail"}


def test_arrivals_at_random_have_no_cycle() -> None:
    draw = random.Random(1)
    times = np.cumsum([draw.randint(10_000, 400_000) for _ in range(300)])
    found = estimate.cycle_of(times, 1_000_000, 50)
    assert found is not None
    assert found.share < 0.2


def test_nothing_is_estimated_from_nothing() -> None:
    none = frames([])
    assert len(estimate.after_idle(none, GAP, 0)) == 0
    assert estimate.cycle_of(none.begin, 1_000_000, 10) is None
    assert estimate.groups(none.begin, 1_000_000, 10, 1) == []
    assert estimate.densest(none.begin, 10) == (0, 0.0)


def test_a_line_is_that_of_numpy() -> None:
    draw = random.Random(2)
    x = np.array([64.0, 128, 256, 512, 1024, 1280, 1522])
    y = np.array([1281.5 + 80.034 * one + draw.uniform(-50, 50) for one in x])
    slope, first = np.polyfit(x, y, 1)
    a, b, residual = estimate.line(x, y)
    assert (a, b) == pytest.approx((first, slope), rel=1e-6)
    assert residual == pytest.approx(max(abs(y - first - slope * x)), rel=1e-6)


def test_the_smallest_certain_shift_is_found_on_the_simulator(tmp_path: Path) -> None:
    """T + 2 U is 24 ns with exact stamps; with ticks of 8 ns, U is 34 ns and it is 136 ns."""
    for number, (taps, ns) in enumerate([("", 24), ("taps: {granularity: 8 ns}\n", 136)]):
        for place, part in enumerate((1.0, 0.2)):
            late = lab().replace("30 us", f"{30_000 + round(part * ns)} ns")
            own = bench(lab() + taps, late + taps)
            found = results(own, tmp_path / f"{number}-{place}", ["gates"])
            (edge,) = [one for one in found if one.test == "gates.edge"]
            assert edge.verdict == ("fail" if part == 1.0 else "pass"), (taps, part, edge.shown)
