"""Figures agree with measured values: order statistics, envelopes, loads, layouts."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tsnbench.report.data import gather
from tsnbench.report.layout import place
from tsnbench.report.parts.curves import COLUMNS, STEPS, _over_time, box, ccdf, curve_of, ecdf, nearest_rank
from tsnbench.report.parts.ports import loads

values = st.lists(st.integers(0, 5_000), min_size=1, max_size=3_000)


@given(values)
def test_ccdf_points_lie_on_the_true_curve(delays: list[int]) -> None:
    ordered = sorted(delays)
    drawn = ccdf(pl.Series(ordered, dtype=pl.Int64))
    n = len(ordered)
    for x, y in zip(drawn.x, drawn.y, strict=True):
        assert y == sum(delay > round(x * 1e3) for delay in ordered) / n
    assert drawn.x[0] == ordered[0] / 1e3
    assert (drawn.x[-1], drawn.y[-1]) == (ordered[-1] / 1e3, 0)


@given(values)
def test_ecdf_points_lie_on_the_true_curve(delays: list[int]) -> None:
    ordered = sorted(delays)
    drawn = ecdf(pl.Series(ordered, dtype=pl.Int64))
    for x, y in zip(drawn.x, drawn.y, strict=True):
        assert y == sum(delay <= round(x * 1e3) for delay in ordered) / len(ordered)


def test_no_step_of_a_long_ccdf_is_taller_than_a_pixel() -> None:
    n = 200_000
    drawn = ccdf(pl.Series(range(n), dtype=pl.Int64))
    assert len(drawn.x) <= STEPS + 2
    decades = [math.log10(share) for share in drawn.y if share > 0]
    # Where all ranks are drawn, a step cannot be smaller than the step of the data.
    coarse = [a - b for a, b in pairwise(decades) if 10**b * n > 100]
    assert max(coarse) < math.log10(n) / 180


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=300))
def test_box_is_nearest_rank(delays: list[int]) -> None:
    ordered = sorted(delays)
    found = box(pl.Series(ordered, dtype=pl.Int64))
    n = len(ordered)
    assert found.median == ordered[math.ceil(n / 2) - 1] / 1e3
    assert found.p99 == ordered[math.ceil(99 * n / 100) - 1] / 1e3
    assert (found.low, found.high) == (ordered[0] / 1e3, ordered[-1] / 1e3)


def test_nearest_rank_is_exact_where_floats_are_not() -> None:
    assert nearest_rank(1, 100, 100) == 0
    assert nearest_rank(29, 100, 100) == 28  # 0.29 * 100 is 28.999999999999996 in floats


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=2_000))
def test_envelope_keeps_the_extremes(delays: list[int]) -> None:
    table = pl.DataFrame({"t_tx_ns": [n * 1_000 for n in range(len(delays))], "delay_ns": delays})
    found = _over_time(table)
    assert found is not None
    assert (min(found.low), max(found.high)) == (min(delays) / 1e3, max(delays) / 1e3)
    assert len(found.t) <= COLUMNS + 1


def test_dates_are_relative_to_the_first_frame() -> None:
    table = pl.DataFrame({"t_tx_ns": [10**18, 10**18 + 5_000], "delay_ns": [1, 2]})
    found = _over_time(table)
    assert found is not None
    assert found.t == (0.0, 5_000.0)


def test_jitter_is_per_flow_and_skips_lost_frames(in_vehicle: Path) -> None:
    run = gather(in_vehicle)
    for group in run.groups:
        curve = curve_of(run, group)
        stat = group.jitter["delay-step-abs"]
        assert curve is not None
        assert curve.jitter is not None
        assert stat is not None
        assert curve.frames == group.counts["received"]
        assert curve.jitter.x[-1] == stat["max"] / 1e3
        assert curve.jitter.x[0] == stat["min"] / 1e3


def test_loads_count_what_frames_cost_on_the_wire(in_vehicle: Path) -> None:
    run = gather(in_vehicle)
    by_name = {load.port["name"]: load for load in loads(run)}
    # A single best-effort stream: 1230 octets and 20 octets of overhead every 100 µs are 100 Mbit/s.
    assert by_name["zgw6 -> zgw2"].by_class == {0: 0.1}
    assert by_name["zgw3 -> vcc1"].reserved(3) == 0.089152


def test_line_is_drawn_as_a_line() -> None:
    at = place(8, [(n, n + 1) for n in range(7)])
    assert all(abs(y) < 0.01 for _, y in at)
    xs = [x for x, _ in at]
    assert xs == sorted(xs)


def test_nodes_keep_apart() -> None:
    nets = {
        "star": (6, [(0, n) for n in range(1, 6)]),
        "ring": (6, [(n, (n + 1) % 6) for n in range(6)]),
        "pair": (2, [(0, 1)]),
        "apart": (4, [(0, 1), (2, 3)]),
        "grid": (9, [(n, n + 1) for n in range(8) if n % 3 < 2] + [(n, n + 3) for n in range(6)]),
        "engine": (7, [(0, 1), (0, 5), (5, 4), (5, 1), (1, 2), (4, 2), (4, 3), (2, 3), (2, 6), (3, 6)]),
    }
    for name, (nodes, links) in nets.items():
        at = place(nodes, links)
        assert place(nodes, links) == at
        closest = min(math.dist(at[a], at[b]) for a in range(nodes) for b in range(a))
        assert closest > 0.5, name


def test_a_single_node_has_a_place() -> None:
    assert place(1, []) == [(0.0, 0.0)]
