"""From scenario to observations: delays that follow from sizes, rates and lengths alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from support.planned import run_of
from tsnbench.scenario import load

SCENARIO = """\
name: chain
duration: 10 ms
network:
  line: {{nodes: {nodes}, kind: host, rate: {rate}, cable: 20 m}}
streams:
  s: {{from: first, to: last, period: 1 ms, phy: {phy} B}}
"""


@pytest.mark.parametrize("hops", range(1, 8))
@pytest.mark.parametrize(("rate", "bit_ps"), [("1 Gbit/s", 1_000), ("100 Mbit/s", 10_000)])
def test_every_hop_adds_one_serialisation(hops: int, rate: str, bit_ps: int, tmp_path: Path) -> None:
    phy = 1250
    path = tmp_path / "chain.yaml"
    path.write_text(SCENARIO.format(nodes=hops + 1, rate=rate, phy=phy), encoding="utf-8")
    plan = load(path).plan()
    run = run_of(plan, tmp_path)
    table = run.observations()
    tx = table.filter(pl.col("stage") == "tx").select("seq", "t_ns")
    rx = table.filter(pl.col("stage") == "rx").select("seq", rx_ns="t_ns")
    delays = tx.join(rx, on="seq").select(pl.col("rx_ns") - pl.col("t_ns")).to_series()
    cables = {port["propagation_ps"] for port in plan.document["ports"]}
    bridges = {node["processing_ns"] for node in plan.document["nodes"]}
    assert len(cables) == len(bridges) == 1
    # Preamble, delimiter and frame take their time on every link; the first stamp is after the delimiter.
    per_hop_ps = (phy - 12) * 8 * bit_ps + cables.pop()
    expected_ps = hops * per_hop_ps + (hops - 1) * bridges.pop() * 1_000 - 64 * bit_ps
    assert len(delays) == 10
    assert set(delays) <= {expected_ps // 1_000, -(-expected_ps // 1_000)}
