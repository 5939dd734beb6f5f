"""Intervals over repetitions: values by hand, and the table that a study writes."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from support.study_processes import made, rows_of
from tsnbench.studies.estimates.intervals import intervals

POINT = {"load": "10 %"}


def repetition(mean: float, *, lost: int = 0, received: int = 100, high: int = 20) -> dict[str, Any]:
    quantiles = {"delay median": mean, "delay p99": mean + 5, "delay p99_9": mean + 6, "delay max": high}
    counts = {"sent": received + lost, "received": received, "lost": lost}
    return {"stream": "video", "listener": "screen", "delay mean": mean, **quantiles, **counts}


def found(rows: list[dict[str, Any]], met: list[bool]) -> dict[str, dict[str, Any]]:
    return {row["quantity"]: row for row in intervals(POINT, rows, met)}


def test_three_repetitions_by_hand() -> None:
    rows = found([repetition(10), repetition(12, high=25), repetition(14)], [True, True, False])
    assert {row["load"] for row in rows.values()} == {"10 %"}
    # Mean 12, standard deviation 2; t of two degrees of freedom at 97.5 % is 4.302653.
    mean = rows["delay mean"]
    assert (mean["estimate"], mean["repetitions"], mean["method"]) == (12, 3, "t")
    assert (mean["high"] - mean["low"]) / 2 == pytest.approx(4.302653 * 2 / math.sqrt(3), rel=1e-6)
    assert rows["delay median"]["method"] == "needs six repetitions"
    assert rows["delay p99"]["method"] == "needs 1000 frames in each repetition, found 100"
    greatest = rows["delay max"]
    assert (greatest["estimate"], greatest["low"], greatest["high"]) == (25, None, None)
    assert greatest["method"].endswith(f"at most {1 - 0.05 ** (1 / 3):.3g}")
    share = rows["runs that met"]
    assert (share["stream"], share["estimate"]) == (None, pytest.approx(2 / 3))


def test_six_repetitions_have_an_interval_of_the_median_and_all_met_has_a_closed_form() -> None:
    rows = found([repetition(mean) for mean in (3, 1, 2, 6, 5, 4)], [True] * 6)
    # The least and the greatest of six include the median with a probability of 1 - 2/64.
    median = rows["delay median"]
    assert (median["low"], median["high"]) == (1, 6)
    assert median["confidence"] == pytest.approx(1 - 2 / 64)
    assert rows["runs that met"]["low"] == pytest.approx(0.025 ** (1 / 6))
    assert rows["runs that met"]["high"] == 1
    assert rows["lost share"]["method"].startswith("no run lost a frame")


def test_frames_that_were_lost_have_a_share() -> None:
    rows = found([repetition(1, lost=4, received=96), repetition(1, lost=6, received=94)], [False, False])
    lost = rows["lost share"]
    assert lost["estimate"] == pytest.approx(0.05)
    assert lost["low"] < 0.05 < lost["high"]


def test_one_repetition_has_no_interval() -> None:
    assert intervals(POINT, [repetition(1)], [True]) == []


def test_a_study_writes_them_and_shows_the_mean(load: tuple[Path, str]) -> None:
    folder, printed = load
    assert " ± " in printed
    rows, results = rows_of(folder / "intervals.csv"), rows_of(folder / "results.csv")
    shown = re.findall(r"([\d.]+) ± ([\d.]+)", printed)
    means = [row for row in rows if row["quantity"] == "delay mean"]
    halves = [
        (f"{float(row['estimate']) / 1000:.3f}", f"{(float(row['high']) - float(row['low'])) / 2000:.3f}")
        for row in means
    ]
    assert len(shown) == 2
    assert set(shown) <= set(halves)
    for row in means:
        own = [
            one
            for one in results
            if all(one[key] == row[key] for key in ("streams.files.poisson", "stream", "listener"))
        ]
        frames = sum(int(one["received"]) for one in own)
        mean = sum(float(one["delay mean"]) * int(one["received"]) for one in own) / frames
        assert (len(own), float(row["estimate"])) == (3, pytest.approx(mean))
        assert float(row["low"]) < mean < float(row["high"])
    assert {row["quantity"] for row in rows} >= {"delay mean", "delay max", "lost share", "runs that met"}


def test_a_worst_case_that_breaks_a_limit_is_in_the_last_line(place: Path) -> None:
    tutorial = (Path(__file__).parents[2] / "scenarios/tutorial/3-cbs-line.yaml").read_text(encoding="utf-8")
    assert "{hops: [1, 2, ... 11]}" in tutorial
    (place / "line.yaml").write_text(tutorial.replace("[1, 2, ... 11]", "[10, 11]"), encoding="utf-8")
    printed, _ = made(place, "study: line\nscenario: line.yaml\n")
    assert "line: 2 of 2 runs met all requirements; the worst case of 1 of them breaks a limit" in printed
    assert [row["worst_case_beyond"] for row in rows_of(place / "made/runs.csv")] == ["False", "True"]


def test_lost_frames_are_in_the_last_line(place: Path) -> None:
    file = place / "port.yaml"
    text = file.read_text(encoding="utf-8") + "faults: [{loss: 50 %, on: disk -> switch}]\n"
    file.write_text(text, encoding="utf-8")
    printed, _ = made(place, "study: loss\nscenario: port.yaml\n")
    assert re.search(r"1 of 1 runs met all requirements; [1-9]\d* frames lost", printed)
