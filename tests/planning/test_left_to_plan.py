"""What scenarios leave to plan one by one: CQF's cycle, etf's delta, taprio's txtime-delay."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.scenario.loader import read_scenario

US = 1_000


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
