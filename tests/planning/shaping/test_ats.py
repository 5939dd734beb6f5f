"""Schedulers of asynchronous traffic shaping, worked out by hand. IEEE 802.1Q-2022, 8.6.11.

1250 octets on the wire are 10,000 bit: every 100 us they have 100 Mbit/s, every 70 us 142,857,142.9 bit/s.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import refusal_text
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: asynchronous
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [s1, s2]
  links: {rate: 1 Gbit/s, between: [a-s1, c-s1, s1-s2, s2-b]}
  queues: {classes: {5: 2, 4: 1, 0: 0}}
streams:
  even: {from: a, to: b, pcp: 5, phy: 1250 B, period: 100 us}
  late: {from: a, to: b, pcp: 5, phy: 1250 B, period: 70 us, jitter: 10 us}
  other: {from: c, to: b, pcp: 5, phy: 1250 B, period: 200 us}
  low: {from: a, to: b, pcp: 4, phy: 1250 B, period: 1 ms}
  rest: {from: a, to: b, pcp: 0, phy: 1542 B, saturating: true}
shapers:
  all: {ats: {pcp: [5, 4]}}
"""


def schedulers(text: str) -> dict[str, list[tuple[str, int, int]]]:
    """Node -> the group, rate (bit/s) and burst (bit) of each of its schedulers."""
    document: Any = plan(read_scenario(text, "asynchronous.yaml")[0]).document
    found = {}
    for one in document["policing"]:
        name = document["nodes"][one["node"]]["name"]
        found[name] = [
            (one["groups"][own["group"]]["name"], own["cir_bps"], own["cbs_bits"])
            for own in one["schedulers"]
        ]
    return found


def test_filters_name_the_flow_its_port_of_arrival_and_its_scheduler() -> None:
    document: Any = plan(read_scenario(TEXT, "asynchronous.yaml")[0]).document
    first, second = document["policing"]
    names = [port["name"] for port in document["ports"]]

    def told(one: Any) -> list[tuple[str, list[str], list[int], int]]:
        return [
            (
                f["name"],
                [names[document["ports"][n]["peer"]] for n in f["ports"]],
                f["streams"],
                f["scheduler"],
            )
            for f in one["filters"]
        ]

    assert told(first) == [
        ("even", ["a -> s1"], [0], 0),
        ("late", ["a -> s1"], [1], 1),
        ("other", ["c -> s1"], [2], 2),
        ("low", ["a -> s1"], [3], 3),
    ]
    flows = ("even", "late", "other", "low")
    assert told(second) == [(name, ["s1 -> s2"], [n], n) for n, name in enumerate(flows)]


def test_a_frame_for_two_ports_has_one_scheduler_and_those_after_it_theirs() -> None:
    text = TEXT.replace("stations: [a, b, c]", "stations: [a, b, c, d]").replace("s2-b]", "s2-b, s1-d]")
    text = text.replace("even: {from: a, to: b,", "even: {from: a, to: [b, d],")
    found = schedulers(text)
    assert found["s1"] == schedulers(TEXT)["s1"]
    assert found["s2"] == schedulers(TEXT)["s2"]


def test_a_tag_of_redundancy_counts() -> None:
    """Six octets more on the wire: 10,048 bit every 100 us, and at least 1256 B at once."""
    text = TEXT.replace("s2-b]", "s2-b, a-s2]").replace(
        "even: {from: a, to: b,", "even: {from: a, to: b, frer: {},"
    )
    found = schedulers(text)
    assert found["s1"][0] == ("a -> s1 class 2", 100_480_000, 10_048)
    said = refused(text.replace("pcp: [5, 4]}", "pcp: [5, 4], burst: 1255 B}"))
    assert "at least 1256 B, a frame of even on the wire, found 1255 B" in said


def test_frames_count_without_the_tag_that_a_bridge_adds_behind_its_scheduler() -> None:
    """The first bridge gets 10,000 bit and sends 10,048 bit, the next one gets these."""
    text = TEXT.replace("[s1, s2]", "[s1, s2, s3]").replace("s2-b]", "s2-b, s1-s3, s3-s2]")
    found = schedulers(text.replace("even: {from: a, to: b,", "even: {from: a, to: b, frer: {},"))
    assert found["s1"][0] == ("a -> s1 class 2", 100_000_000, 10_000)
    assert found["s2"][0][1:] == found["s3"][0][1:] == (100_480_000, 10_048)


def refused(text: str) -> str:
    return refusal_text(read_scenario(text, "asynchronous.yaml")[0])


ALL = "all: {ats: {pcp: [5, 4]}}"
EVEN = "even: {from: a, to: b, pcp: 5, phy: 1250 B"
USUAL = [(100_000_000, 10_000), (142_857_143, 11_429), (50_000_000, 10_000), (10_000_000, 10_000)]
"""A flow that is late by 10 of 70 us may release 1/7 of a frame more at once: 1,428.6 bit."""
TWO = 2 * 1542 * 8


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ((), USUAL),
        # 2,944 octets are two frames of 1,472 octets of payload: twice 1,542 on the wire with a tag.
        ((EVEN, "even: {from: a, to: b, pcp: 5, units: [2944 B]"), [(TWO * 10_000, TWO), *USUAL[1:]]),
        # What is written stays.
        ((ALL, "all: {ats: {pcp: [5, 4], rate: 300 Mbit/s, burst: 2000 B}}"), [(300_000_000, 16_000)] * 4),
        ((ALL, "all: {ats: {pcp: [5, 4], rate: 300 Mbit/s}}"), [(300_000_000, burst) for _, burst in USUAL]),
        ((ALL, "all: {ats: {pcp: [5, 4], burst: 2000 B}}"), [(rate, 16_000) for rate, _ in USUAL]),
        ((ALL, "all: {ats: {pcp: [5, 4], burst: 1250 B}}"), None),
        # A token bucket has what its scheduler needs.
        (
            ("period: 200 us}", "arrivals: {burst: 4 kB, rate: 7 Mbit/s}}"),
            [*USUAL[:2], (7_000_000, 32_000), USUAL[3]],
        ),
        # So that a flow without a period has a scheduler.
        (
            (
                "period: 200 us}",
                "poisson: 10 Mbit/s}",
                ALL,
                "all: {ats: {pcp: [5, 4], rate: 50 Mbit/s, burst: 1250 B}}",
            ),
            [(50_000_000, 10_000)] * 4,
        ),
    ],
)
def test_a_scheduler_has_what_its_flow_may_release(changed: tuple[str, ...], found: Any) -> None:
    text = TEXT
    for old, new in zip(changed[::2], changed[1::2], strict=True):
        text = text.replace(old, new)
    made = schedulers(text)
    assert sorted(made) == ["s1", "s2"]
    assert found is None or [one[1:] for one in made["s1"]] == [one[1:] for one in made["s2"]] == found
    groups = ["a -> s1 class 2", "a -> s1 class 2", "c -> s1 class 2", "a -> s1 class 1"]
    assert [one[0] for one in made["s1"]] == groups
    # All come over one link there: a group for each class.
    assert [one[0] for one in made["s2"]] == ["s1 -> s2 class 2"] * 3 + ["s1 -> s2 class 1"]


def test_only_named_priorities_at_shaped_ports_have_schedulers() -> None:
    found = schedulers(TEXT.replace(ALL, "s2 -> b: {ats: {pcp: [4]}}"))
    assert found == {"s2": [("s1 -> s2 class 1", 10_000_000, 10_000)]}
