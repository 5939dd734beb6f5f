"""Cyclic queuing: over h bridges a frame takes more than h - 1 and less than h + 1 cycles.

IEEE 802.1Q-2022, annex T; with more queues, every slow link adds its whole cycles.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.planned import plan_of, run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.planning.errors import PlanningErrors


def _scenario(seed: int) -> tuple[str, int]:
    """A tree of bridges with stations, streams that fit, and best effort in the remaining bandwidth."""
    draw = random.Random(seed)
    cycle = draw.choice([60, 100, 125])
    classes = draw.choice([[7, 6], [7, 6], [3, 7, 6], [5, 4, 7, 6]])
    reach = (len(classes) - 2) * cycle
    bridges = draw.randint(1, 5)
    lines = [f"name: cqf-{seed}", "duration: 8 ms", f"seed: {seed}", "network:", "  bridges:"]
    for number in range(bridges):
        processing = draw.choice([0, 500, 1_300, 2_000 + 400 * reach])
        lines.append(f"    b{number}: {{processing: {processing} ns}}")
    stations = draw.randint(2, 5)
    lines.append(f"  stations: [{', '.join(f's{number}' for number in range(stations))}]")
    lines.append("  links:")
    for number in range(1, bridges):
        cable = draw.choice([1, 100, 1 + 60 * reach])
        lines.append(
            f"    - {{rate: 1 Gbit/s, cable: {cable} m, between: [b{draw.randrange(number)} -- b{number}]}}"
        )
    for number in range(stations):
        at = draw.randrange(bridges)
        lines.append(f"    - {{rate: 1 Gbit/s, cable: 10 m, between: [s{number} -- b{at}]}}")
    lines.append("streams:")
    for number in range(draw.randint(1, 4)):
        a, b = draw.sample(range(stations), 2)
        period = draw.choice([cycle, 2 * cycle + 7, 300])
        size, offset = draw.randint(64, 700), draw.randint(0, 200)
        lines.append(
            f"  c{number}: {{from: s{a}, to: s{b}, pcp: 2, period: {period} us, offset: {offset} us, "
            f"jitter: {draw.choice([0, 20])} us, frame: {size} B}}"
        )
    a, b = draw.sample(range(stations), 2)
    lines.append(f"  rest: {{from: s{a}, to: s{b}, pcp: 0, saturating: true, frame: 1500 B}}")
    lines.append("shapers:")
    lines += [
        f"  b{number} -> all: {{cqf: {{cycle: {cycle} us, pcp: [2], classes: {classes}}}}}"
        for number in range(bridges)
    ]
    return "\n".join(lines) + "\n", cycle * 1_000


def _cycles(document: dict[str, Any], stream: dict[str, Any], cycle: int, queues: int) -> tuple[int, int]:
    """The cycles of the path, and the remaining ns that are no whole cycles, from the Plan's delays alone."""
    total, rest = 0, 0
    ports = [document["ports"][hop["port"]] for hop in stream["route"]]
    for place, port in enumerate(ports[1:], start=1):
        node = document["nodes"][port["node"]]
        if place == 1:
            rest += node["processing_ns"]
            total += 1
        else:
            delay = -(-ports[place - 1]["propagation_ps"] // 1_000) + node["processing_ns"] + 1
            total += 1 + min(-(-delay // cycle), queues - 2)
    return total, rest + -(-ports[-1]["propagation_ps"] // 1_000)


@pytest.mark.parametrize("seed", range(60))
def test_delays_are_within_one_cycle_of_the_hops(seed: int, tmp_path: Path) -> None:
    text, cycle = _scenario(seed)
    plan = plan_of(text)
    run = run_of(plan, tmp_path)
    table = run.observations()
    tx = table.filter(pl.col("stage") == "tx").select("stream", "seq", "t_ns", "octets")
    rx = table.filter(pl.col("stage") == "rx").select("stream", "seq", rx_ns="t_ns")
    both = tx.join(rx, on=["stream", "seq"])
    queues = text.count(",", text.index("classes:"), text.index("]", text.index("classes:"))) + 1
    bounded = {flow["stream"]: flow["upper_ns"] for flow in bounds(plan)["flows"]}
    seen = 0
    for stream in plan.document["streams"]:
        if stream["name"] == "rest":
            continue
        total, rest = _cycles(plan.document, stream, cycle, queues)
        own = both.filter(pl.col("stream") == stream["name"])
        seen += len(own)
        # The delay counts from the last bit at the first bridge; the stamp is taken at the eighth octet.
        first = stream["route"][0]["port"]
        link = plan.document["ports"][first]["propagation_ps"] // 1_000
        delays = own.select(pl.col("rx_ns") - pl.col("t_ns") - pl.col("octets") * 8 - link).to_series()
        assert len(own) > 20
        assert delays.min() > (total - 1) * cycle, stream["name"]
        assert delays.max() < (total + 1) * cycle + rest, stream["name"]
        stamped = own.select(pl.col("rx_ns") - pl.col("t_ns")).to_series()
        if bounded[stream["name"]] is not None:
            assert stamped.max() <= bounded[stream["name"]]
            wire = own["octets"].max() * 8 + link
            assert bounded[stream["name"]] <= (total + 1) * cycle + rest + wire + 2
    assert seen > 20
    # Frames with these delays are in time, so no port counts a late frame.
    late = [own.get("late_frames", 0) for port in run.counters["ports"] for own in port["classes"]]
    assert sum(late) == 0


def test_many_random_streams_have_bounds() -> None:
    found = 0
    for seed in range(60):
        flows = bounds(plan_of(_scenario(seed)[0]))["flows"]
        found += sum(flow["upper_ns"] is not None for flow in flows if flow["stream"] != "rest")
    assert found > 40


def _with_gaps(seed: int) -> str:
    """A line of bridges, some of whose ports have no cyclic queues, with a cycle that is planned."""
    draw = random.Random(seed)
    bridges = draw.randint(3, 6)
    names = [f"b{number}" for number in range(bridges)]
    cyclic = [name for name in names if draw.random() < 0.6] or names[:1]
    between = [f"{one} -- {other}" for one, other in pairwise(names)]
    stations = [f"s{number}" for number in range(4)]
    between += [f"{name} -- b{draw.randrange(bridges)}" for name in stations]
    lines = [f"name: gaps-{seed}", "duration: 8 ms", f"seed: {seed}", "network:"]
    lines += [f"  stations: [{', '.join(stations)}]", "  bridges:"]
    lines += [f"    {name}: {{processing: {draw.choice([0, 1_300])} ns}}" for name in names]
    lines += [f"  links: {{rate: 1 Gbit/s, cable: 10 m, between: [{', '.join(between)}]}}", "streams:"]
    for number in range(draw.randint(1, 5)):
        a, b = draw.sample(stations, 2)
        lines.append(
            f"  c{number}: {{from: {a}, to: {b}, pcp: 2, period: {draw.choice([50, 100, 200])} us, "
            f"jitter: {draw.choice([0, 20])} us, frame: {draw.randint(64, 600)} B}}"
        )
    a, b = draw.sample(stations, 2)
    lines += [f"  rest: {{from: {a}, to: {b}, pcp: 0, saturating: true, frame: 400 B}}", "shapers:"]
    lines += [f"  {name} -> all: {{cqf: {{cycle: plan, pcp: [2], classes: [7, 6]}}}}" for name in cyclic]
    return "\n".join(lines) + "\n"


def test_no_frame_is_late_in_a_planned_cycle_behind_ports_without_one(tmp_path: Path) -> None:
    made = 0
    for seed in range(60):
        try:
            plan = plan_of(_with_gaps(seed))
        except PlanningErrors:
            continue
        made += 1
        run = plan.run(on=Simulation(), into=tmp_path / f"run-{seed}")
        late = [own.get("late_frames", 0) for port in run.counters["ports"] for own in port["classes"]]
        assert sum(late) == 0, seed
        for stream in run.counters["streams"]:
            assert stream["name"] == "rest" or stream["dropped_in_network"] == 0, seed
    assert made > 30


def test_overload_is_counted(tmp_path: Path) -> None:
    text = """\
name: overload
duration: 10 ms
network:
  stations: [a, b]
  bridges: {sw: {processing: 1 us}}
  links: {rate: 1 Gbit/s, between: [a -- sw, sw -- b]}
streams:
  s: {from: a, to: b, pcp: 6, period: 10 us, frame: 1000 B}
shapers:
  sw -> b: {cqf: {cycle: 100 us, pcp: [6], classes: [7, 6], octets: 5000 B}}
"""
    run = run_of(plan_of(text), tmp_path)
    counted = run.counters["policing"][0]["filters"][0]
    # Ten frames of 978 octets between type and FCS arrive per cycle; five of them fit.
    assert counted["matching_frames"] == 1000
    assert counted["not_passing_frames"] == 500
    assert run.counters["streams"][0]["dropped_in_network"] == 500


def test_what_does_not_fit_waits_for_a_full_queue() -> None:
    text = """\
name: full
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [sw]
  links: {rate: 1 Gbit/s, between: [a -- sw, b -- sw, sw -- c]}
streams:
  s: {from: a, to: c, pcp: 6, period: 20 us, frame: 1000 B}
  t: {from: b, to: c, pcp: 6, period: PERIOD us, frame: 1000 B}
shapers:
  sw -> c: {cqf: {cycle: 100 us, pcp: [6], classes: [7, 6]}}
"""
    # 5 and 5 frames in a turn fit, and leave with its window. Of 5 and 8 a window sends 12.
    for period, least, most in (("20", 100_000, 200_000), ("13", 16_600_000, 17_000_000)):
        flows = bounds(plan_of(text.replace("PERIOD", period)))["flows"]
        assert all(least < (flow["upper_ns"] or 0) < most for flow in flows), flows
        assert all((flow["loss_reason"] is None) is (period == "20") for flow in flows), flows


def test_a_slow_link_needs_more_queues(tmp_path: Path) -> None:
    text = """\
name: slow
duration: 10 ms
network:
  stations: [a, b]
  bridges: [sw1, sw2]
  links:
    - {rate: 1 Gbit/s, between: [a -- sw1, sw2 -- b]}
    - {rate: 1 Gbit/s, cable: 30 km, between: [sw1 -- sw2]}
streams:
  s: {from: a, to: b, pcp: 6, period: 1 ms, frame: 1000 B}
shapers:
  sw1 -> all: {cqf: {cycle: 125 us, pcp: [6], classes: CLASSES}}
  sw2 -> all: {cqf: {cycle: 125 us, pcp: [6], classes: CLASSES}}
"""
    with pytest.raises(PlanningErrors, match=r"a cycle longer than 150\.001 us, the delay of link"):
        plan_of(text.replace("CLASSES", "[7, 6]"))
    run = run_of(plan_of(text.replace("CLASSES", "[7, 6, 5, 4]")), tmp_path)
    table = run.observations().filter(pl.col("stage") == "rx").sort("seq")
    # The frame is sent in cycle 1, is on the cable until cycle 2 or 3, and is sent in cycle 4 of 125 us.
    assert len(table) == 10
    first = table["t_ns"][0]
    assert 500_000 < first < 625_000
