"""The classes that streams cross are the same with and without the lists of their streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shipped import SCENARIOS
from tsnbench.plan.frames import sizes
from tsnbench.plan.streams.facts import Facts
from tsnbench.planning import plan
from tsnbench.scenario import load_variants
from tsnbench.scenario.model import Scenario

GATED = [path for path in SCENARIOS if "gate" in path.read_text() or "scheduled" in path.read_text()]
HAND = """\
name: hand
duration: 10 ms
network:
  stations: [a, b, c]
  bridge s: {}
  links: {rate: 100 Mbit/s, between: [a -- s, b -- s, c -- s]}
GATES
streams:
  x: {from: a, to: [b, c], pcp: 5, period: 1 ms, frame: 200 B}
  y: {from: b, to: c, pcp: 3, period: 1 ms, frame: 300 B}
"""
GATES = "shapers: {s -> c: {gates: {entries: [{open: all, for: 1 ms}]}}}"


@pytest.mark.parametrize("path", GATED, ids=lambda path: path.stem)
def test_the_classes_of_a_shipped_scenario(path: Path) -> None:
    check(load_variants(path)[0])


def check(scenario: Scenario) -> Facts:
    made = plan(scenario)
    facts = Facts(made.document)
    assert facts.crossed == list(facts.crossing)
    largest = max(sizes(stream["size"]).largest for stream in made.document["streams"])
    assert largest <= facts.most
    for number, traffic_class in facts.crossed:
        assert facts.greatest(number, traffic_class) <= facts.most
    return facts


def test_ports_and_classes_by_hand(tmp_path: Path) -> None:
    """The ports are a-s 0 and 1, b-s 2 and 3, c-s 4 and 5. By default a PCP has the class of its number."""
    found = {}
    for gates in (GATES, "# none"):
        (tmp_path / "hand.yaml").write_text(HAND.replace("GATES", gates))
        found[gates] = check(load_variants(tmp_path / "hand.yaml")[0])
    assert found[GATES].crossed == [(0, 5), (2, 3), (3, 5), (5, 3), (5, 5)]
    assert found["# none"].crossed == []


def test_frames_whose_queue_a_stream_gate_chooses_cross_no_class(tmp_path: Path) -> None:
    """Gates of ports may hold them, but not by their priority."""
    rule = "policing: [{at: a -> s, gate: {entries: [{for: 1 ms, ipv: 6}]}}]"
    (tmp_path / "hand.yaml").write_text(HAND.replace("GATES", f"{GATES}\n{rule}"))
    facts = check(load_variants(tmp_path / "hand.yaml")[0])
    assert facts.crossed == [(0, 5), (2, 3), (5, 3)]


def test_member_streams_have_a_tag_where_they_are_apart(tmp_path: Path) -> None:
    """Over two links to the bridge, which eliminates the second copy."""
    text = HAND.replace("[a -- s, b", "[a -- s, a -- s, b").replace("to: [b, c], pcp", "to: c, frer: {}, pcp")
    (tmp_path / "hand.yaml").write_text(text.replace("GATES", GATES))
    facts = check(load_variants(tmp_path / "hand.yaml")[0])
    names = [port["name"] for port in facts.document["ports"]]
    tags = {(names[port], number): [tag for _, tag in own] for (port, number), own in facts.crossing.items()}
    assert tags == {
        ("a -> s #1", 5): [6],
        ("a -> s #2", 5): [6],
        ("b -> s", 3): [0],
        ("s -> c", 3): [0],
        ("s -> c", 5): [0],
    }


def test_some_shipped_scenarios_police() -> None:
    assert any("policing" in plan(load_variants(path)[0]).document for path in GATED)
