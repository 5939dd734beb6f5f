"""Gate control lists that replace each other: each has a chart for its time, with the departures then."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import plan_of, run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.report.data import gather
from tsnbench.report.figures.gates import gantt
from tsnbench.report.parts.ports import loads
from tsnbench.report.parts.schedule import folded
from tsnbench.scenario import load

SCENARIO = Path(__file__).parent.parent / "plans" / "gate-changes.yaml"


def test_every_list_in_force_has_its_own_chart(tmp_path: Path) -> None:
    run = plan(load(SCENARIO)).run(Simulation(), tmp_path / "run")
    facts = gather(run)
    shown = [one for one in folded(facts) if one.port["name"] == "host1 -> host2"]
    assert [(one.gates.words, one.gates.from_ns) for one in shown] == [
        ("before any list", None),
        ("list 1", 1_000_000),
        ("list 2", 8_200_000),
        ("list 3", 12_000_000),
    ]
    assert all(one.outside == 0 and one.departures > 0 for one in shown)
    assert sum(one.departures for one in shown) == pytest.approx(1_113, abs=200)


UNTAPPED = """\
name: n
duration: 10 ms
network: {stations: [a, c, b], bridges: [s], links: {rate: 100 Mbit/s, between: [a -- s, c -- s, s -- b]}}
streams:
  x: {from: a, to: b, pcp: 6, period: 1 ms, frame: 1000 B}
  y: {from: c, to: b, pcp: 0, saturating: true, frame: 1000 B}
taps: {ends: false, ports: [a -> s]}
shapers: {s -> b: {gates: {entries: [{open: [6, 5, 0], for: 40 us}, {open: [6, 0], for: 60 us}]}}}
"""


def test_lanes_are_of_classes_with_streams_and_of_gates_that_move(tmp_path: Path) -> None:
    """Classes 6 and 1 (PCP 0) are always open and have streams, 5 opens and closes, the others never open."""
    run = run_of(plan_of(UNTAPPED), tmp_path / "run")
    run.measures()
    facts = gather(run)
    (one,) = folded(facts)
    assert {row["class"] for row in gantt([one], [6, 0]).rows()} == {6, 5, 1}
    # What waits at the end is sent after the talkers stopped, and no port sends more than its rate.
    assert {load.port["name"]: load.total for load in loads(facts)}["s -> b"] == pytest.approx(1)
