"""Plans as networks of Saihu: servers of ports and classes, token buckets, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exports.plans import rich
from support.planned import document_of, plan_of
from tsnbench.exports import export
from tsnbench.exports.saihu.importing import scenario
from tsnbench.plan.bounds import bounds
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

HEAD = """\
name: x
duration: 20 ms
network:
  stations: [a, b, c]
  bridges: {s: {processing: 3 us}}
  queues: {classes: {3: 2, 2: 1, 0: 0}}
  rate: 100 Mbit/s
  links: [a -- s, b -- s, {between: s -- c, cable: 200 m}]
streams:
"""


def made(streams: str, more: str = "") -> tuple[dict[str, Any], list[str]]:
    """The file of streams, and the notes."""
    lines = "".join(f"  {line}\n" for line in streams.strip().splitlines())
    done = export(document_of(HEAD + lines + more), ["saihu"])
    text = done.files.get("saihu/network.json", "{}")
    return json.loads(text), [str(note) for note in done.notes]


def servers(network: dict[str, Any]) -> dict[str, tuple[float, int, int]]:
    """Latency in ns, rate and capacity by name."""
    return {
        one["name"]: (
            one["service_curve"]["latencies"][0], one["service_curve"]["rates"][0], one["capacity"]
        )
        for one in network["servers"]
    }  # fmt: skip


def test_one_class_is_the_link() -> None:
    """The bridge takes 3 us, the last cable 1 us; a server without latency keeps its part of the curve."""
    network, notes = made(
        "x: {from: a, to: c, pcp: 3, period: 1 ms, jitter: 250 us, phy: 1000 B}\n"
        "y: {from: b, to: c, pcp: 3, arrivals: {burst: 3 kB, rate: 5 Mbit/s}, phy: 500 B}"
    )
    assert servers(network) == {
        "a -> s": (3000, 10**8, 10**8),
        "b -> s": (3000, 10**8, 10**8),
        "s -> c": (1000, 10**8, 10**8),
    }
    assert [
        (one["name"], one["path"], one["arrival_curve"], one["max_packet_length"]) for one in network["flows"]
    ] == [
        ("x", ["a -> s", "s -> c"], {"bursts": [1250], "rates": [8_000_000]}, 1000),
        ("y", ["b -> s", "s -> c"], {"bursts": [3000], "rates": [5_000_000]}, 500),
    ]
    assert notes == ["saihu: delays: they count from the release of a frame to its last bit at the listener"]


def test_the_highest_class_waits_for_the_longest_lower_frame() -> None:
    network, notes = made(
        "x: {from: a, to: c, pcp: 3, period: 1 ms, phy: 1000 B}\n"
        "y: {from: b, to: c, pcp: 2, period: 1 ms, phy: 1500 B}\n"
        "z: {from: b, to: c, pcp: 0, poisson: 1 Mbit/s, phy: 800 B}"
    )
    # 1,500 octets at 100 Mbit/s, and the cable.
    assert servers(network)["s -> c"] == (120_000 + 1000, 10**8, 10**8)
    assert [one["name"] for one in network["flows"]] == ["x"]
    assert notes[:2] == [
        "saihu: not exported: streams (z), because their releases are poisson, and Saihu has no such thing",
        "saihu: not exported: streams (y), because frames of higher classes go first at a port, and Saihu's "
        "servers have one class",
    ]


def test_a_stream_that_shares_a_queue_with_one_that_is_left_out_is_left_out() -> None:
    network, notes = made(
        "x: {from: a, to: c, pcp: 3, period: 1 ms, phy: 1000 B}\n"
        "y: {from: b, to: c, pcp: 3, saturating: true, phy: 1500 B}"
    )
    assert network == {}
    assert notes == [
        "saihu: not exported: streams (y), because their releases are saturating, and Saihu has no such "
        "thing",
        "saihu: not exported: streams (x), because they share a queue with y, which is not exported",
        "saihu: not exported: the network, because none of its streams can be written",
    ]


def test_shaped_classes_have_their_idle_slope_and_credit() -> None:
    """Class A: 20 Mbit/s after L / R, 121.44 us for the 1,518 octets that any frame has at most. Class B by
    its highest credit. Both beside saturating traffic of class 0, which is not written."""
    network, notes = made(
        "x: {from: a, to: c, pcp: 3, period: 1 ms, phy: 1000 B}\n"
        "y: {from: b, to: c, pcp: 2, period: 1 ms, phy: 1500 B}\n"
        "z: {from: b, to: c, pcp: 0, saturating: true, phy: 1538 B}",
        "shapers: {all: {cbs: {A: 20 Mbit/s, B: 30 Mbit/s}}}\n",
    )
    assert [one["name"] for one in network["flows"]] == ["x", "y"]
    document = document_of(HEAD + (
        "  x: {from: a, to: c, pcp: 3, period: 1 ms, phy: 1000 B}\n"
        "  y: {from: b, to: c, pcp: 2, period: 1 ms, phy: 1500 B}\n"
        "  z: {from: b, to: c, pcp: 0, saturating: true, phy: 1538 B}\n"
        "shapers: {all: {cbs: {A: 20 Mbit/s, B: 30 Mbit/s}}}\n"
    ))  # fmt: skip
    port = next(one for one in document["ports"] if one["name"] == "s -> c")
    for name, own in (("s -> c class 2", 2), ("s -> c class 1", 1)):
        cbs = port["classes"][own]["cbs"]
        latency = -(-cbs["hi_credit_bits"] * 10**9 // cbs["idle_slope_bps"]) + 1000
        assert servers(network)[name] == (latency, cbs["idle_slope_bps"], 10**8)
    assert [note for note in notes if "not exported" in note] == [
        "saihu: not exported: streams (z), because their releases are saturating, and Saihu has no such thing"
    ]


REFUSED = {
    "shapers: {s -> c: {gates: {entries: [{open: all, for: 1 ms}]}}}": "gates are on their path",
    "shapers: {s -> c: {preemption: {express: [3]}}}": "pre-emption is on their path",
    "shapers: {s -> c: {queues: {transmit-buffer: 3}}}": "a transmit buffer is on their path",
    "shapers: {s -> c: {ats: {pcp: [3]}}}": "filters are on their path",
    "clocks: {default: {drift: 10 ppm}}": "Saihu has one time for all nodes, and its clocks differ",
}


@pytest.mark.parametrize("more", REFUSED)
def test_what_no_server_describes_is_refused_with_its_reason(more: str) -> None:
    network, notes = made("x: {from: a, to: c, pcp: 3, period: 1 ms, phy: 1000 B}", f"{more}\n")
    assert network == {}
    assert REFUSED[more] in notes[0]


def test_frames_that_wait_for_a_varying_time_may_follow_each_other_at_once() -> None:
    """What leaves such a bridge may be faster than the link to it, which Saihu takes for the fastest."""
    head = HEAD.replace("processing: 3 us", "processing: {least: 0 us, most: 400 us}")
    done = export(document_of(head + "  x: {from: a, to: c, pcp: 3, period: 1 ms, phy: 1000 B}\n"), ["saihu"])
    assert list(done.files) == ["notes.txt"]
    assert "a node whose processing time varies is on their path" in str(done.notes[0])


def test_bounds_of_the_file_are_no_less_than_those_of_the_plan() -> None:
    """The file as a scenario, analysed by tsnbench: a server instead of each port and class."""
    streams = (
        "x: {from: a, to: c, pcp: 3, period: 1 ms, jitter: 100 us, phy: 1000 B}",
        "y: {from: b, to: c, pcp: 2, period: 1 ms, phy: 1500 B}",
        "w: {from: a, to: c, pcp: 3, period: 2 ms, phy: 300 B}",
        "z: {from: b, to: c, pcp: 0, saturating: true, phy: 1538 B}",
    )
    text = HEAD + "".join(f"  {line}\n" for line in streams)
    text += "shapers: {all: {cbs: {A: 20 Mbit/s, B: 30 Mbit/s}}}\n"
    first = plan_of(text)
    file = export(first.document, ["saihu"]).files["saihu/network.json"]
    (back,) = read_scenario(scenario("n.json", file), "back.yaml")
    ours = {one["stream"]: one["release_upper_ps"] for one in bounds(first)["flows"]}
    theirs = {one["stream"]: one["release_upper_ps"] for one in bounds(plan(back))["flows"]}
    assert set(theirs) == {"x", "y", "w"}
    for name, upper in theirs.items():
        own = ours[name]
        assert upper is not None
        assert own is not None
        assert own <= upper, name


def test_a_plan_with_everything_says_why_each_stream_is_left_out() -> None:
    document = rich()
    del document["clocks"]
    done = export(document, ["saihu"])
    assert list(done.files) == ["notes.txt"]
    reasons = {note.why.removesuffix(", and Saihu has no such thing"): note.places for note in done.notes}
    assert reasons == {
        "Saihu describes what is guaranteed without them": (),
        "gates are on their path": ("loop", "video"),
        "pre-emption is on their path": ("state",),
        "their releases are poisson": ("files",),
        "they have several paths": ("alarm",),
        "none of its streams can be written": (),
    }
