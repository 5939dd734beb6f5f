"""Workers may be killed at any time: the table stays the same byte for byte, and no run is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from support.study_processes import ended, kill_group, made, runs_of, start, study, wait_for

STUDY = """study: killed
scenario: port.yaml
vary: {streams.loop.period: [100 us, 200 us, 250 us, 500 us]}
repeat: 5
"""
RUNS = 20
TABLES = ("results.parquet", "results.csv")


@pytest.fixture
def slow(place: Path) -> Path:
    """A scenario that runs long enough to be killed in the middle of a study on a fast machine."""
    file = place / "port.yaml"
    text = file.read_text(encoding="utf-8").replace("duration: 2 ms", "duration: 1 s")
    file.write_text(text, encoding="utf-8")
    return place


def _has_the_same_tables(place: Path, other: str) -> None:
    for name in TABLES:
        assert (place / other / name).read_bytes() == (place / "made" / name).read_bytes()


def test_a_study_that_is_killed_again_and_again_ends_with_the_same_table(slow: Path) -> None:
    place = slow
    assert "20 runs made, 0 were there already" in made(place, STUDY)[1]
    moments = random.Random(7)
    kept: dict[str, str] = {}
    for _ in range(3):
        begun = start(place, "run", "study.yaml", "--into", "killed", "--workers", "2")
        wait_for(lambda: len(runs_of(place / "killed")) > len(kept), begun)  # noqa: B023
        # Kills are at any moment of a run.
        time.sleep(moments.uniform(0, 0.1))
        kill_group(begun)
        found = runs_of(place / "killed")
        assert found.items() >= kept.items()
        kept = found
    assert 3 <= len(kept) < RUNS
    begun = start(place, "run", "study.yaml", "--into", "killed", "--workers", "2")
    assert f"{20 - len(kept)} runs made, {len(kept)} were there already" in ended(begun)
    assert runs_of(place / "killed").items() >= kept.items()
    _has_the_same_tables(place, "killed")
    assert not list((place / "killed/scratch").iterdir())
    assert not list((place / "killed/leases").iterdir())


def test_one_worker_that_is_killed_costs_one_run(slow: Path) -> None:
    place = slow
    made(place, STUDY)
    begun = start(place, "run", "study.yaml", "--into", "one", "--workers", "1")
    leases = wait_for(lambda: list(place.glob("one/leases/*[0-9a-f]")), begun)
    os.kill(json.loads(leases[0].read_text(encoding="utf-8"))["process"], signal.SIGKILL)
    assert "the same command goes on" in ended(begun, code=3)
    study(place, "work", "one")
    study(place, "export", "one")
    _has_the_same_tables(place, "one")


def test_sigterm_leaves_no_lease_and_no_run_folder(slow: Path) -> None:
    place = slow
    (place / "study.yaml").write_text(STUDY, encoding="utf-8")
    begun = start(place, "run", "study.yaml", "--into", "ended", "--workers", "2")
    wait_for(lambda: runs_of(place / "ended"), begun)
    begun.terminate()
    ended(begun, code=143)
    assert not list((place / "ended/scratch").iterdir())
    assert not list((place / "ended/leases").iterdir())
    out, _ = study(place, "status", "ended", "--json")
    assert 0 < json.loads(out)["made"] < 20
    assert json.loads(out)["under_way"] == 0


def test_two_study_runs_at_once_share_the_work(place: Path) -> None:
    (place / "study.yaml").write_text(STUDY, encoding="utf-8")
    for one in [start(place, "run", "study.yaml", "--into", "both", "--workers", "1") for _ in range(2)]:
        ended(one)
    _, said = study(place, "run", "study.yaml", "--into", "both")
    assert "0 runs made, 20 were there already" in said
    workers = {json.loads(text)["worker"] for text in runs_of(place / "both").values()}
    assert len(runs_of(place / "both")) == 20
    assert 1 <= len(workers) <= 2


def test_files_of_others_stay(place: Path) -> None:
    made(place, STUDY)
    garbage = {
        "made/notes.txt": "mine",
        "made/scratch/abc/notes.txt": "mine",
        "made/runs/notes.json": "{",
        "made/leases/notes": "",
    }
    for name, text in garbage.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    damaged = next(iter((place / "made/made").glob("*.json")))
    table = (place / "made/results.csv").read_bytes()
    damaged.write_text("{", encoding="utf-8")
    _, said = made(place, STUDY)
    assert "1 runs made, 19 were there already" in said
    assert (place / "made/results.csv").read_bytes() == table
    for name, text in garbage.items():
        assert (place / name).read_text(encoding="utf-8") == text
    _, said = study(place, "run", "study.yaml", "--into", ".", code=2)
    assert "found other files" in said
    _, said = made(place, STUDY.replace("study: killed", "study: other"), code=2)
    assert "holds another study, killed" in said
    assert (place / "made/results.csv").read_bytes() == table


def test_a_result_that_a_killed_worker_was_writing_is_removed(place: Path) -> None:
    made(place, STUDY)
    record = next(place.glob("made/runs/*.json"))
    old = record.with_name(f"{record.name}.0123456789abcdef.part")
    fresh = record.with_name(f"{record.name}.fedcba9876543210.part")
    other = record.with_name("mine.part")
    for path in (old, fresh, other):
        path.write_text("{", encoding="utf-8")
    for path in (old, other):
        os.utime(path, (time.time() - 3600,) * 2)
    made(place, STUDY)
    # Another machine may be writing the fresh one, and the other is no file of a study.
    assert sorted(place.glob("made/runs/*.part")) == sorted([fresh, other])


def test_the_lease_of_a_run_that_is_made_goes(place: Path) -> None:
    """A worker of another machine was killed between its result and the end of its lease."""
    made(place, STUDY)
    name = next(place.glob("made/runs/*.json")).stem
    said = {"token": "00", "host": "elsewhere", "process": 1, "started": None}
    for lease in (name, "not-made-yet"):
        (place / "made/leases" / lease).write_text(json.dumps(said), encoding="utf-8")
    made(place, STUDY)
    assert [path.name for path in (place / "made/leases").iterdir()] == ["not-made-yet"]
