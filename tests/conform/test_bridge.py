"""Defects of a bridge without gates: residence, classes and tags, each found by its own test alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.devices import bench, results
from support.profile import PROFILE

SEEDS = 20 if PROFILE == "nightly" else 1
LAB = """\
name: lab
duration: 10 ms
seed: 1
network:
  stations: [t1, t2, robot]
  bridge switch: {processing: 2 us}
  links: {rate: 100 Mbit/s, cable: 5 m, between: [t1 -- switch, t2 -- switch, switch -- robot]}
streams:
  loop: {from: t1, to: robot, pcp: 6, payload: 100 B, period: 1 ms}
"""
CLASSES = "bridge switch: {classes: {7: 7, 6: 5, 5: 6, 4: 4, 3: 3, 2: 2, 1: 0, 0: 1}, "
DEFECTS = [
    ("forwarding.residence", LAB.replace("2 us", "3 us")),
    ("forwarding.residence", LAB.replace("2 us", "2020 ns")),
    ("forwarding.line", LAB.replace("2 us", "2 us, forwarding: {mode: cut-through, after: 200 B}")),
    ("priority.map", LAB.replace("bridge switch: {", CLASSES)),
    ("priority.tag", LAB + "policing: [{at: all -> switch, regenerate: {3: 5}}]\n"),
]


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize(("test", "device"), DEFECTS)
def test_a_defect_is_found_by_its_own_test_alone(test: str, device: str, seed: int, tmp_path: Path) -> None:
    own = bench(LAB, device.replace("seed: 1", f"seed: {seed}"))
    found = results(own, tmp_path, ["forwarding", "priority"])
    assert {one.test for one in found if one.verdict == "fail"} == {test}


@pytest.mark.parametrize("seed", range(1, (5 * SEEDS if SEEDS > 1 else 2) + 1))
def test_a_device_without_a_defect_passes(seed: int, tmp_path: Path) -> None:
    rate = ["10 Mbit/s", "100 Mbit/s", "1 Gbit/s"][seed % 3]
    text = LAB.replace("seed: 1", f"seed: {seed}").replace("100 Mbit/s", rate)
    found = results(bench(text), tmp_path, ["forwarding", "priority"])
    assert {one.port for one in found} == {"switch -> t1", "switch -> t2", "switch -> robot"}
    assert [(one.test, one.sentence) for one in found if one.verdict != "pass"] == []


def test_a_regenerated_priority_is_what_the_scenario_says(tmp_path: Path) -> None:
    text = LAB + "policing: [{at: all -> switch, regenerate: {3: 5}}]\n"
    found = results(bench(text), tmp_path, ["priority.tag"])
    assert {one.verdict for one in found if one.test == "priority.tag"} == {"pass"}


def test_a_bridge_without_a_second_tester_has_no_load(tmp_path: Path) -> None:
    text = LAB.replace("t1, t2, robot", "t1, robot").replace("t2 -- switch, ", "")
    found = results(bench(text), tmp_path, ["priority"])
    assert {(one.verdict, one.reason) for one in found} == {("not-decidable", "no-stimulus")}


def test_a_time_that_the_scenario_does_not_state_is_told(tmp_path: Path) -> None:
    found = results(bench(LAB.replace(" {processing: 2 us}", " {}")), tmp_path, ["forwarding.residence"])
    (one, *_) = [one for one in found if one.test == "forwarding.residence"]
    assert (one.verdict, one.reason) == ("not-decidable", "no-limit")
    assert one.found is not None
    assert abs(one.found.value) < 6
