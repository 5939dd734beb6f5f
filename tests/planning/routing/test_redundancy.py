"""Streams with several paths, and faults: what the Plan says of them."""

from __future__ import annotations

import contextlib
import io
import random

from rich.console import Console

from support.planned import plan_of
from tsnbench.cli.console.plan_tables import print_plan
from tsnbench.errors import InputError
from tsnbench.plan.bounds import bounds
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.plan.load import class_loads
from tsnbench.planning import Plan, plan
from tsnbench.scenario import read_scenario

RING = """
name: ring
duration: 20 ms
network:
  rate: 1 Gbit/s
  ring: {nodes: 5, prefix: b}
  stations: [t, l]
  links: [t -- b1, l -- b3]
"""
DUAL = """
name: dual
duration: 20 ms
network:
  rate: 1 Gbit/s
  bridges: [b1, b2]
  stations: [t, l]
  links: [t -- b1, t -- b2, l -- b1, l -- b2]
"""
STREAM = "streams: {s: {from: t, to: l, pcp: 5, period: 100 us, frame: 1000 B, %s}}\n"


def planned(network: str, stream: str, rest: str = "") -> Plan:
    return plan_of(network + STREAM % stream + rest)


def test_streams_after_a_redundant_one_have_their_paths() -> None:
    streams = """streams:
  s: {from: t, to: l, pcp: 5, period: 100 us, frame: 1000 B, frer: {}}
  u: {from: l, to: t, pcp: 3, period: 100 us, frame: 100 B}
"""
    (scenario,) = read_scenario(RING + streams)
    document = plan(scenario).document
    (ordinary,) = [stream for stream in document["streams"] if stream["name"] == "u"]
    names = [document["ports"][hop["port"]]["name"] for hop in ordinary["route"]]
    assert names == ["l -> b3", "b3 -> b2", "b2 -> b1", "b1 -> t"]


def test_copies_count_their_tag() -> None:
    made = planned(RING, "frer: {}")
    loads = {
        port["name"]: sum(load.rate_bps for load in loads)
        for port, loads in zip(made.document["ports"], class_loads(made.document), strict=True)
    }
    assert (loads["t -> b1"], loads["b1 -> b2"], loads["b3 -> l"]) == (81_600_000, 82_080_000, 81_600_000)
    stream = made.document["streams"][0]
    assert smallest_delay_ns(made.document, stream, 0) == 8_000 + 2 * (8 + 1_006) * 8 + (8 + 1_000) * 8


def test_copies_and_faults_have_bounds() -> None:
    for made in (
        planned(RING, "count: 1", "faults: [{duplicate: 1 %, after: 20 us, on: t -> b1}]\n"),
        planned(RING, "frer: {}"),
        planned(RING, "count: 1", "faults: [{babble: s, every: 10 us}]\n"),
        planned(RING, "count: 1", "faults: [{loss: 1 %, on: t -> b1}]\n"),
    ):
        (flow,) = bounds(made)["flows"]
        assert flow["upper_ns"] is not None


def test_a_plan_prints_every_way_and_fault() -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    rest = "faults: [{down: b1 -> b2, at: 5 ms}, {loss: {to-bad: 1 %, to-good: 5 %}, on: b1 -> b5}]\n"
    print_plan(planned(RING, "frer: {}", rest), console)
    text = console.export_text()
    assert "t > b1 > b2 > b3 > l" in text
    assert "t > b1 > b5 > b4 > b3 > l" in text
    assert "link-down" in text
    assert "gilbert-elliott: to bad ppm 10000" in text


def test_whatever_is_cut_or_changed_is_refused_or_planned() -> None:
    rest = (
        "faults: [{down: b1 -> b2, at: 5 ms, for: 1 ms}, {loss: {to-bad: 1 %, to-good: 5 %}, on: b1 -> b5}]\n"
    )
    for stream in (
        "frer: {disjoint: 2, at: b3, latent-errors: {}}",
        "failover: {path: [b1, b5, b4, b3], after: 1 ms}",
    ):
        text = RING + STREAM % stream + rest
        draws = random.Random(stream)
        for _ in range(300):
            place = draws.randrange(len(RING), len(text))
            end = place + draws.randrange(3)
            with contextlib.suppress(InputError):
                plan_of(text[:place] + draws.choice("0-:,{}[]#b19 ") + text[end:])
