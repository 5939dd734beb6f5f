"""Lesson L1: where PTP starves, by how much clocks then drift, and that links of their own help."""

from __future__ import annotations

import pytest

from support.papers.cots_l1 import CASES, DURATION, measured

STARVES = {"TAPRIO's ports: below the rest", "TAPRIO's ports: no window"}


@pytest.mark.parametrize("case", [case for case in CASES if case not in STARVES])
def test_clocks_are_together(case: str) -> None:
    assert measured(case).worst < 20
    # Least delay: 12.14 us over three hops, 4 us over one; only the shared queue makes frames wait.
    if "one queue" not in case:
        delays = measured(case).delays
        assert int(delays.max() or 0) - int(delays.min() or 0) < 40


@pytest.mark.parametrize("case", sorted(STARVES))
def test_starved_clocks_are_apart_by_their_drift(case: str) -> None:
    found = measured(case)
    drifts = [clock["deviation_ppt"] for clock in found.plan["clocks"]["nodes"]]
    farthest = max(abs(drift - drifts[0]) for drift in drifts)
    # Errors are noted every 10 ms, the last time when the run ends or drains.
    ends = (DURATION + found.plan["drain_ns"]) / 1e9
    assert found.worst == pytest.approx(farthest / 1000 * ends, rel=0.001)
    assert found.worst > 100_000


def test_fewer_hops_are_better() -> None:
    worst = {case: measured(case).worst for case in CASES}
    assert worst["Solution I"] < worst["Solution II"]
    assert worst["Solution III"] < worst["Solution II"]
