"""The measures of a run folder and of its own captures: two inputs, one engine, the same figures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tsnbench.backends.simulation import Simulation
from tsnbench.measure import MeasureError, judge, measure_captures, measure_run, verdict_table
from tsnbench.runs import Run
from tsnbench.scenario import load


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("measured")
    return Simulation().execute(load(_shipped()).plan(), folder / "run", pcap=True)


def _shipped() -> Path:
    return Path(__file__).parent.parent.parent / "scenarios" / "tutorial" / "1-first-link.yaml"


def test_captures_of_a_run_give_the_runs_measures(run: Run) -> None:
    measures = measure_run(run.folder)
    assert measures == json.loads((run.folder / "measures.json").read_text())
    document = run.plan.document
    numbers = {stream["name"]: number for number, stream in enumerate(document["streams"])}
    files = {_words(file.stem): file for file in (run.folder / "captures").iterdir()}
    compared = 0
    for path in measures["paths"]:
        tx, rx = (files[_words(path[tap])] for tap in ("tx_tap", "rx_tap"))
        captured = measure_captures(tx, rx)
        assert captured["source"]["formats"] == ["tsnbench"]
        name = f"tsnbench/{numbers[path['stream']]}"
        (other,) = [other for other in captured["paths"] if other["stream"] == name]
        for key in ("delay", "spread", "rate", "departures"):
            assert other[key] == path[key], key
        for kind in ("delay-step", "delay-step-abs", "deviation"):
            assert other["jitter"][kind] == path["jitter"][kind], kind
        for count in ("sent", "received", "lost", "duplicate", "reordered"):
            assert other["count"][count] == path["count"][count], count
        compared += path["count"]["received"]
    assert compared > 0


def test_the_table_of_frames_says_what_the_measures_say(run: Run) -> None:
    measures = measure_run(run.folder)
    frames = pl.read_parquet(run.folder / "frames.parquet")
    names = json.loads(pl.read_parquet_metadata(run.folder / "frames.parquet")["tsnbench.paths"])
    assert [name["stream"] for name in names] == [path["stream"] for path in measures["paths"]]
    for number, path in enumerate(measures["paths"]):
        own = frames.filter(pl.col("path") == number)
        assert len(own) == path["count"]["sent"]
        assert own["delay_ns"].drop_nulls().sum() == path["delay"]["sum"]
        assert own["seq"].is_sorted()
        assert path["delay"]["count"] == path["count"]["received"] - path["count"]["missing_timestamp"]


def test_what_the_simulator_counted_and_what_was_measured_agree(run: Run) -> None:
    measures = measure_run(run.folder)
    for counted in run.counters["streams"]:
        paths = [path for path in measures["paths"] if path["stream"] == counted["name"]]
        for path in paths:
            count = path["count"]
            assert count["sent"] + count["never_sent"] == counted["released"]
            assert count["received"] == counted["delivered"][path["listener"]]


def test_a_run_is_judged(run: Run) -> None:
    verdict = judge(run.plan.document, measure_run(run.folder))
    assert verdict["rows"]
    assert verdict["met"] == all(row["met"] == "yes" for row in verdict["rows"])
    assert verdict_table(verdict).rows


def test_a_folder_that_is_not_whole_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match=r"plan\.json"):
        measure_run(tmp_path)
    shutil.copy(run.folder / "plan.json", tmp_path)
    with pytest.raises(MeasureError, match=r"observations\.parquet"):
        measure_run(tmp_path)
    whole = (run.folder / "observations.parquet").read_bytes()
    (tmp_path / "observations.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MeasureError, match="not a readable Parquet file"):
        measure_run(tmp_path)


def _words(name: str) -> str:
    return " ".join("".join(c if c.isalnum() or c in "_." else " " for c in name).split())
