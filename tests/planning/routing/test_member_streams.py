"""Copies that part anywhere and meet anywhere: several listeners, ladders, and what a run of them loses."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from support.planned import plan_of, refusal_text, run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.planning import Plan, PlanningErrors

RING = """
name: ring
duration: 10 ms
network:
  rate: 1 Gbit/s
  ring: {nodes: 5, prefix: b}
  stations: [t, l, m]
  links: [t -- b1, l -- b3, m -- b4]
streams: {s: {from: t, to: [l, m], pcp: 5, period: 100 us, frame: 1000 B, frer: %s}}
"""
LADDER = """
name: ladder
duration: 10 ms
network:
  rate: 1 Gbit/s
  bridges: [a1, a2, a3, b1, b2, b3]
  hosts: [t, l]
  links: [t -- a1, t -- b1, a1 -- a2, a2 -- a3, b1 -- b2, b2 -- b3, a2 -- b2, a3 -- l, b3 -- l]
streams:
  s:
    {from: t, to: l, pcp: 5, period: 100 us, frame: 1000 B, frer: {at: [a2, b2], paths: [
    [a1, a2, a3], [b1, b2, b3], [a1, a2, b2, b3], [b1, b2, a2, a3]]%s}}
"""


def planned(text: str, faults: str = "") -> Plan:
    return plan_of(text + (f"faults: [{faults}]\n" if faults else ""))


def counts(made: Plan, folder: Path) -> list[tuple[int, int, int]]:
    """Per listener: sent, received, received twice."""
    run = made.run(on=Simulation(), into=folder)
    found = [path["count"] for path in run.measures()["paths"]]
    return [(count["sent"], count["received"], count["duplicate"]) for count in found]


def named(made: Plan) -> list[tuple[str, int]]:
    """(port, copy) of every entry of the first stream's route."""
    stream, ports = made.document["streams"][0], made.document["ports"]
    copies = stream["redundancy"]["copies"]
    return [(ports[hop["port"]]["name"], copy) for hop, copy in zip(stream["route"], copies, strict=True)]


def test_copies_for_two_listeners_share_what_they_can() -> None:
    made = planned(RING % "{}")
    assert named(made) == [
        ("t -> b1", 0),
        ("b1 -> b2", 1),
        ("b2 -> b3", 1),
        ("b1 -> b5", 2),
        ("b5 -> b4", 2),
        ("b3 -> l", 0),
        ("b4 -> b3", 2),
        ("b4 -> m", 0),
        ("b3 -> b4", 2),
    ]
    stream = made.document["streams"][0]
    ports = made.document["ports"]
    assert len(stream["redundancy"]["merges"]) == 2
    for merge in stream["redundancy"]["merges"]:
        ends = {ports[ports[stream["route"][entry]["port"]]["peer"]]["node"] for entry in merge["from"]}
        assert len(ends) == 1


@pytest.mark.parametrize("cut", ["b1 -> b2", "b2 -> b3", "b3 -> b4", "b4 -> b5", "b5 -> b1"])
def test_a_ring_with_one_cut_loses_nothing_for_either_listener(cut: str, tmp_path: Path) -> None:
    made = planned(RING % "{}", f"{{down: {cut}, at: 3 ms, for: 4 ms}}")
    assert counts(made, tmp_path / "run") == [(100, 100, 0), (100, 100, 0)]


def test_two_cuts_of_a_ring_take_what_they_must(tmp_path: Path) -> None:
    """l is cut off, m is not. Of 40 missing numbers a history of 32 knows nothing: what follows is rogue
    until the reset."""
    for number, (frer, span, left) in enumerate([("{}", 2, 80), ("{}", 4, 30), ("{reset: 2 ms}", 4, 60)]):
        cuts = (f"{{down: {link}, at: 3 ms, for: {span} ms}}" for link in ("b2 -> b3", "b3 -> b4"))
        made = planned(RING % frer, ", ".join(cuts))
        assert counts(made, tmp_path / str(number)) == [(100, left, 0), (100, 100, 0)]


def test_a_ladder_survives_what_two_ways_alone_do_not(tmp_path: Path) -> None:
    """One cut on either side of the rung: the paths without it are both broken, the ladder is not."""
    cuts = "{down: a1 -> a2, at: 3 ms}, {down: b2 -> b3, at: 3 ms}"
    plain = LADDER.replace("at: [a2, b2], ", "").replace(", [a1, a2, b2, b3], [b1, b2, a2, a3]", "") % ""
    assert counts(planned(plain, cuts), tmp_path / "plain") == [(100, 30, 0)]
    assert counts(planned(LADDER % "", cuts), tmp_path / "ladder") == [(100, 100, 0)]


def test_a_ladder_survives_every_pair_of_cuts_that_leaves_a_way(tmp_path: Path) -> None:
    every = "t -> a1, a1 -> a2, a2 -> a3, a3 -> l", "t -> b1, b1 -> b2, b2 -> b3, b3 -> l"
    every += (
        "t -> a1, a1 -> a2, a2 -> b2, b2 -> b3, b3 -> l",
        "t -> b1, b1 -> b2, a2 -> b2, a2 -> a3, a3 -> l",
    )
    paths = [set(path.split(", ")) for path in every]
    pairs = list(itertools.combinations(sorted(set().union(*paths)), 2))
    for number, pair in enumerate(random.Random(5).sample(pairs, 18)):
        made = planned(LADDER % "", ", ".join(f"{{down: {link}, at: 3 ms}}" for link in pair))
        whole = any(not path & set(pair) for path in paths)
        assert counts(made, tmp_path / str(number)) == [(100, 100 if whole else 30, 0)], pair


def test_a_ladder_beside_cut_through_is_as_fast_as_its_smallest_delay(tmp_path: Path) -> None:
    own = "{forwarding: {mode: cut-through, after: 100 B}}"
    cutting = "{" + ", ".join(f"{name}: {own}" for name in ("a1", "a2", "a3", "b1", "b2", "b3")) + "}"
    made = planned((LADDER % "").replace("[a1, a2, a3, b1, b2, b3]", cutting, 1))
    run = run_of(made, tmp_path)
    found: dict[str, Any] = run.measures()["paths"][0]
    assert found["delay"]["min"] == smallest_delay_ns(made.document, made.document["streams"][0], 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ((LADDER % "").replace("at: [a2, b2]", "at: [t, b2]"), "nodes where paths meet"),
        ((RING % "{}").replace("ring: {", "line: {"), "2 disjoint paths to l, found one at most"),
        (RING % "{paths: [[b1, b2, b3, l], [b1, b5, b4, b3, l]]}", "a path to m"),
        (LADDER % ", recovery: match", "paths that meet go in a circle"),
    ],
)
def test_slips(text: str, said: str) -> None:
    assert said in refusal_text(text)


def test_streams_that_an_identification_cannot_tell_apart_are_refused() -> None:
    """They would share one recovery function, and lose frames to each other's numbers."""
    other = "  o: {from: t, to: m, pcp: 3, period: 1 ms, frame: 200 B}\n"
    text = (RING % "{}").replace("streams: {s: {", "streams:\n  s: {").replace("frer: {}}}", "frer: {}}")
    planned(text + other)
    by_source = text.replace("frer: {}", "frer: {identification: source-mac}")
    planned(by_source)
    planned(by_source + other.replace("pcp: 3", "pcp: 3, vlan: 200"))
    planned(by_source + other.replace("from: t", "from: l"))
    with pytest.raises(PlanningErrors, match=r"source-mac .* cannot tell s and o apart"):
        planned(by_source + other)
    planned(text.replace("frer: {}", "frer: {identification: ip}") + other)


@pytest.mark.parametrize(
    ("other", "chosen"),
    [
        ("from: t, to: m", "null"),
        ("from: t, to: l", "ip"),
        ("from: m, to: l", "source-mac"),
        ("from: m, to: l, vlan: 7", "null"),
    ],
)
def test_the_first_identification_that_tells_streams_apart_is_taken(other: str, chosen: str) -> None:
    text = (RING % "{}").replace("to: [l, m]", "to: l").replace("streams: {s: {", "streams:\n  s: {")
    made = planned(
        text.replace("frer: {}}}", "frer: {}}") + f"  o: {{{other}, period: 1 ms, frame: 200 B}}\n"
    )
    assert made.document["streams"][0]["redundancy"]["recovery"]["identification"] == chosen


@pytest.mark.parametrize("individual", [False, True])
def test_intermediate_meetings_hold_back_what_one_way_repeats(individual: bool, tmp_path: Path) -> None:
    """A link that doubles every frame: the path's own function tells, where it meets others half-way."""
    doubled = "{duplicate: 100 %, on: a1 -> a2, after: 10 us}"
    made = planned(LADDER % f", individual: {str(individual).lower()}", doubled)
    folder = tmp_path / "run"
    assert counts(made, folder) == [(100, 100, 0)]
    found = {
        own["node"]: (own["passed"], own["discarded"], own["individual"], own["rogue"])
        for own in json.loads((folder / "counters.json").read_text(encoding="utf-8"))["recoveries"]
    }
    held = 100 if individual else 0
    # At a2 the second of each pair, and the copy from the other side; at b2 the copy from a2.
    assert found == {"a2": (100, 200, held, 0), "b2": (100, 100, 0, 0), "l": (100, 100, 0, 0)}
