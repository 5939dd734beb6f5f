"""Gates that follow: what they let through does not wait at the gates that they follow."""

from __future__ import annotations

import math
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.planned import frames_of, problems_of
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.planning import plan
from tsnbench.scenario import load, model, read_scenario

LINE = """\
name: followers
duration: {duration}
network:
  stations: [talker, listener]
  bridges: {{b1: {{{forwarding}processing: {processing} ns}}, b2: {{processing: 300 ns}}}}
  links:
    - {{rate: {first}, cable: {cable} m, between: talker -- b1}}
    - {{rate: {second}, cable: 3 m, between: b1 -- b2}}
    - {{rate: 1 Gbit/s, between: b2 -- listener}}
streams:
  s: {{from: talker, to: listener, pcp: 6, period: {period} us, jitter: 50 us, frame: {frame} B}}
shapers:
  b2 -> listener: {{gates: {{base-time: {base} ns, entries: [{entries}]}}}}
  talker -> b1: {{gates: {{follow: {follow}, margin: {margin} ns}}}}
{more}
"""


CUT = "forwarding: {mode: cut-through, after: 100 B}, "


def made(**changes: Any) -> model.Scenario:
    values = {
        "duration": "10 ms", "processing": 700, "first": "1 Gbit/s", "second": "1 Gbit/s", "cable": 1,
        "period": 33, "frame": 500, "base": 0, "entries": "{open: [6], for: 20 us}, {open: [0], for: 80 us}",
        "follow": "b2 -> listener", "margin": 0, "more": "", "forwarding": "",
    }  # fmt: skip
    (scenario,) = read_scenario(LINE.format(**values | changes), "followers.yaml")
    return scenario


def problems(scenario: model.Scenario) -> list[tuple[str, str]]:
    return [(problem.path, problem.found) for problem in problems_of(scenario)]


def gates(scenario: model.Scenario, name: str) -> dict[str, Any]:
    document = plan(scenario).document
    return next(port["gates"] for port in document["ports"] if port["name"] == name)


def delays(scenario: model.Scenario) -> tuple[pl.Series, int]:
    """Delays of all frames that arrived, and the smallest that one could have; in ns."""
    planned = plan(scenario)
    with tempfile.TemporaryDirectory() as folder:
        frames = frames_of(planned.run(on=Simulation(), into=Path(folder) / "run"))
    document = planned.document
    return frames["delay"], smallest_delay_ns(document, document["streams"][0], 0)


entries = st.lists(
    st.tuples(st.sampled_from(["[6]", "[6, 0]", "[0]", "none", "all"]), st.integers(1, 90)),
    min_size=1,
    max_size=6,
).map(lambda every: ", ".join(f"{{open: {what}, for: {us} us}}" for what, us in [("[6]", 60), *every]))


@examples(0.4)
@given(
    entries=entries,
    base=st.integers(0, 10**6),
    processing=st.integers(0, 20_000),
    first=st.sampled_from(["100 Mbit/s", "1 Gbit/s"]),
    cable=st.integers(0, 1000),
    period=st.integers(20, 300),
    frame=st.integers(64, 600),
    margin=st.integers(0, 200),
    forwarding=st.sampled_from(["", CUT]),
)
def test_what_is_let_through_never_waits(**values: Any) -> None:
    """Over two bridges, the first link as fast as the others or slower, whatever list is followed."""
    found, smallest = delays(made(**values))
    assert len(found) > 10
    # A stamp is a whole ns; times on the wire are not.
    assert set(found) <= {smallest, smallest + 1}


def test_a_processing_time_that_varies_is_waited_for() -> None:
    """Opened for the least processing time, closed for the greatest: 5.064 us and 8.064 us of the path."""
    text = """\
name: followers
duration: 20 ms
network:
  stations: [talker, listener]
  links: {rate: 1 Gbit/s, between: [talker -- b, b -- listener]}
  NODES
streams:
  s: {from: talker, to: listener, pcp: 6, period: 33 us, frame: 500 B}
shapers:
  b -> listener: {gates: {entries: [{open: [6], for: 20 us}, {open: [0], for: 80 us}]}}
  talker -> b: {gates: {follow: b -> listener}}
"""
    for nodes in (
        "bridges: {b: {processing: {least: 1 us, most: 4 us}}}",
        "hosts: [b]\nhosts:\n  b: {kernel-rx: {from: 300 ns, to: 3300 ns}, qdisc: 500 ns, driver: 200 ns}",
    ):
        (scenario,) = read_scenario(text.replace("NODES", nodes), "followers.yaml")
        # 4.064 us to the last bit in; 20 us less two transmissions and 4 us.
        intervals = [entry["interval_ns"] for entry in gates(scenario, "talker -> b")["entries"]]
        assert intervals == [11_936, 83_000, 5_064]
        found, _ = delays(scenario)
        # Two transmissions less a preamble, and 1 us to 4 us between them: nothing at the gate.
        assert set(found) <= set(range(9_064, 12_066))
        assert found.max() > 11_500


def test_without_following_they_wait() -> None:
    """The property above is worth something: the same frames wait at a gate that nobody follows."""
    free = made()
    shapers = {name: shaper for name, shaper in free.shapers.items() if name != "talker -> b1"}
    found, smallest = delays(free.model_copy(update={"shapers": shapers}))
    assert (found > smallest + 1_000).mean() > 0.5


@pytest.mark.parametrize("frame", [500, 1000])
@pytest.mark.parametrize("margin", [0, 250])
def test_the_shift_is_the_path(frame: int, margin: int) -> None:
    """Two transmissions, two cables, two bridges: 4 m at 5 ns, 0.7 and 0.3 us."""
    path = 2 * 8 * (8 + frame) + 20 + 700 + 300
    opens, closes = 100_000 - path + margin, 120_000 - path - margin
    assert closes > 100_000 or frame == 1000
    entries = gates(made(frame=frame, margin=margin), "talker -> b1")["entries"]
    edges = []
    at = 0
    for entry in entries:
        edges.append((at, bool(entry["open"] >> 6 & 1)))
        at += entry["interval_ns"]
    assert at == 100_000
    expected = {(opens % 100_000, True), (closes % 100_000, False)}
    assert expected <= set(edges)
    assert len(set(edges) - expected) <= 1  # the cycle's own beginning


def test_what_is_no_whole_ns_is_rounded_inwards() -> None:
    """At 700 Mbit/s a frame of 500 B takes 5805 5/7 ns: open at the next ns, closed at the last."""
    first, last = Fraction(8 * 508 * 10, 7) + 4064 + 1_020, 2 * 4064 + 1_020
    edges = edges_of(gates(made(first="700 Mbit/s"), "talker -> b1"))
    assert {math.ceil(100_000 - first), 120_000 - last - 100_000} <= edges


def test_a_chain_accumulates_the_shift() -> None:
    """Whoever follows a port that itself follows the last one gets what it would get from the last one."""
    chained = made(follow="b1 -> b2", more="  b1 -> b2: {gates: {follow: b2 -> listener}}")
    assert gates(chained, "talker -> b1") == gates(made(), "talker -> b1")


def test_a_gate_that_never_closes_is_followed_by_one_that_never_does() -> None:
    followed = gates(made(entries="{open: [6], for: 20 us}, {open: [6, 0], for: 80 us}"), "talker -> b1")
    assert followed["entries"] == [{"open": 0b1111_1111, "interval_ns": 100_000}]


def test_cut_through_shortens_the_shift() -> None:
    scenario = made(forwarding=CUT, entries="{open: [6], for: 60 us}, {open: [0], for: 40 us}")
    found, smallest = delays(scenario)
    assert set(found) == {smallest}
    path = 8 * (8 + 100) + 8 * (8 + 500) + 20 + 700 + 300
    assert 100_000 - path in edges_of(gates(scenario, "talker -> b1"))


def edges_of(written: dict[str, Any]) -> set[int]:
    edges, at = set(), 0
    for entry in written["entries"]:
        edges.add(at)
        at += entry["interval_ns"]
    return edges


def test_streams_that_go_elsewhere_are_not_held_back() -> None:
    planned = plan(load(Path(__file__).parents[2] / "plans/followers.yaml")).document
    mixed = next(port for port in planned["ports"] if port["name"] == "mixed -> far")
    best_effort = mixed["pcp_to_class"][0]
    assert all(entry["open"] >> best_effort & 1 for entry in mixed["gates"]["entries"])


REDUNDANT = """\
name: followers
duration: 10 ms
network:
  stations: [talker, listener]
  bridges: {split: {}, short: {}, long1: {processing: 2 us}, long2: {}, join: {}}
  rate: 1 Gbit/s
  links: [talker-split, split-short, short-join, split-long1, long1-long2, long2-join, join-listener]
streams:
  s: {from: talker, to: listener, pcp: 6, period: 97 us, frame: 300 B, frer: {paths: PATHS}}
shapers:
  join -> listener: {gates: {entries: [{open: [6], for: 60 us}, {open: [0], for: 40 us}]}}
  talker -> split: {gates: {follow: join -> listener}}
"""
SHORT, LONG = "[split, short, join]", "[split, long1, long2, join]"


def test_copies_on_ways_of_different_lengths_are_in_time_on_both() -> None:
    """What both ways allow, and nothing else: the R-TAG's 6 octets count where copies carry it."""
    (scenario,) = read_scenario(REDUNDANT.replace("PATHS", f"[{SHORT}, {LONG}]"), "redundant.yaml")
    plain, tagged = 8 * (8 + 300), 8 * (8 + 306)
    short, long = plain + 2 * tagged, plain + 3 * tagged + 2_000
    edges = edges_of(gates(scenario, "talker -> split"))
    assert {100_000 - short, 60_000 - long} <= edges
    found, smallest = delays(scenario)
    assert set(found) == {smallest}
