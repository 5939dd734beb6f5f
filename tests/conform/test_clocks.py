"""Whose clocks count: those of the testers for a residence, that of the device for the begin of its list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.device_defects import STEERED
from support.devices import bench, lab, results, verdicts
from tsnbench.conform import budget
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.judge import Error
from tsnbench.conform.run import prepare


def clock(name: str, *offsets_ns: int) -> dict[str, object]:
    readings = [[number * 10**9, offset * 1000, 0] for number, offset in enumerate(offsets_ns)]
    return {"clock": name, "drift_ppb": 0, "granularity_ns": 1, "unseen_ns": 0, "readings": readings}


def after(nodes: dict[str, object], folder: Path, dilate: int = 1) -> Error:
    """The error of a run on hosts with these stamps."""
    ((_, one),) = prepare(bench(lab()), chosen(["gates"])).stimuli
    stamps = {"format": "tsnbench-stamps/1", "not_seen": [], "nodes": nodes}
    (folder / "stamps.json").write_text(json.dumps(stamps))
    known = budget.before(one.plan, "hosts", 0)
    return budget.after(known, one.plan, folder, "switch", ["talker"], "robot", dilate)


ONE = clock("the cards of one")


@pytest.mark.parametrize(
    ("nodes", "own", "testers"),
    [
        ({"talker": ONE, "switch": ONE, "robot": ONE}, 0, 0),
        ({"talker": ONE, "robot": ONE}, None, 0),
        ({"talker": clock("a", 30), "switch": clock("b", -40), "robot": clock("c", 20)}, 60, 50),
        ({"talker": clock("a", 30), "switch": clock("b"), "robot": clock("c", 20)}, None, 50),
        ({"talker": clock("a"), "switch": clock("b", 5), "robot": clock("c", 20)}, 25, None),
        ({}, None, None),
    ],
)
def test_a_difference_is_known_if_both_clocks_are_read_or_are_one(
    nodes: dict[str, object], own: int | None, testers: int | None, tmp_path: Path
) -> None:
    found = after(nodes, tmp_path)
    assert (found.clock_ns, found.testers_ns) == (own, testers)
    assert (found.stamps_ns, found.whole) == (4, True)


def test_a_device_whose_clock_nobody_reads_is_tested_by_the_clocks_of_testers(tmp_path: Path) -> None:
    error = Error(stamps_ns=4, clock_ns=None, resolution_ns=2, testers_ns=0)
    found = results(bench(lab().replace("[switch]", "{switch: {processing: 2 us}}")), tmp_path, [], error)
    told = verdicts([one for one in found if one.port == "switch -> robot"])
    assert told["gates.edge"] == "not-decidable"
    assert {told[f"forwarding.{name}"] for name in ("line", "slope", "residence")} == {"pass"}


def test_stamps_of_a_kernel_are_coarse_and_mean_no_known_part_of_a_frame(tmp_path: Path) -> None:
    """Virtual interfaces hand a frame over at once: its residence would become shorter by its length."""
    kernel = clock("the kernel of one")
    error = after({"talker": kernel, "robot": kernel}, tmp_path)
    assert (error.stamps_ns, error.whole, error.testers_ns) == (4_000, False, 0)
    found = results(bench(lab()), tmp_path, ["forwarding"], error)
    assert {(one.verdict, one.reason) for one in found} == {("not-decidable", "plane")}


def test_gates_are_judged_by_the_stamps_behind_the_device(tmp_path: Path) -> None:
    """The sender's kernel stamps, at a tenth of the pace of the Plan; the listener's card stamps exactly."""
    nodes = {"talker": clock("the kernel of one"), "switch": ONE, "robot": ONE}
    error = after(nodes, tmp_path, 10)
    assert (error.stamps_ns, error.behind.stamps_ns, error.whole) == (400, 4, False)
    found = {one.test: one.found for one in results(bench(lab()), tmp_path, ["gates"], error)}
    assert found["gates.edge"] is not None
    assert found["gates.edge"].high - found["gates.edge"].low < 1_500


def test_a_clock_is_judged_by_testers_with_one_clock_alone(tmp_path: Path) -> None:
    """On hosts, testers follow the grandmaster, too, and may follow the device."""
    own = bench(STEERED, only=["switch -> robot"])
    ((_, one),) = prepare(own, chosen(["ptp.servo"])).stimuli
    assert {budget.before(one.plan, place, 0).planned_clocks for place in ("simulation", "vm")} == {True}
    found = results(own, tmp_path, ["ptp.servo"], budget.before(one.plan, "hosts", 0))
    reasons = {one.test: one.reason for one in found}
    assert reasons["ptp.servo"] == reasons["ptp.settle"] == "unsupported-tester"


def test_a_servo_is_measured_by_the_openings_of_a_gate(tmp_path: Path) -> None:
    """A clock that drifts by 1.3 ppm and is steered by at most 1 ppm gains 300 ns each second.

    The clock is right at first. The last opening is 60 intervals of 1/8 s after the first release at 6 s.
    """
    slow = STEERED.replace("1/8 s}", "1/8 s, servo: {max_frequency: 1 ppm}}")
    found = results(bench(STEERED, slow, ["switch -> robot"]), tmp_path, ["ptp.servo"])
    (one,) = [one for one in found if one.test == "ptp.servo"]
    assert one.found is not None
    assert abs(one.found.value - 0.3e-6 * 13.5e9) < 0.1 * 0.3e-6 * 13.5e9
