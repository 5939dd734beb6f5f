"""The warm-up of a study's runs: what is deleted, what is not, and what the tables say about it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from support.planned import plan_of
from support.study_processes import made, rows_of
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.measure import measure_after
from tsnbench.runs import Run
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.studies import statistics, study_file
from tsnbench.studies.estimates import warm_up
from tsnbench.studies.statistics import WarmUp

FILLS = """name: fills
duration: 8 ms
network:
  stations: [a, b, sink]
  bridges: [sw]
  links: {rate: 100 Mbit/s, between: [a -- sw, b -- sw, sw -- sink]}
streams:
  cross: {from: b, to: sink, pcp: 0, poisson: 60 Mbit/s, frame: 700 B, stop: 2 ms}
  loop: {from: a, to: sink, pcp: 0, period: 20 us, frame: 100 B, requires: {delay: LIMIT}}
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A queue that is longest in the first quarter of the run."""
    folder = tmp_path / "run"
    return run_one(plan_of(FILLS.replace("LIMIT", "1 ms")), folder, Options(report=False)).run


def test_frames_that_leave_in_the_warm_up_do_not_count(run: Run) -> None:
    whole = run.measures()
    kept = run.frames().filter(pl.col("t_tx_ns") >= 3_000_000)
    found = measure_after(run.folder, 3_000_000)
    for place, path in enumerate(found["paths"]):
        frames = kept.filter(pl.col("path") == place)
        assert path["count"]["sent"] == len(frames)
        assert path["count"]["received"] == frames["delay_ns"].count()
        if path["stream"] == "loop":
            assert path["delay"] is not None
            assert path["delay"]["count"] == frames["delay_ns"].count()
            assert path["delay"]["max"] == frames["delay_ns"].max()
            assert path["delay"]["mean"] == pytest.approx(frames["delay_ns"].mean())
            assert path["delay"]["max"] < whole["paths"][place]["delay"]["max"]  # type: ignore[index]
    # The folder still has the measures of the whole run.
    assert Run.open(run.folder).measures() == whole


def test_the_longest_warm_up_of_all_streams_is_deleted(run: Run) -> None:
    measures, deleted = warm_up.measured(run, warm_up.AUTO)
    series = {
        path["stream"]: list(
            run.frames()
            .filter((pl.col("path") == place) & pl.col("delay_ns").is_not_null())
            .sort("seq")
            .select("t_tx_ns", "delay_ns")
            .iter_rows()
        )
        for place, path in enumerate(run.measures()["paths"])
    }
    assert deleted.duration_ns == statistics.warm_up(series, 8_000_000).duration_ns
    assert 1_500_000 < deleted.duration_ns < 3_000_000, "the queue is empty soon after 2 ms"
    assert deleted.stream == "loop at sink"
    assert measures == measure_after(run.folder, deleted.duration_ns)


def test_a_plan_without_randomness_has_no_warm_up(tmp_path: Path) -> None:
    text = FILLS.replace("poisson: 60 Mbit/s", "period: 100 us").replace("LIMIT", "1 ms")
    folder = tmp_path / "run"
    fixed = run_one(plan_of(text), folder, Options(report=False)).run
    measures, deleted = warm_up.measured(fixed, warm_up.AUTO)
    assert deleted == WarmUp(0, None, ())
    assert measures == fixed.measures()


def test_a_study_deletes_the_warm_up_and_judges_the_whole_run(tmp_path: Path) -> None:
    (tmp_path / "fills.yaml").write_text(FILLS.replace("LIMIT", "100 us"), encoding="utf-8")
    text = "study: a\nscenario: fills.yaml\nrepeat: 3\n"
    made(tmp_path, text, code=1)
    whole = pl.read_csv(tmp_path / "made/results.csv")
    assert "warm_up" not in whole.columns
    out, said = made(tmp_path, text + "warm-up: 4 ms\n", code=1)
    assert "3 runs made" in said, "figures of whole runs are not used again"
    assert "Warm-up: the first 4 ms of each run do not count" in " ".join(out.split())
    kept = pl.read_csv(tmp_path / "made/results.csv")
    assert kept["warm_up"].unique().to_list() == [4_000_000]
    loops = [each.filter(pl.col("stream") == "loop") for each in (whole, kept)]
    assert [each["sent"].to_list() for each in loops] == [[400] * 3, [200] * 3]
    assert max(loops[1]["delay max"]) < 100_000 < min(loops[0]["delay max"])
    # The requirement was broken before the warm-up ended: it is still broken.
    assert [each["met"].to_list() for each in loops] == [[False] * 3] * 2
    page = (tmp_path / "made/report.html").read_text(encoding="utf-8")
    assert "Requirements are judged over the whole run." in page


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("warm-up: 8 ms", "warm-up: expected less than the duration of the scenario, 8 ms, found 8 ms"),
        ("warm-up: 5", "warm-up: expected a duration with a unit, or auto, found 5"),
        ("warm-up: long", "warm-up: expected a duration with a unit, or auto, found long"),
    ],
)
def test_a_warm_up_that_cannot_be_is_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "fills.yaml").write_text(FILLS.replace("LIMIT", "1 ms"), encoding="utf-8")
    _, said = made(tmp_path, f"study: a\nscenario: fills.yaml\n{line}\n", code=2)
    assert f"study.yaml:3:10: {message}" in said


def test_a_run_that_is_too_short_for_the_warm_up_says_so(tmp_path: Path) -> None:
    (tmp_path / "fills.yaml").write_text(FILLS.replace("LIMIT", "1 ms"), encoding="utf-8")
    text = "study: a\nscenario: fills.yaml\nvary: {duration: [4 ms, 5 ms, 8 ms]}\nwarm-up: 5 ms\n"
    made(tmp_path, text, code=1)
    problems = [row["problem"] for row in rows_of(tmp_path / "made/runs.csv")]
    said = "warm-up: expected less than the duration of the run, {} ms, found 5 ms"
    assert problems == [said.format(4), said.format(5), ""]


def test_sentences() -> None:
    assert warm_up.sentences([]) == []
    every = [WarmUp(0, None, ()), WarmUp(2_000_000, "loop at sink", ()), WarmUp(1_000, "a at b", ("a at b",))]
    first, second = warm_up.sentences(every)
    assert first.startswith("Warm-up: the first 0 ns to 2 ms of each run")
    assert first.endswith("The longest warm-up is that of loop at sink.")
    assert second.startswith("In 1 of 3 runs")
    assert second.endswith("may be too short: a at b.")


def test_a_file_without_the_key_has_no_warm_up(tmp_path: Path) -> None:
    text = "study: a\nscenario: fills.yaml\n"
    assert study_file.of_text(text, tmp_path / "a.yaml").warm_up is None
    assert study_file.of_text(text + "warm-up: auto\n", tmp_path / "a.yaml").warm_up == "auto"
    assert study_file.of_text(text + "warm-up: 5 ms\n", tmp_path / "a.yaml").warm_up == 5_000_000
    with pytest.raises(ScenarioErrors):
        study_file.of_text(text + "warm-up: [5 ms]\n", tmp_path / "a.yaml")
