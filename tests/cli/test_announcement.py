"""What is said before a long run: frames, octets and time, near to what the run then shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import plan_of
from tsnbench.backends.netns import Namespaces
from tsnbench.backends.simulation import Simulation
from tsnbench.campaign import announcement
from tsnbench.campaign.announcement import Expected
from tsnbench.cli.running.making import announce
from tsnbench.plan.document import Plan
from tsnbench.runs.room import need

SCENARIO = """
name: line
duration: {duration}
network:
  stations: [a, b, c]
  bridges: [s]
  links: {{rate: 100 Mbit/s, between: [a -- s, b -- s, s -- c]}}
streams:
  {streams}
"""
STREAMS = {
    "periodic": "x: {from: a, to: [b, c], period: 50 us, payload: 100 B}",
    "saturating": "x: {from: a, to: c, frame: 1250 B, saturating: true}",
    "overload": "x: {from: a, to: c, period: 5 us, payload: 1000 B}",
    "units": "x: {from: a, to: b, period: 1 ms, units: [200 B, 9000 B]}",
    "poisson": "x: {from: a, to: c, poisson: 10 Mbit/s, payload: 100 B}",
}


def _plan(streams: str, duration: str = "1 s") -> Plan:
    return plan_of(SCENARIO.format(streams=streams, duration=duration))


@pytest.mark.parametrize("kind", STREAMS)
def test_the_number_of_frames_is_near_that_of_the_run(tmp_path: Path, kind: str) -> None:
    plan = _plan(STREAMS[kind])
    expected = need(plan.document, "simulation", pcap=False).frame_hops
    found = Simulation().execute(plan, tmp_path / "run").counters["frame_hops"]
    assert 0.9 * found <= expected <= 1.25 * found


def test_short_runs_are_not_announced(capsys: pytest.CaptureFixture[str]) -> None:
    announce([_plan(STREAMS["periodic"])] * 3, Simulation(), False, 2, 1)
    assert capsys.readouterr().err == ""


def test_a_long_run_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    # 20,000 data units a second cross three links: 60,000 frames over links a second, 864 million in 4 h.
    plan = _plan(STREAMS["periodic"], "4 h")
    announce([plan], Simulation(), False, 1, 1)
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("note: this run sends about 860 million frames over links, writes up to ")
    assert said.endswith(", and takes about 58 s to 5 min")
    announce([plan] * 8, Simulation(), False, 4, 1)
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("note: these 8 runs send about 6,900 million frames over links, write up to ")
    assert said.endswith(", and take about 2 to 10 min")


def test_runs_on_a_kernel_last_as_long_as_their_plans(capsys: pytest.CaptureFixture[str]) -> None:
    plan = _plan(STREAMS["periodic"], "100 s")
    announce([plan] * 2, Namespaces(), False, 1, 3)
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("note: these 2 runs write up to ")
    # Each lasts 100 s and the time until its last frames have arrived; times are three times as long.
    assert said.endswith(", and take more than 11 min")


def test_a_large_run_is_announced() -> None:
    assert Expected(1, 1e6, announcement.MUCH - 1).said(1) is None
    said = Expected(1, 1e6, 3.4e9).said(1)
    assert said is not None
    assert "sends about 1 million frames over links, writes up to 3.4 GB, and takes about 1 s" in said
