"""Defects of a bridge without gates: residence, classes and tags, each found by its own test alone."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from support.devices import bench, results
from support.profile import PROFILE
from tsnbench.conform.bench import Bench
from tsnbench.scenario import read_scenario

SEEDS = 20 if PROFILE == "nightly" else 1
LAB = """\
name: lab
duration: 10 ms
seed: 1
network:
  stations: [t1, t2, robot]
  bridge switch: {processing: 2 us, queues: {limit-frames: 50}}
  links: {rate: 100 Mbit/s, cable: 5 m, between: [t1 -- switch, t2 -- switch, switch -- robot]}
streams:
  loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms}
shapers: {switch -> robot: {cbs: {6: {bandwidth: 10 Mbit/s}}}}
"""
CLASSES = "bridge switch: {classes: {7: 7, 6: 5, 5: 6, 4: 4, 3: 3, 2: 2, 1: 0, 0: 1}, "
PORTS = ["switch -> t1", "switch -> robot"]
DEFECTS = [
    ("forwarding.residence", LAB.replace("2 us", "3 us")),
    ("forwarding.residence", LAB.replace("2 us", "2025 ns")),
    ("forwarding.line", LAB.replace("2 us", "2 us, forwarding: {mode: cut-through, after: 200 B}")),
    ("priority.map", LAB.replace("bridge switch: {", CLASSES)),
    ("priority.tag", LAB + "policing: [{at: all -> switch, regenerate: {3: 5}}]\n"),
    ("queue.depth", LAB.replace("frames: 50", "frames: 25")),
    ("load.lossfree", LAB + "faults: [{loss: 1 %, on: switch -> t1}]\n"),
    ("load.sequence", LAB + "faults: [{reorder: 1 %, by: 250 us, on: switch -> t1}]\n"),
    ("cbs.slope", LAB.replace("bandwidth: 10", "bandwidth: 10.1")),
    ("cbs.slope", LAB.replace("bandwidth: 10", "bandwidth: 9")),
    ("cbs.burst", LAB.replace("10 Mbit/s}", "10 Mbit/s, hi-credit: 620 bit}")),
]


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize(("test", "device"), DEFECTS, ids=[test for test, _ in DEFECTS])
def test_a_defect_is_found_by_its_own_test_alone(test: str, device: str, seed: int, tmp_path: Path) -> None:
    own = bench(LAB, device.replace("seed: 1", f"seed: {seed}"), PORTS)
    found = results(own, tmp_path)
    assert {one.test for one in found if one.verdict == "fail"} == {test}


@pytest.mark.parametrize("seed", range(1, (5 * SEEDS if SEEDS > 1 else 2) + 1))
def test_a_device_without_a_defect_passes(seed: int, tmp_path: Path) -> None:
    rate = ["10 Mbit/s", "100 Mbit/s", "1 Gbit/s"][seed % 3]
    slope = {"10 Mbit/s": "1 Mbit/s", "100 Mbit/s": "10 Mbit/s", "1 Gbit/s": "100 Mbit/s"}[rate]
    text = LAB.replace("bandwidth: 10 Mbit/s", f"bandwidth: {slope}").replace(
        "rate: 100 Mbit/s", f"rate: {rate}"
    )
    found = results(bench(text.replace("seed: 1", f"seed: {seed}"), only=PORTS), tmp_path)
    assert len({one.test for one in found if one.verdict == "pass"}) == 12
    assert {one.port for one in found if one.verdict == "pass"} == set(PORTS)
    assert {one.verdict for one in found} == {"pass", "not-offered"}


def test_a_regenerated_priority_is_what_the_scenario_says(tmp_path: Path) -> None:
    text = LAB + "policing: [{at: all -> switch, regenerate: {3: 5}}]\n"
    found = results(bench(text, only=["switch -> t1"]), tmp_path, ["priority.tag"])
    assert {one.verdict for one in found if one.test == "priority.tag"} == {"pass"}


def test_a_bridge_without_a_second_tester_has_no_load(tmp_path: Path) -> None:
    text = LAB.replace("t1, t2, robot", "t1, robot").replace("t2 -- switch, ", "")
    found = results(bench(text, only=["switch -> t1"]), tmp_path, ["priority"])
    assert {(one.verdict, one.reason) for one in found} == {("not-decidable", "no-stimulus")}


def test_a_time_that_the_scenario_does_not_state_is_told(tmp_path: Path) -> None:
    found = results(
        bench(LAB.replace("processing: 2 us, ", ""), only=PORTS), tmp_path, ["forwarding.residence"]
    )
    (one, *_) = [one for one in found if one.test == "forwarding.residence"]
    assert (one.verdict, one.reason) == ("not-decidable", "no-limit")
    assert one.found is not None
    assert abs(one.found.value) < 6


def test_neighbours_that_are_bridges_are_passed_by_testers_behind_them(tmp_path: Path) -> None:
    """Waits and losses count from the device on, and the fastest testers load a port."""
    (zonal,) = read_scenario((resources.files("tsnbench") / "templates/zonal.yaml").read_text())
    found = results(Bench.of(zonal, "centre", only=["centre -> zone-rear"]), tmp_path)
    assert {one.verdict for one in found} == {"pass", "not-offered"}
    found = results(Bench.of(zonal, "zone-rear", only=["zone-rear -> centre"]), tmp_path, ["priority"])
    assert {(one.verdict, one.reason) for one in found} == {("not-decidable", "no-stimulus")}
