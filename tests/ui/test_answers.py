"""The list of runs shows no run in a better state than its verdict."""

from __future__ import annotations

import os
from pathlib import Path

from tsnbench.backends.simulation import Simulation
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.planning import plan
from tsnbench.scenario import load_variants
from tsnbench.ui.answers import run_state
from tsnbench.ui.workspace import MOST_LISTED, Workspace

TUTORIAL = Path(__file__).parents[2] / "scenarios/tutorial"


def test_a_worst_case_that_breaks_a_limit_is_named(tmp_path: Path) -> None:
    longest = load_variants(TUTORIAL / "3-cbs-line.yaml")[-1]
    run_one(plan(longest), tmp_path / "run", Options(report=False))
    state = run_state(tmp_path / "run", "run")
    assert state["verdict"].startswith("MET IN THIS RUN, WORST CASE BEYOND A LIMIT: ")


def test_a_run_without_a_verdict_has_none(tmp_path: Path) -> None:
    plan(load_variants(TUTORIAL / "1-first-link.yaml")[0]).run(Simulation(), tmp_path / "run")
    state = run_state(tmp_path / "run", "run")
    assert (state["state"], state["verdict"], state["met"]) == ("complete", "", None)


def test_the_newest_runs_come_first_and_the_others_are_counted(tmp_path: Path) -> None:
    for number in range(MOST_LISTED + 3):
        folder = tmp_path / f"runs/{number}"
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}")
        os.utime(folder / "manifest.json", ns=(number, number))
        (tmp_path / f"{number:04}.yaml").write_text("")
    runs, more_runs = Workspace(tmp_path).runs()
    assert (runs[0], runs[-1], more_runs) == (f"runs/{MOST_LISTED + 2}", "runs/3", 3)
    scenarios, more_scenarios = Workspace(tmp_path).scenarios()
    assert (scenarios[0], len(scenarios), more_scenarios) == ("0000.yaml", MOST_LISTED, 3)


def test_scenarios_are_listed_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["1-link", "2-gates", "10-replay", "a2/b", "a10/b", "b"]
    for name in reversed(names):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text("name: x")
    assert Workspace(tmp_path).scenarios() == ([f"{name}.yaml" for name in names], 0)
