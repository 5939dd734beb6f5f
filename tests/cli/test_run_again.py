"""A scenario is edited and run again; other files are replaced only on request."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.commands import SCENARIO, command, tsnbench

SWEEP = SCENARIO.replace("period: 1 ms", "period: [1 ms, 2 ms, 4 ms]").replace("delay: 17 us", "delay: 1 ms")


def seed_of(folder: Path) -> int:
    return int(json.loads((folder / "manifest.json").read_text())["seed"])


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(SCENARIO.replace("delay: 17 us", "delay: 1 ms"))
    return tmp_path


def edit(here: Path, old: str, new: str) -> None:
    path = here / "small.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def run(here: Path, *words: str) -> tuple[int, str]:
    done = tsnbench("run", *words, "--no-report", cwd=here)
    return done.returncode, done.stderr


def test_the_default_folder_has_the_last_run(here: Path) -> None:
    assert run(here, "small.yaml")[0] == 0
    edit(here, "period: 1 ms", "period: 2 ms")
    assert run(here, "small.yaml")[0] == 0
    manifest = json.loads((here / "runs/small/manifest.json").read_text())
    plan = json.loads(tsnbench("plan", "small.yaml", "--json", cwd=here).stdout)
    assert manifest["plan"] == plan["hash"]
    assert manifest["command"] == ["tsnbench", "run", "small.yaml"]
    assert run(here, "small.yaml", "--seed", "9")[0] == 0
    assert seed_of(here / "runs/small") == 9
    assert [path.name for path in (here / "runs").iterdir()] == ["small"]


def test_notes_beside_the_run_keep_it(here: Path) -> None:
    run(here, "small.yaml")
    (here / "runs/small/notes.md").write_text("precious")
    for force in ([], ["--force"]):
        code, said = run(here, "small.yaml", "--seed", "9", *force)
        assert code == 2
        assert "runs/small: holds files that no run has written: notes.md" in said
    assert seed_of(here / "runs/small") == 1


def test_a_run_of_another_file_or_place_stays(here: Path) -> None:
    run(here, "small.yaml")
    (here / "copy.yaml").write_text((here / "small.yaml").read_text())
    code, said = run(here, "copy.yaml", "--seed", "9")
    assert (code, "holds a run of another scenario file, small.yaml" in said) == (2, True)
    manifest = here / "runs/small/manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"backend": "netns", "dilate": 10}))
    code, said = run(here, "small.yaml")
    assert (code, "holds a run of --on netns --dilate 10" in said) == (2, True)
    assert "hint: name another folder with --into, or keep both with --keep-runs; --force replaces it" in said
    assert run(here, "small.yaml", "--force")[0] == 0


@pytest.mark.parametrize("state", ["complete", "interrupted", "failed", "running"])
def test_in_a_named_folder_a_run_of_another_scenario_stays(here: Path, state: str) -> None:
    run(here, "small.yaml", "--into", "mine")
    manifest = here / "mine/manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"state": state}))
    edit(here, "name: small", "name: other")
    code, said = run(here, "small.yaml", "--into", "mine")
    assert (code, "holds a run of another scenario, small" in said) == (2, True)
    edit(here, "name: other", "name: small")
    edit(here, "period: 1 ms", "period: 2 ms")
    assert run(here, "small.yaml", "--into", "mine")[0] == (2 if state == "complete" else 0)
    assert run(here, "small.yaml", "--into", "mine", "--force")[0] == 0


def test_kept_runs_are_numbered(here: Path) -> None:
    for seed in ("1", "2", "3"):
        assert run(here, "small.yaml", "--keep-runs", "--seed", seed)[0] == 0
    assert {path.name: seed_of(path) for path in (here / "runs").iterdir()} == {
        "small": 1,
        "small-2": 2,
        "small-3": 3,
    }
    assert run(here, "small.yaml", "--keep-runs", "--into", "mine")[0] == 0
    assert run(here, "small.yaml", "--keep-runs", "--into", "mine")[0] == 0
    assert (here / "mine-2/manifest.json").exists()


def test_kept_runs_that_begin_together_have_folders_of_their_own(here: Path) -> None:
    edit(here, "duration: 20 ms", "duration: 2 s")
    together = [
        subprocess.Popen(
            command("run", "small.yaml", "--keep-runs", "--quiet", "--no-report", "--seed", n),
            cwd=here, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for n in range(4)
    ]  # fmt: skip
    for one in together:
        _, said = one.communicate(timeout=120)
        assert one.returncode == 0, said
    found = {path.name: seed_of(path) for path in (here / "runs").iterdir()}
    assert set(found) == {"small", "small-2", "small-3", "small-4"}
    assert sorted(found.values()) == [0, 1, 2, 3]


def test_runs_of_values_that_the_sweep_has_no_longer_are_named(here: Path) -> None:
    (here / "small.yaml").write_text(SWEEP)
    code, said = run(here, "small.yaml")
    assert (code, "earlier sweep" in said) == (0, False)
    edit(here, ", 4 ms]", "]")
    code, said = run(here, "small.yaml")
    assert code == 0
    assert (
        "runs/small also holds runs of an earlier sweep, which are not part of this report: period=4_ms"
        in said
    )
    folders = sorted(str(path) for path in (here / "runs/small").glob("*/"))
    assert len(folders) == 3
    done = tsnbench("report", *folders, "--into", "all", cwd=here)
    assert (done.returncode, "note: " in done.stderr) == (0, True)
    assert [line for line in done.stderr.splitlines() if "earlier" in line] == [
        f"note: {folders[2]} is of an earlier sweep: the sweep has these values no longer"
    ]
    done = tsnbench("report", "runs/small", "--into", "sweep", cwd=here)
    page = (here / "sweep/report.html").read_text()
    assert (done.returncode, done.stderr.count("not part of this report: period=4_ms")) == (0, 1)
    assert "period 2 ms" in page
    assert "period 4 ms" not in page
    # Other folders of runs are no sweep: their runs have nothing in common.
    done = tsnbench("report", "runs", cwd=here)
    assert (done.returncode, "found no manifest.json" in done.stderr) == (2, True)
    assert run(here, "small.yaml", "--only", "period=1 ms")[0] == 0
    assert (here / "runs/small/period=4_ms/manifest.json").exists()
    (here / "runs/small/period=4_ms/notes.md").write_text("precious")
    assert run(here, "small.yaml", "--force")[0] == 2
    (here / "runs/small/period=4_ms/notes.md").unlink()
    assert run(here, "small.yaml", "--force")[0] == 0
    assert sorted(path.name for path in (here / "runs/small").iterdir()) == [
        "period=1_ms",
        "period=2_ms",
        "sweep.json",
    ]


def test_a_sweep_and_a_single_run_replace_each_other(here: Path) -> None:
    run(here, "small.yaml")
    (here / "small.yaml").write_text(SWEEP)
    assert tsnbench("run", "small.yaml", "--figures", "csv", cwd=here).returncode == 0
    assert not (here / "runs/small/manifest.json").exists()
    assert {"report.html", "figures", "period=1_ms"} <= {
        path.name for path in (here / "runs/small").iterdir()
    }
    edit(here, "[1 ms, 2 ms, 4 ms]", "1 ms")
    assert run(here, "small.yaml")[0] == 0
    assert (here / "runs/small/manifest.json").exists()
    assert not [path for path in (here / "runs/small").iterdir() if path.is_dir()]


def test_in_a_named_folder_a_sweep_and_a_single_run_stay(here: Path) -> None:
    run(here, "small.yaml", "--into", "mine")
    (here / "small.yaml").write_text(SWEEP)
    code, said = run(here, "small.yaml", "--into", "mine")
    assert (code, "mine: holds a single run, and this is a sweep" in said) == (2, True)
    assert run(here, "small.yaml", "--into", "mine", "--force")[0] == 0
    edit(here, "[1 ms, 2 ms, 4 ms]", "1 ms")
    code, said = run(here, "small.yaml", "--into", "mine")
    assert (code, "mine: holds the runs of a sweep" in said) == (2, True)
    (here / "mine/period=1_ms/notes.md").write_text("precious")
    code, said = run(here, "small.yaml", "--into", "mine", "--force")
    assert (code, "written: period=1_ms/notes.md" in said) == (2, True)
    assert (here / "mine/period=1_ms/manifest.json").exists()


def test_values_that_give_one_name_do_not_overwrite_each_other(here: Path) -> None:
    text = SCENARIO.replace("network:", "parameters:\n  p: ['7 us', '7/us', LONG]\nnetwork:", 1)
    text = text.replace("LONG", '"' + "9" * 300 + '"').replace("name: small", "name: small\ntitle: 'p ${p}'")
    (here / "small.yaml").write_text(text.replace("delay: 17 us", "delay: 1 ms"))
    assert run(here, "small.yaml") == (0, "run folder: runs/small\n")
    titles = {
        json.loads(path.read_text())["title"][:9]: path.parent.name
        for path in (here / "runs/small").glob("*/manifest.json")
    }
    assert sorted(titles) == ["p 7 us", "p 7/us", "p 9999999"]
    before = dict(titles)
    assert run(here, "small.yaml", "--only", "p=7 us", "--seed", "5")[0] == 0
    assert seed_of(here / "runs/small" / before["p 7 us"]) == 5
    assert seed_of(here / "runs/small" / before["p 7/us"]) == 1


def test_the_report_of_an_interrupted_sweep_names_the_runs_that_are_not_there(here: Path) -> None:
    (here / "small.yaml").write_text(SWEEP)
    assert run(here, "small.yaml", "--no-report")[0] == 0
    shutil.rmtree(here / "runs/small/period=2_ms")
    done = tsnbench("report", "runs/small", cwd=here)
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["note: these runs of the sweep are not there: period=2_ms"]
