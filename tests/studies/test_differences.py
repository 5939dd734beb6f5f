"""Differences between combinations of values: pairs with one seed by hand, and the table of a study."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from support.study_processes import rows_of
from tsnbench.studies.estimates.differences import differences

POINT = {"load": "30 %"}


def repetition(seed: int, mean: float, lost: int | None = 0) -> dict[str, Any]:
    quantiles = {"delay median": mean, "delay p99": mean, "delay p99_9": None, "delay max": 2 * mean}
    quantiles["received"] = 999
    who = {"seed": seed, "stream": "video", "listener": "screen"}
    return {**who, "delay mean": mean, **quantiles, "lost": lost}


def found(rows: list[dict[str, Any]], first: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["quantity"]: row for row in differences(POINT, "load 10 %", rows, first)}


def test_pairs_have_one_seed() -> None:
    """The values spread over 90 us, their differences over 2: only pairs show that the load matters."""
    first = [repetition(seed, mean) for seed, mean in ((1, 10), (2, 55), (3, 100))]
    rows = found([repetition(seed, mean) for seed, mean in ((3, 104), (1, 13), (2, 60))], first)
    mean = rows["delay mean"]
    # 3, 5 and 4: mean 4, standard deviation 1; t of two degrees of freedom at 97.5 % is 4.302653.
    assert (mean["load"], mean["against"], mean["pairs"], mean["difference"]) == ("30 %", "load 10 %", 3, 4)
    assert mean["high"] - 4 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert mean["differs"] == "yes"
    # Twice the mean: 6, 10 and 8.
    assert rows["delay max"]["difference"] == 8
    assert rows["lost"]["differs"] == "no"
    # 999 frames are too few for a 99th percentile.
    assert [rows["delay p99"][key] for key in ("pairs", "difference", "differs")] == [0, None, None]


def test_seeds_that_only_one_combination_has_are_left_out() -> None:
    first = [repetition(1, 10), repetition(2, 20), repetition(4, 90)]
    mean = found([repetition(1, 11), repetition(2, 20), repetition(3, 50)], first)["delay mean"]
    # 1 and 0: the interval of two pairs, 0.5 ± 12.706 * 0.5, contains 0.
    assert (mean["pairs"], mean["difference"], mean["differs"]) == (2, 0.5, "no")
    assert mean["high"] == pytest.approx(0.5 + 12.7062 * 0.5, rel=1e-5)
    alone = found([repetition(1, 11)], first)["delay mean"]
    assert (alone["pairs"], alone["difference"], alone["differs"]) == (1, None, None)


def test_a_study_writes_them(load: tuple[Path, str]) -> None:
    """300 Mbit/s against 100 Mbit/s at the same seeds: each difference is that of two rows of the results."""
    results, rows = (rows_of(load[0] / name) for name in ("results.csv", "differences.csv"))
    assert {row["streams.files.poisson"] for row in rows} == {"300 Mbit/s"}
    assert {row["against"] for row in rows} == {"streams.files.poisson 100 Mbit/s"}
    for row in (one for one in rows if one["quantity"] == "delay mean"):
        pairs: dict[str, dict[str, float]] = {}
        for result in results:
            if (result["stream"], result["listener"]) == (row["stream"], row["listener"]):
                own = pairs.setdefault(result["seed"], {})
                own[result["streams.files.poisson"]] = float(result["delay mean"])
        steps = [own["300 Mbit/s"] - own["100 Mbit/s"] for own in pairs.values()]
        assert (len(steps), row["pairs"]) == (3, "3")
        assert float(row["difference"]) == pytest.approx(sum(steps) / 3)
        assert row["differs"] == ("no" if float(row["low"]) <= 0 <= float(row["high"]) else "yes")
