"""The worst case of a run's Plan is computed once, and all readers get the same one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.plan.bounds import WINDOWS, bounds
from tsnbench.planning import plan
from tsnbench.report.parts.bounds import read_bounds
from tsnbench.runs.bounds import bounds_of_run
from tsnbench.scenario import load

SCENARIO = """
name: windows
duration: 5 ms
network:
  stations: [talker, other, listener]
  bridges: {b: {processing: {least: 1 us, most: 3 us}}}
  links: {rate: 1 Gbit/s, between: [talker-b, other-b, b-listener]}
streams:
  control: {from: talker, to: listener, pcp: 6, frame: 500 B, period: 500 us, requires: LIMITS}
  bulk: {from: other, to: listener, pcp: 0, frame: 1500 B, saturating: true}
shapers:
  b -> listener: {gates: {cycle: 500 us, entries: [{open: [6], for: 100 us}, {open: [0], for: 400 us}]}}
"""
LIMITS = "{delay: 400 us, jitter: 300 us}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("windows")
    file = into / "windows.yaml"
    file.write_text(SCENARIO.replace("LIMITS", LIMITS), encoding="utf-8")
    run_one(plan(load(file)), into / "run", Options(report=False))
    return into / "run"


def test_a_report_has_the_proof_of_windows_as_the_plan_has(folder: Path) -> None:
    made = plan(load(folder.parent / "windows.yaml"))
    (control, _) = bounds(made)["flows"]
    # The analysis alone gives no bound, as the bridge's processing varies; the windows' proof gives one.
    assert control["source"] == WINDOWS
    shown, _ = read_bounds(folder)
    own = shown["control", "listener"]
    assert (own.upper_ns, own.source) == (control["upper_ns"], WINDOWS)
    rows = {row["requirement"]: row for row in json.loads((folder / "verdict.json").read_text())["rows"]}
    assert rows["delay"]["worst_case"] == control["upper_ns"]
    assert rows["delay"]["worst_case_source"] == WINDOWS
    assert rows["jitter delay-step-abs"]["worst_case"] == control["jitter_ns"]
    assert control["jitter_ns"] < control["upper_ns"]


def test_kept_bounds_are_read_and_others_are_not(folder: Path) -> None:
    path = folder / "bounds.json"
    kept = json.loads(path.read_text())
    assert all(not flow["hops"] for flow in kept["flows"])
    upper = kept["flows"][0]["upper_ns"]
    kept["flows"][0]["upper_ns"] = 12_345
    try:
        path.write_text(json.dumps(kept))
        assert bounds_of_run(folder)["flows"][0]["upper_ns"] == 12_345
        # Bounds of another Plan, of another version, or without JSON: they are computed anew.
        for other in (kept | {"plan": "sha256:0"}, kept | {"version": "0"}, []):
            path.write_text(json.dumps(other))
            assert bounds_of_run(folder)["flows"][0]["upper_ns"] == upper
            # Only a caller that asks for it changes the folder.
            assert json.loads(path.read_text()) == other
        bounds_of_run(folder, keep=True)
        assert json.loads(path.read_text())["flows"][0]["upper_ns"] == upper
        path.write_text("{")
        assert bounds_of_run(folder, keep=True)["flows"][0]["upper_ns"] == upper
        assert json.loads(path.read_text())["flows"][0]["upper_ns"] == upper
    finally:
        path.unlink(missing_ok=True)


def test_without_requirements_a_run_is_compared_with_its_bounds(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "free.yaml"
    file.write_text(SCENARIO.replace(", requires: LIMITS", ""), encoding="utf-8")
    outcome = run_one(plan(load(file)), tmp_path / "run", Options(report=False))
    assert outcome.verdict["rows"] == []
    assert (tmp_path / "run/bounds.json").exists()
