"""What is known of a run's clocks: the stamps of a Plan's clocks, how far they differ, when they settle."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tsnbench.measure.stamps import NEVER, clocks_apart, measured_from, option, stamps

CLOCKS = {
    "nodes": [
        {"offset_ns": 3, "deviation_ppt": -50_000_000, "granularity_ns": 8},
        {
            "offset_ns": -5,
            "deviation_ppt": 1_500,
            "granularity_ns": 1,
            "changes": [{"deviation_ppt": -2_500}],
            "wander": {"most_ppt": 1_499},
        },
    ],
    "faults": [
        {"kind": "frequency-jump", "node": 1, "by_ppt": -1_000},
        {"kind": "frequency-jump", "node": 0, "by_ppt": 0},
        {"kind": "clock-step", "node": 1, "by_ns": 7},
    ],
}
"""50 ppm, and at most 2,500 + 1,000 + 1,499 ppt."""
ERRORS = [(100, 0, 2_500, 0), (100, 1, -1_500, -4_000), (200, 0, 900, 0), (200, 1, -100, -1_000)]
"""Moment, node, error and offset."""


def run(
    into: Path,
    clocks: Any,
    errors: list[tuple[int, int, int, int | None]],
    margin: int = 0,
    begin: Any = None,
) -> Any:
    document = {"nodes": [{"name": "a"}, {"name": "b"}], "streams": [{"scheduled": {"margin_ps": margin}}]}
    document |= {"clocks": clocks} if clocks else {}
    document |= {"measure_from": begin} if begin else {}
    (into / "plan.json").write_text(json.dumps(document))
    columns = {"t_true_ns": pl.Int64, "node": pl.Int64, "error_ps": pl.Int64, "offset_ps": pl.Int64}
    table = pl.DataFrame(errors, schema=columns, orient="row")
    table.write_parquet(into / "clock_error.parquet", metadata={"tsnbench.nodes": '["a", "b"]'})
    return SimpleNamespace(folder=into, plan=SimpleNamespace(document=document))


GPTP = {"grandmaster": 0}
OFFSETS = [[(3, 0, 0), (2_102, 0, 0)], [(-5, -8_000, 0), (98, -4_000, 0)]]
OWN = [[(3, 3_000, 0), (2_102, 2_002_500, 0)], [(-5, -5_000, 0), (98, -1_500, 0)]]


@pytest.mark.parametrize(
    ("gptp", "offset", "leader", "readings"),
    [
        (None, -4_000, 0, OWN),
        # With one grandmaster, clocks are compared with it, and drift as it does.
        (GPTP, -4_000, 50_004, OFFSETS),
        (GPTP | {"bmca": {}}, -4_000, 50_004, OWN),
        (GPTP, None, 50_004, OWN),
    ],
)
def test_the_stamps_of_a_plan_by_hand(
    tmp_path: Path, gptp: Any, offset: int | None, leader: int, readings: list[list[Any]]
) -> None:
    """A stamp at 100 ns shows 2102 or 98: 2002.5 ns too much, or 1.5 ns too little, rounded down. On a slow
    clock 50 ppm are 50,002.5 ppb, and 2 ppb more are left for rounding."""
    errors = [(100, 0, 2_002_500, 0), (100, 1, -1_500, offset)]
    run(tmp_path, CLOCKS | ({"gptp": gptp} if gptp else {}), errors)
    drifts, granularities = (50_004, 5 + 2), (8, 1)
    assert stamps(tmp_path) == {
        name: {"clock": name, "drift_ppb": drift + leader, "granularity_ns": granularity, "readings": own}
        for name, drift, granularity, own in zip("ab", drifts, granularities, readings, strict=True)
    }
    nodes = stamps(tmp_path)
    assert option(tmp_path, None) == {"stamps": {"nodes": nodes}}
    assert option(tmp_path, {"ns": 7, "settled": False}) == {"stamps": {"nodes": nodes}, "from_ns": 7}


def test_without_clocks_there_are_no_stamps(tmp_path: Path) -> None:
    run(tmp_path, None, ERRORS)
    assert stamps(tmp_path) is None
    assert option(tmp_path, {"ns": None, "settled": True}) == {"from_ns": NEVER}


@pytest.mark.parametrize(("margin", "allowed"), [(1_000, {"allowed_ps": 1_000}), (0, {})])
def test_how_far_clocks_differ(tmp_path: Path, margin: int, allowed: dict[str, int]) -> None:
    """By 4,000 ps at 100 ns and again at 300 ns."""
    errors = [*ERRORS, (300, 0, 0, 0), (300, 1, 4_000, 0)]
    found = clocks_apart(run(tmp_path, CLOCKS, errors, margin))
    assert found == {"most_ps": 4_000, "at_ns": 100, **allowed}


@pytest.mark.parametrize(
    ("margin", "errors", "begin"),
    [
        (1_000, ERRORS, 200),
        (999, ERRORS, None),
        (4_000, ERRORS, 100),
        # Where nothing is allowed, a picosecond is too much.
        (0, [(100, 0, 1, 0), (100, 1, 0, 0), (200, 0, 0, 0)], 200),
    ],
)
def test_clocks_have_settled_when_they_stay_within_the_margin(
    tmp_path: Path, margin: int, errors: list[tuple[int, int, int, int | None]], begin: int | None
) -> None:
    run(tmp_path, CLOCKS, errors, margin, {"kind": "settled"})
    assert measured_from(tmp_path) == {"ns": begin, "settled": True}
    run(tmp_path, CLOCKS, errors, margin, {"kind": "at", "ns": 7})
    assert measured_from(tmp_path) == {"ns": 7, "settled": False}
    run(tmp_path, CLOCKS, errors, margin)
    assert measured_from(tmp_path) is None
