"""Policing and shaping with all other mechanisms, from the scenario to the counters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.planned import plan_of, run_of
from tsnbench.planning.errors import PlanningErrors

NETWORK = """\
name: ring
duration: 20 ms
network:
  stations: [a, b]
  bridges: {s1: {processing: 1 us}, s2: {processing: 2 us}, s3: {processing: 3 us}, s4: {}}
  links: {rate: 1 Gbit/s, between: [a -- s1, s1 -- s2, s2 -- s4, s1 -- s3, s3 -- s4, s4 -- b]}
streams:
  plain: {from: a, to: b, period: 250 us, frame: 600 B, pcp: 3}
"""
FRER = "  twice: {from: a, to: b, period: 100 us, frame: 500 B, pcp: 5, frer: {disjoint: 2}}\n"
METER = "policing: [{at: all, meter: {cir: 30 Mbit/s, cbs: 3 kB}, max-sdu: 1500 B}]\n"


def _counters(text: str, folder: Path) -> dict[str, Any]:
    counters: dict[str, Any] = run_of(plan_of(text), folder).counters
    made = sum(stream["released"] + stream["replicated"] for stream in counters["streams"])
    gone = counters["in_network_at_end"]
    for stream in counters["streams"]:
        gone += stream["dropped_at_talker"] + stream["dropped_in_network"] + sum(stream["delivered"].values())
        gone += stream.get("lost_to_faults", 0) + stream.get("eliminated", 0)
    assert made == gone
    return counters


def test_member_streams_are_policed_before_they_merge(tmp_path: Path) -> None:
    counters = _counters(NETWORK + FRER + METER, tmp_path)
    twice = next(stream for stream in counters["streams"] if stream["name"] == "twice")
    assert twice["dropped_in_network"] > 0
    assert twice["eliminated"] > 0


def test_shaping_beside_redundancy_and_faults(tmp_path: Path) -> None:
    shapers = "shapers: {s1 -> all: {ats: {pcp: [5, 3]}}, s4 -> all: {ats: {pcp: [5, 3]}}}\n"
    faults = "faults: [{down: s1 -> s2, at: 5 ms, for: 5 ms}, {loss: 5 %, on: a -> s1}]\n"
    counters = _counters(NETWORK + FRER + shapers + faults, tmp_path)
    assert {node["node"] for node in counters["policing"]} == {"s1", "s4"}
    for stream in counters["streams"]:
        assert sum(stream["delivered"].values()) > 0


def test_a_meter_beside_a_shaper(tmp_path: Path) -> None:
    """The meter of an earlier filter also applies to a stream that is shaped."""
    shapers = "shapers: {s1 -> all: {ats: {pcp: [3]}}}\n"
    policing = "policing: [{at: a -> s1, streams: [plain], meter: {cir: 9.6 Mbit/s, cbs: 600 B}}]\n"
    counters = _counters(NETWORK + shapers + policing, tmp_path)
    (filters,) = [node["filters"] for node in counters["policing"]]
    assert [one["filter"] for one in filters] == ["plain"]
    # 19.2 Mbit/s arrive; half of them pass.
    assert filters[0]["red_frames"] == 40


def test_without_filters_a_bridge_cuts_through_and_with_them_it_stores(tmp_path: Path) -> None:
    text = NETWORK.replace("s4: {}", "s4: {forwarding: {mode: cut-through, after: 64 B}}")
    counters = _counters(text + METER, tmp_path)
    assert counters["streams"][0]["delivered"]["b"] == 80


@pytest.mark.parametrize(
    ("shaper", "words"),
    [
        ("all: {cqf: {cycle: 100 us, pcp: [3], classes: [7, 6]}}", "a talker whose own port has no cqf"),
        (
            "s1 -> all: {cqf: {cycle: 100 us, pcp: [5], classes: [3, 2]}}",
            "no other stream in the cyclic queues",
        ),
        ("s1 -> all: {ats: {pcp: [3], burst: 100 B}}", "at least 620 B"),
    ],
)
def test_what_cannot_be_planned_is_refused(shaper: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(PlanningErrors, match=words):
        plan_of(NETWORK + f"shapers: {{{shaper}}}\n")
