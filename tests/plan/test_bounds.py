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
from tsnbench.scenario import load_variants, read_scenario

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
    found = line.bounds()
    assert found == bounds(line)
    assert found["format"] == "tsnbench-bounds/1"
    assert found["plan"] == line.hash
    control, bulk = found["flows"]
    assert control["hops"][0]["upper_ps"] == control["hops"][0]["lower_ps"]
    blocked = (1522 + 20) * 8_000
    # Behind the one link between the bridges, a bulk frame has been there for as long as the other one came.
    rest = (1522 - 500) * 8_000
    assert [hop["upper_ps"] - hop["lower_ps"] for hop in control["hops"][1:]] == [blocked, rest]
    assert control["upper_ns"] - control["lower_ns"] == (blocked + rest) // 1_000
    assert control["reason"] is None
    # A full queue, 1,000 frames of which are the limit, behind one that is being sent.
    assert bulk["hops"][0]["upper_ps"] == 1_000 * blocked + (1522 + 8) * 8_000 + 5_000
    assert "bulk shares the class and has no bounded burst" in bulk["loss_reason"]
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
    # Once, though delay and delay from release both have it.
    assert " ".join(text.split()).count("has priority and may use the whole link") == 1


def test_a_plan_that_contradicts_itself_is_refused(line: Plan) -> None:
    document = copy.deepcopy(line.document)
    document["streams"][0]["route"][0]["port"] = 99
    with pytest.raises(BoundsError, match="route"):
        bounds(Plan(document))
    with pytest.raises(ValueError, match="cannot be read"):
        _native.bounds("{}")


TWO_PERIODS = """
name: two-periods
duration: 10 ms
network:
  stations: [a, c, z]
  bridges: [b1, b2]
  links: {{rate: 1 Gbit/s, between: [a -- b1, c -- b1, b1 -- b2, b2 -- z]}}
  {queues}
streams:
  s: {{from: a, to: z, pcp: 6, period: 2 ms, units: [4000 B], scheduled: true}}
  t: {{from: c, to: z, pcp: 6, period: 3 ms, frame: 500 B, scheduled: true}}
  be: {{from: a, to: z, pcp: 0, saturating: true, frame: 1500 B}}
{more}
"""


@pytest.mark.parametrize(
    ("queues", "more", "why"),
    [
        ("", "", None),
        # The three frames of one release wait in the talker's queue.
        ("queues: {limit-frames: 3}", "", None),
        ("queues: {limit-frames: 2}", "", "at a -> b1: more frames may arrive than its queue has room for"),
        ("", "faults: [{down: b1 -- b2, at: 1 ms, for: 1 ms}]", "at b1 -> b2: faults drop frames"),
        ("", "faults: [{loss: 1 %, on: c -> b1}]", None),
    ],
)
def test_loss_follows_from_the_proof_of_a_schedule(queues: str, more: str, why: str | None) -> None:
    """Periods of 2 and 3 ms: the analysis has no bound of the queues, and the proof follows every frame."""
    made = plan(read_scenario(TWO_PERIODS.format(queues=queues, more=more))[0])
    own = bounds(made)["flows"][0]
    assert (own["stream"], own["source"]) == ("s", "schedule's proof")
    assert own["upper_ns"] is not None
    if why is None:
        assert own["loss_reason"] is None
    else:
        assert own["loss_reason"] is not None
        assert own["loss_reason"].startswith(why)


@pytest.mark.parametrize(("most", "upper_ns"), [(477, None), (478, 162_880)])
def test_a_tag_that_a_bridge_adds_comes_after_its_filter(most: int, upper_ns: int | None) -> None:
    """500 octets have 478 of service data unit where they arrive, and 6 more behind the bridge: from the
    stamp 4 * 508 + 2 * 6 - 8 octets until the last bit, at 100 Mbit/s."""
    found = plan_of(f"""
name: tag
duration: 20 ms
network:
  stations: [a, b]
  bridges: [s0, s1, s2, s3]
  links: {{rate: 100 Mbit/s, between: [a -- s0, s0 -- s1, s0 -- s2, s1 -- s3, s2 -- s3, s3 -- b]}}
streams:
  x:
    frer: {{paths: [[s0, s1, s3], [s0, s2, s3]], at: s3}}
    from: a
    to: b
    pcp: 6
    period: 1 ms
    frame: 500 B
policing: [{{at: a -> s0, streams: [x], max-sdu: {most} B}}]
""").bounds()
    assert [flow["upper_ns"] for flow in found["flows"]] == [upper_ns]
