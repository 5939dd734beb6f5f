"""The bounds of a Plan beside those of Saihu's tools, and results that are none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from support.commands import tsnbench
from tsnbench.plan.bounds import bounds
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

SCENARIO = """\
name: two
duration: 10 ms
network: {stations: [a, b, c], bridges: [s], rate: 100 Mbit/s, links: [a -- s, b -- s, s -- c]}
streams:
  x: {from: a, to: [b, c], arrivals: {burst: 2 kB, rate: 1 Mbit/s}, phy: 1000 B}
  y: {from: b, to: c, arrivals: {burst: 1 kB, rate: 1 Mbit/s}, phy: 500 B}
  y+1: {from: b, to: a, arrivals: {burst: 1 kB, rate: 1 Mbit/s}, phy: 500 B}
  z: {from: a, to: c, arrivals: {burst: 1 kB, rate: 99 Mbit/s}, phy: 500 B}
"""
RESULTS: dict[str, Any] = {
    "name": "two",
    "flow_e2e_delay": {
        "x": {"xTFA_TFA": 1000.0, "Panco_PLP": 250},
        "y": {"xTFA_TFA": 2000, "Panco_PLP": None},
        "z": {"xTFA_TFA": float("inf")},
        "other": {"xTFA_TFA": 1},
    },
    "units": {"flow_delay": "us", "server_delay": "us", "execution_time": "ms"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "two_data.json").write_text(json.dumps(RESULTS), encoding="utf-8")
    return tmp_path


def test_one_row_for_each_flow(folder: Path) -> None:
    """The greatest bound of all listeners and paths; times in ns."""
    (one,) = read_scenario(SCENARIO, "two.yaml")
    ours: dict[str, list[int | None]] = {}
    for flow in bounds(plan(one))["flows"]:
        ours.setdefault(flow["stream"][0], []).append(flow["release_upper_ps"])
    found = json.loads(tsnbench("compare", "two.yaml", "two_data.json", "--json", cwd=folder).stdout)
    assert found["tools"] == ["xTFA_TFA", "Panco_PLP"]
    x, y, z, other = found["flows"]
    assert (x["flow"], x["theirs_ns"]) == ("x", {"xTFA_TFA": 1_000_000.0, "Panco_PLP": 250_000.0})
    assert x["upper_ns"] == max(upper or 0 for upper in ours["x"]) / 1000
    assert x["ratio"] == x["upper_ns"] / 250_000
    assert (y["flow"], y["theirs_ns"]) == ("y", {"xTFA_TFA": 2_000_000.0})
    assert y["upper_ns"] == max(upper or 0 for upper in ours["y"]) / 1000
    assert len(ours["y"]) == 2
    assert (z["theirs_ns"], z["ratio"]) == ({}, None)
    assert other == {
        "flow": "other",
        "upper_ns": None,
        "reason": "no stream of the Plan has this name",
        "theirs_ns": {"xTFA_TFA": 1000.0},
        "ratio": None,
    }


def test_flows_whose_names_an_import_changes_are_found(folder: Path) -> None:
    """The flow `x 0` is the stream `x-0` of an import; a flow of that very name comes first."""
    text = SCENARIO.replace("  x: ", "  x-0: ")
    (folder / "two.yaml").write_text(text, encoding="utf-8")
    theirs = {"x 0": {"xTFA_TFA": 1000.0}, "y": {"xTFA_TFA": 2000.0}}
    for flows, name in ((theirs, "x 0"), (theirs | {"x-0": {"xTFA_TFA": 5000.0}}, "x-0")):
        results = {**RESULTS, "flow_e2e_delay": flows}
        (folder / "two_data.json").write_text(json.dumps(results), encoding="utf-8")
        done = tsnbench("compare", "two.yaml", "two_data.json", "--json", cwd=folder)
        bounded = [one["flow"] for one in json.loads(done.stdout)["flows"] if one["ratio"] is not None]
        assert set(bounded) == {name, "y"}


def test_a_stream_without_results_has_its_row(folder: Path) -> None:
    flows = {"x": RESULTS["flow_e2e_delay"]["x"]}
    (folder / "two_data.json").write_text(json.dumps({**RESULTS, "flow_e2e_delay": flows}), encoding="utf-8")
    found = json.loads(tsnbench("compare", "two.yaml", "two_data.json", "--json", cwd=folder).stdout)
    assert [(one["flow"], one["ratio"] is None) for one in found["flows"]] == [
        ("x", False), ("y", True), ("z", True),
    ]  # fmt: skip


def test_the_table_and_its_last_line(folder: Path) -> None:
    done = tsnbench("compare", "two.yaml", "two_data.json", cwd=folder, columns=120)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if line[:2] in ("x ", "y ", "z ")] == ["x", "y", "z"]
    said = lines[next(place for place, line in enumerate(lines) if line.startswith("tsnbench's bound")) :]
    words = " ".join(said)
    assert " of 2 flows; in the median " in words
    assert "; flows without a bound on both sides: 2 It holds for frames of the Plan's sizes; " in words


def test_a_plan_and_a_run_are_compared_as_a_scenario_is(folder: Path) -> None:
    (one,) = read_scenario(SCENARIO.replace("99 Mbit/s", "9 Mbit/s"), "two.yaml")
    made = plan(one)
    (folder / "run").mkdir()
    for file in (folder / "two.plan.json", folder / "run/plan.json"):
        file.write_text(made.to_json(), encoding="utf-8")
    texts = [
        tsnbench("compare", first, "two_data.json", "--csv", cwd=folder).stdout
        for first in ("two.plan.json", "run")
    ]
    assert texts[0] == texts[1]
    rows = list(csv.DictReader(io.StringIO(texts[0])))
    assert [(row["stream"], row["run"]) for row in rows] == [
        ("x", "tsnbench"), ("x", "xTFA_TFA"), ("x", "Panco_PLP"),
        ("y", "tsnbench"), ("y", "xTFA_TFA"), ("z", "tsnbench"), ("other", "tsnbench"), ("other", "xTFA_TFA"),
    ]  # fmt: skip


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"units": {}}, "units: flow_delay: expected a unit such as us, found None"),
    ({"units": {"flow_delay": "x"}}, "units: flow_delay: expected a unit such as us, found x"),
    ({"flow_e2e_delay": {}}, "flow_e2e_delay: expected bounds by flow and tool"),
    ({"flow_e2e_delay": [1]}, "flow_e2e_delay: expected bounds by flow and tool"),
    ({"flow_e2e_delay": {"x": 5}}, "flow_e2e_delay: x: expected bounds by tool, found 5"),
    ({"flow_e2e_delay": {"x": {"t": -1}}}, "x: t: expected a time of 0 or more, found -1"),
    ({"flow_e2e_delay": {"x": {"t": True}}}, "x: t: expected a time of 0 or more, found True"),
    ({"flow_e2e_delay": {"x": {"t": "5"}}}, "x: t: expected a time of 0 or more, found 5"),
    ({"flow_e2e_delay": {"x": {"t": float("nan")}}}, "x: t: expected a time of 0 or more, found nan"),
    ({"flow_e2e_delay": {"x": {"t": 10**400}}}, "x: t: expected a time of 0 or more, found 1000"),
    ({"flow_e2e_delay": {"x": {}}}, "flow_e2e_delay: expected 1 to 64 tools, found 0"),
    ({"flow_e2e_delay": {"q": {"t": 1}}}, "expected a flow of the Plan (x, y, z), found q"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=range(len(WRONG)))
def test_results_that_are_refused(change: dict[str, Any], said: str, folder: Path) -> None:
    (folder / "two_data.json").write_text(json.dumps({**RESULTS, **change}), encoding="utf-8")
    done = tsnbench("compare", "two.yaml", "two_data.json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.splitlines()[-1].startswith("more about it: tsnbench explain TSN")
