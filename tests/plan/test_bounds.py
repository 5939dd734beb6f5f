"""Bounds through Python: the same Plan, the reasons, and a simulated run that stays below them."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import polars
import pytest

from support.planned import plan_of, run_of
from tsnbench import _native
from tsnbench.plan.bounds import BoundsError, bounds, bounds_table
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

LINE = """
name: line
duration: 10 ms
network:
  stations: [talker, listener, other]
  bridges: [b1, b2]
  links:
    rate: 1 Gbit/s
    cable: 1 m
    between: [talker-b1, other-b1, b1-b2, b2-listener]
streams:
  control: {from: talker, to: listener, pcp: 6, frame: 500 B, period: 1 ms}
  bulk: {from: other, to: listener, pcp: 0, frame: 1522 B, saturating: true}
"""


@pytest.fixture
def line(tmp_path: Path) -> Plan:
    return plan_of(LINE)


def test_one_blocking_frame_per_hop(line: Plan) -> None:
    found = bounds(line)
    assert found["format"] == "tsnbench-bounds/1"
    assert found["plan"] == line.hash
    control, bulk = found["flows"]
    assert control["hops"][0]["upper_ps"] == control["hops"][0]["lower_ps"]
    blocked = (1522 + 20) * 8_000
    assert [hop["upper_ps"] - hop["lower_ps"] for hop in control["hops"][1:]] == [blocked, blocked]
    assert control["upper_ns"] - control["lower_ns"] == 2 * blocked // 1_000
    assert control["reason"] is None
    # A full queue, 1,000 frames of which are the limit, behind one that is being sent.
    assert bulk["hops"][0]["upper_ps"] == 1_000 * blocked + (1522 + 8) * 8_000 + 5_000
    assert "1 Gbit/s may arrive, the class is guaranteed 995.84 Mbit/s" in bulk["loss_reason"]
    assert all(queue["backlog_octets"] for port in found["ports"][:1] for queue in port["classes"])
    json.dumps(found)


def test_a_simulated_run_keeps_the_bounds(line: Plan, tmp_path: Path) -> None:

    run = run_of(line, tmp_path)
    control = bounds(line)["flows"][0]
    delays = run.frames().filter(run.frames()["path"] == 0)["delay_ns"].drop_nulls()
    assert len(delays) == 10
    assert control["lower_ns"] <= delays.min()
    assert delays.max() <= control["upper_ns"]


def test_the_in_vehicle_network_keeps_the_bounds(tmp_path: Path) -> None:

    file = Path(__file__).parents[2] / "scenarios/papers/engine/ex-ucc.yaml"
    whole = plan(load_variants(file)[0])
    shorter = {"duration_ns": 50_000_000, "drain_ns": 50_000_000}
    short = Plan({**whole.document, **shorter})
    found = {(flow["stream"], flow["listener"]): flow for flow in bounds(short)["flows"]}
    assert all(flow["upper_ns"] is not None for flow in found.values())
    run = run_of(short, tmp_path)
    frames = run.frames().drop_nulls("delay_ns").group_by("path")
    seen = {
        row["path"]: row
        for row in frames.agg(low=polars.col("delay_ns").min(), high=polars.col("delay_ns").max()).iter_rows(
            named=True
        )
    }
    for number, path in enumerate(run.measures()["paths"]):
        flow = found[path["stream"], path["listener"]]
        assert flow["lower_ns"] <= seen[number]["low"] <= seen[number]["high"] <= flow["upper_ns"], path
    assert len(seen) == len(found)


def test_the_table_names_the_reason() -> None:
    from rich.console import Console

    line = plan_of(LINE.replace("pcp: 0", "pcp: 7"))

    console = Console(width=120)
    with console.capture() as capture:
        console.print(bounds_table(bounds(line)))
    text = capture.get()
    assert "none" in text
    assert "may take the link for ever" in " ".join(text.split())


def test_a_plan_that_contradicts_itself_is_refused(line: Plan) -> None:
    document = copy.deepcopy(line.document)
    document["streams"][0]["route"][0]["port"] = 99
    with pytest.raises(BoundsError, match="route"):
        bounds(Plan(document))
    with pytest.raises(ValueError, match="cannot be read"):
        _native.bounds("{}")
