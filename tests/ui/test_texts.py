"""The texts of a run's scenario that the page shows: no edited copy, and no other file of the same name."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.small_plan import SCENARIO
from tsnbench.campaign.campaign import Options, about_run, run_one
from tsnbench.planning import plan
from tsnbench.runs import Run, manifest
from tsnbench.scenario import load
from tsnbench.ui.answers import listed_run
from tsnbench.ui.texts import Texts
from tsnbench.ui.workspace import Workspace

TEXT = SCENARIO.format(duration="5 ms")


def ran(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Run:
    """A run of ``small.yaml``, started in its folder, with the usual place of its results."""
    folder.mkdir(exist_ok=True)
    (folder / "small.yaml").write_text(TEXT)
    monkeypatch.chdir(folder)
    file = folder / "small.yaml"
    scenario = load(file)
    return run_one(
        plan(scenario), folder / "runs/small", Options(report=False), about=about_run(scenario, file)
    ).run


def test_a_copy_that_was_edited_is_not_what_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ran(monkeypatch, tmp_path)
    workspace = Workspace(tmp_path)
    kept = "runs/small/scenario.yaml"
    assert Texts.of(workspace, run) == Texts("small.yaml", kept)
    (tmp_path / kept).write_text(TEXT.replace("5 ms", "6 ms") + "# \n")
    assert Texts.of(workspace, run) == Texts("small.yaml", "")
    (tmp_path / kept).unlink()
    (tmp_path / kept).symlink_to(tmp_path / "small.yaml")
    assert Texts.of(workspace, run) == Texts("small.yaml", "")


def test_a_file_of_the_same_name_in_a_folder_above_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.yaml").write_text(TEXT)
    run = ran(monkeypatch, tmp_path / "lab")
    assert Texts.of(Workspace(tmp_path), run).now == "lab/small.yaml"
    # What lies above the opened folder is not shown.
    (tmp_path / "lab/small.yaml").unlink()
    assert Texts.of(Workspace(tmp_path / "lab"), run).now == ""


def test_a_list_reads_each_manifest_once_and_no_copy_as_a_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(monkeypatch, tmp_path)
    # A copy that reads as a lab would leave the list of labs and of scenarios alike.
    (tmp_path / "runs/small/scenario.yaml").write_text("hosts: {}\n")
    opened, read = [], manifest.read
    monkeypatch.setattr(manifest, "read", lambda folder: opened.append(folder) or read(folder))
    workspace = Workspace(tmp_path)
    listed = listed_run(workspace, "runs/small")
    assert (listed["state"], listed["now"], listed["kept"]) == ("complete", "small.yaml", "")
    assert opened == [tmp_path / "runs/small"]
    assert (workspace.scenarios()[0], workspace.labs()) == (["small.yaml"], [])
    (tmp_path / "runs/small/manifest.json").write_text("{")
    assert (listed_run(workspace, "runs/small")["state"], workspace.runs()[0]) == (
        "unreadable",
        ["runs/small"],
    )
