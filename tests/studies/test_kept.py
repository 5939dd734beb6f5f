"""``keep: worst``: the run folders of the runs with the greatest delays, with the sightings of the study."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.study_processes import made, rows_of
from tsnbench.runs import Run
from tsnbench.scenario import ScenarioErrors
from tsnbench.studies.kept import worst
from tsnbench.studies.study_file import read

VARY = "vary: {streams.files.poisson: [100 Mbit/s, 700 Mbit/s]}\nrepeat: 3\n"


def test_the_worst_runs_come_first_and_equal_ones_in_the_order_of_the_list() -> None:
    rows = [
        {"run": "a", "delay max": 5},
        {"run": "a", "delay max": 9},
        {"run": "b", "delay max": 9},
        {"run": "c", "delay max": 20},
        {"run": "d", "delay max": None},
    ]
    assert worst(rows, 10) == ["c", "a", "b"]
    assert worst(rows, 2) == ["c", "a"]
    assert worst(rows, 0) == []


def test_a_study_keeps_its_worst_runs(place: Path) -> None:
    text = f"study: load\nscenario: port.yaml\nkeep: 2\n{VARY}"
    _, said = made(place, text)
    folder = place / "made/kept"
    greatest: dict[str, int] = {}
    for row in rows_of(place / "made/results.csv"):
        greatest[row["run"]] = max(greatest.get(row["run"], 0), int(row["delay max"]))
    expected = sorted(greatest, key=lambda run: -greatest[run])[:2]
    kept = sorted(path.name for path in folder.iterdir())
    assert kept == sorted(expected)
    assert f"made/kept/{expected[0]}" in said
    for name in kept:
        run = Run.open(folder / name)
        delays = [group["delay"]["max"] for group in run.measures()["groups"] if group["delay"]]
        assert max(delays) == greatest[name]
        assert (run.folder / "report.html").exists()
    # A second run of the command makes nothing again, and the folder stays a study's.
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("observations.parquet")}
    made(place, text)
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("observations.parquet")}
    assert before == after


@pytest.mark.parametrize(
    ("text", "runs"), [("", 0), ("keep: worst\n", 3), ("keep: 12\n", 12), ("keep: 0\n", 0)]
)
def test_how_many_are_kept(place: Path, text: str, runs: int) -> None:
    (place / "study.yaml").write_text(f"study: load\nscenario: port.yaml\n{text}", encoding="utf-8")
    assert read(place / "study.yaml").keep == runs


@pytest.mark.parametrize("text", ["all", "1000", "-1", "1.5"])
def test_what_cannot_be_kept(place: Path, text: str) -> None:
    (place / "study.yaml").write_text(f"study: load\nscenario: port.yaml\nkeep: {text}\n", encoding="utf-8")
    with pytest.raises(ScenarioErrors, match="keep: expected worst, or a number of runs up to 999, found"):
        read(place / "study.yaml")
