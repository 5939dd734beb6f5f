"""What scenarios leave to plan one by one: CQF's cycle, etf's delta, taprio's txtime-delay."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest

from support.planned import frames_of
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.planning import plan
from tsnbench.scenario import model
from tsnbench.scenario.loader import read_scenario

US = 1_000
CQF = """
name: t
duration: 20 ms
network: {line: {nodes: 3, prefix: sw, stations: 2, rate: 1 Gbit/s}}
streams:
  x: {from: station1.1, to: station3.1, pcp: 6, period: 500 us, units: [%s], requires: {delay: %s}}
  y: {from: station1.2, to: station3.1, pcp: 6, period: 1 ms, frame: 500 B}
  rest: {from: station2.1, to: station3.1, saturating: true, payload: 1472 B}
shapers:
  sw1 -> sw2: {cqf: {cycle: plan, pcp: [6], classes: [7, 6]}}
  sw2 -> sw3: {cqf: {cycle: plan, pcp: [6], classes: [7, 6]}}
  sw3 -> station3.1: {cqf: {cycle: plan, pcp: [6], classes: [7, 6]}}
"""


def cqf(units: str, delay: str) -> model.Scenario:
    (scenario,) = read_scenario(CQF % (units, delay))
    return scenario


@pytest.mark.parametrize("units", ["1000 B", "6 kB", "20 kB"])
def test_a_cycle_holds_the_worst_load_and_not_much_more(units: str) -> None:
    made = plan(cqf(units, "3 ms"))
    cycles = {port["gates"]["cycle_ns"] // 2 for port in made.document["ports"] if "gates" in port}
    assert len(cycles) == 1
    (cycle,) = cycles
    assert 500 * US % cycle == 0
    with tempfile.TemporaryDirectory() as folder:
        run = Simulation().execute(made, Path(folder) / "run")
        delays, counters = frames_of(run).filter(pl.col("stream") != "rest"), run.counters
    assert not any(port.get("late_frames") for port in counters["ports"])
    greatest = delays["delay"].max()
    assert greatest <= 4 * cycle + 20 * US
    upper = [flow["upper_ns"] for flow in bounds(made)["flows"] if flow["stream"] == "x"]
    assert upper[0] is None or greatest <= upper[0]


HOST = """
name: t
duration: 300 ms
network: {stations: [a, b], bridges: [s], links: {rate: 1 Gbit/s, between: [a -- s, s -- b]}}
streams:
  x:
    {from: a, to: b, pcp: 6, period: 1 ms, offset: 500 us, payload: 100 B,
     send: {advance: 450 us, txtime: true}, requires: {loss: 0}}
hosts:
  a: {wakeup: {values: [2 us, 40 us, 99 us], counts: [90, 9, 1], width: 1 us}, driver: 2 us,
      tx: {from: 1 us, to: 5 us}}
shapers: {a -> s: {qdisc: {etf: {6: {delta: %s, offload: true}}}}}
"""


def _lost(delta: str) -> tuple[int, int]:
    (scenario,) = read_scenario(HOST % delta)
    made = plan(scenario)
    port = next(port for port in made.document["ports"] if "qdisc" in port)
    with tempfile.TemporaryDirectory() as folder:
        counters = Simulation().execute(made, Path(folder) / "run").counters
    (stream,) = counters["streams"]
    children = port["qdisc"]["children"]
    return stream["released"] - sum(stream["delivered"].values()), children[6]["delta_ns"]


def test_a_planned_delta_loses_nothing_and_a_shorter_one_does() -> None:
    assert _lost("plan") == (0, 107 * US)
    assert _lost("60 us")[0] > 0
