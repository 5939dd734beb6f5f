"""A bridge without gates: residence, load, classes and tags."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

import polars as pl
import pytest

from support.device_defects import BRIDGE as LAB
from support.device_defects import TAGGED
from support.devices import bench, results
from support.profile import PROFILE
from tsnbench import Simulation
from tsnbench.conform.bench import Bench
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.judge import Error
from tsnbench.conform.run import judged, prepare
from tsnbench.conform.seen import Seen
from tsnbench.scenario import read_scenario

CLEAN = 100 if PROFILE == "nightly" else 2
PORTS = ["switch -> t1", "switch -> robot"]


@pytest.mark.parametrize("seed", range(1, CLEAN + 1))
def test_a_device_without_a_defect_passes(seed: int, tmp_path: Path) -> None:
    rate = ["10 Mbit/s", "100 Mbit/s", "1 Gbit/s"][seed % 3]
    slope = {"10 Mbit/s": "1 Mbit/s", "100 Mbit/s": "10 Mbit/s", "1 Gbit/s": "100 Mbit/s"}[rate]
    text = LAB.replace("bandwidth: 10 Mbit/s", f"bandwidth: {slope}").replace(
        "rate: 100 Mbit/s", f"rate: {rate}"
    )
    found = results(bench(text.replace("seed: 1", f"seed: {seed}"), only=PORTS), tmp_path)
    assert len({one.test for one in found if one.verdict == "pass"}) == 15
    assert {one.port for one in found if one.verdict == "pass"} == set(PORTS)
    assert {one.verdict for one in found} == {"pass", "not-offered"}


def test_a_kernel_whose_bridges_know_no_vlans_is_not_judged_by_them(tmp_path: Path) -> None:
    """Frames that the imitated device does not forward leave nevertheless; what it forwards is told."""
    more = "streams:\n  more: {from: t1, to: robot, vlan: 7, frame: 600 B, period: 1 ms}\n"
    leaking = bench(TAGGED, TAGGED.replace("streams:\n", more), ["switch -> robot"])
    ((_, stimulus),) = prepare(leaking, chosen(["vlan.egress"])).stimuli
    seen = Seen.of(Simulation().execute(stimulus.plan, tmp_path))
    for own, error, expected in (
        (leaking, Error(4, 0, 2, kernel=True), ("fail", None)),
        (bench(TAGGED, only=["switch -> robot"]), Error(4, 0, 2, kernel=True), ("not-decidable", "kernel")),
        (bench(TAGGED, only=["switch -> robot"]), Error(4, 0, 2), ("fail", None)),
    ):
        (one,) = [one for one in judged("vlan-foreign", own, stimulus, seen, error) if "egress" in one.test]
        assert (one.verdict, one.reason) == expected


def test_where_no_frame_is_seen_that_has_to_leave_nothing_is_said_of_others(tmp_path: Path) -> None:
    own = bench(TAGGED, only=["switch -> robot"])
    ((_, stimulus),) = prepare(own, chosen(["vlan.egress"])).stimuli
    seen = Seen.of(Simulation().execute(stimulus.plan, tmp_path))
    behind = own.network.ports[own.number("switch -> robot")]["peer"]
    blind = replace(seen, table=seen.table.filter(pl.col("tap") != seen.taps["rx", behind]["name"]))
    for what, expected in ((seen, {"pass", "not-offered"}), (blind, {"not-decidable", "not-offered"})):
        found = [*judged("vlan-foreign", own, stimulus, what, Error(4, 0, 2))]
        assert {one.verdict for one in found} <= expected
        assert found[0].verdict in expected - {"not-offered"}


def test_a_regenerated_priority_is_what_the_scenario_says(tmp_path: Path) -> None:
    text = LAB + "policing: [{at: all -> switch, regenerate: {3: 5}}]\n"
    found = results(bench(text, only=["switch -> t1"]), tmp_path, ["priority.tag"])
    assert {one.verdict for one in found if one.test == "priority.tag"} == {"pass"}


def test_a_bridge_without_a_second_tester_has_no_load(tmp_path: Path) -> None:
    text = LAB.replace("t1, t2, robot", "t1, robot").replace("t2 -- switch, ", "")
    found = results(bench(text, only=["switch -> t1"]), tmp_path, ["priority.map"])
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
    found = results(Bench.of(zonal, "zone-rear", only=["zone-rear -> centre"]), tmp_path, ["priority.map"])
    assert {(one.verdict, one.reason) for one in found} == {("not-decidable", "no-stimulus")}


def test_a_network_without_tags_is_tested_with_tags(tmp_path: Path) -> None:
    """Frames without a tag have no PCP: all would be in one class."""
    text = LAB.partition("shapers:")[0].replace("pcp: 6, frame", "vlan: none, frame")
    found = results(bench(text, only=["switch -> robot"]), tmp_path, ["vlan", "priority"])
    assert {one.verdict for one in found if one.test.startswith("priority.")} == {"pass"}


def test_a_kernel_that_imitates_the_device_is_not_judged_by_its_own_time(tmp_path: Path) -> None:
    error = Error(4, 0, 2, testers_ns=0, kernel=True)
    found = results(bench(LAB, only=["switch -> robot"]), tmp_path, ["forwarding"], error)
    verdicts = {one.test: (one.verdict, one.reason) for one in found}
    assert verdicts.pop("forwarding.residence") == ("not-decidable", "kernel")
    assert set(verdicts.values()) == {("pass", None)}
    slow = LAB.replace("processing: 2 us", "processing: {values: [2 us], per-octet: 100 ps}")
    own = bench(LAB, slow, ["switch -> robot"])
    for kernel, expected in ((True, "not-decidable"), (False, "fail")):
        error = Error(4, 0, 2, testers_ns=0, kernel=kernel)
        found = results(own, tmp_path / str(kernel), ["forwarding.slope"], error)
        assert {one.verdict for one in found if one.test == "forwarding.slope"} == {expected}
