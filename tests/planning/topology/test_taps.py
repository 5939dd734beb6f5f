"""Which taps a Plan has, and in which order: those of ends, of software, and of named ports."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: taps
duration: 1 ms
network:
  stations: [a, b, c]
  bridges: {x: {}, y: {}}
  hosts: [h]
  links: {rate: 1 Gbit/s, between: [a -- x, h -- x, x -- y, b -- y, c -- y]}
hosts: {h: {send: 1 us, app-rx: 1 us}}
streams:
"""
ONE = "  s: {from: a, to: b, period: 1 ms, frame: 100 B}\n"


def document(streams: str, rest: str = "") -> Any:
    return plan(read_scenario(TEXT + streams + rest)[0]).document


def names(streams: str, rest: str = "") -> list[str]:
    return [tap["name"] for tap in document(streams, rest)["taps"]]


def test_both_ends_of_a_stream() -> None:
    made = document(ONE)
    ports = {port["name"]: number for number, port in enumerate(made["ports"])}
    assert made["taps"] == [
        {"name": "a -> x tx", "port": ports["a -> x"], "stage": "tx", "point": "start", "granularity_ns": 1},
        {"name": "y -> b rx", "port": ports["b -> y"], "stage": "rx", "point": "end", "granularity_ns": 1},
    ]


def test_many_streams_between_the_same_ports_have_the_same_taps() -> None:
    assert names(ONE + ONE.replace("s:", "t:")) == ["a -> x tx", "y -> b rx"]
    # The second one begins where the first one does, and ends elsewhere.
    assert names(ONE + ONE.replace("s:", "t:").replace("to: b", "to: c")) == [
        "a -> x tx", "y -> b rx", "y -> c rx",
    ]  # fmt: skip
    back = "  t: {from: b, to: a, period: 1 ms, frame: 100 B}\n"
    assert names(ONE + back) == ["a -> x tx", "x -> a rx", "b -> y tx", "y -> b rx"]


def test_several_listeners_have_a_tap_each() -> None:
    assert names(ONE.replace("to: b", "to: [b, c]")) == ["a -> x tx", "y -> b rx", "y -> c rx"]
    # Another multicast stream from the same port ends at a port that no stream had before.
    streams = ONE.replace("to: b", "to: [b, h]") + ONE.replace("s:", "t:").replace("to: b", "to: [b, c]")
    assert names(streams) == ["a -> x tx", "x -> h rx", "y -> b rx", "y -> c rx"]


def test_copies_end_at_every_port_of_their_merge_point() -> None:
    ring = TEXT.replace("b -- y,", "b -- y, b -- x,")
    streams = ONE.replace("100 B", "100 B, frer: {paths: [[x, y, b], [x, b]]}")
    made: Any = plan(read_scenario(ring + streams)[0]).document
    assert [tap["name"] for tap in made["taps"]] == ["a -> x tx", "y -> b rx", "x -> b rx"]


def test_copies_that_begin_alike_may_end_at_other_ports() -> None:
    """Both streams have a first path over y. The second one of s is direct, that of t leads over z."""
    more = TEXT.replace("y: {}}", "y: {}, z: {}}").replace("b -- y,", "b -- y, b -- x, x -- z, z -- b,")
    streams = ONE.replace("100 B", "100 B, frer: {paths: [[x, y, b], [x, b]]}")
    streams += ONE.replace("s:", "t:").replace("100 B", "100 B, frer: {paths: [[x, y, b], [x, z, b]]}")
    made: Any = plan(read_scenario(more + streams)[0]).document
    assert [tap["name"] for tap in made["taps"]] == ["a -> x tx", "y -> b rx", "x -> b rx", "z -> b rx"]


def test_streams_behind_equal_ones_have_their_taps() -> None:
    back = "  u: {from: c, to: a, period: 1 ms, frame: 100 B}\n"
    assert names(ONE + ONE.replace("s:", "t:") + back) == [
        "a -> x tx", "x -> a rx", "y -> b rx", "c -> y tx",
    ]  # fmt: skip


def test_a_limit_from_the_release_needs_a_tap_there() -> None:
    released = ONE.replace("100 B", "100 B, requires: {delay from release: 900 us}")
    assert names(released) == ["a -> x send", "a -> x tx", "y -> b rx"]
    # Also if another stream of the same ports needs none.
    assert names(ONE.replace("s:", "r:") + released) == ["a -> x send", "a -> x tx", "y -> b rx"]


def test_named_ports_have_taps_at_both_ends() -> None:
    assert names(ONE, "taps: {ports: [x -> y]}\n") == ["a -> x tx", "x -> y tx", "x -> y rx", "y -> b rx"]
    assert names(ONE, "taps: {ports: [x -> y, x -> y], ends: false}\n") == ["x -> y tx", "x -> y rx"]


def test_a_named_port_that_does_not_exist_is_a_mistake_of_taps() -> None:
    from tsnbench.scenario.errors import ScenarioErrors

    with pytest.raises(ScenarioErrors, match=r"taps\.ports\[0\]: "):
        names(ONE, "taps: {ports: [x -> z]}\n")


STAGES = "taps: {ports: [h -> x, x -> h], stages: [wakeup, send, qdisc, driver, kernel-rx, app-rx]}\n"


BOTH = """\
  s: {from: h, to: b, period: 1 ms, frame: 100 B}
  r: {from: a, to: h, period: 1 ms, frame: 100 B}
"""


def test_stages_are_those_of_the_software_at_their_end() -> None:
    """Links stand as they are written: from h to x first."""
    assert names(BOTH, STAGES) == [
        "a -> x send", "a -> x tx",
        "h -> x wakeup", "h -> x send", "h -> x qdisc", "h -> x driver", "h -> x tx", "h -> x rx",
        "x -> h tx", "x -> h rx", "x -> h kernel-rx", "x -> h app-rx",
        "y -> b rx",
    ]  # fmt: skip


def test_stages_of_a_port_that_is_named_alone() -> None:
    """No stream begins or ends at h: frames that it forwards have these stages."""
    assert names(ONE, STAGES) == [
        "a -> x send", "a -> x tx",
        "h -> x qdisc", "h -> x driver", "h -> x tx", "h -> x rx",
        "x -> h tx", "x -> h rx", "x -> h kernel-rx",
        "y -> b rx",
    ]  # fmt: skip


def test_every_setting_of_taps() -> None:
    made = document(ONE, "taps: {ports: [x -> y], send: true, rx-point: start, granularity: 8 ns}\n")
    ports = [port["name"] for port in made["ports"]]
    assert [
        (tap["name"], ports[tap["port"]], tap["point"], tap["granularity_ns"]) for tap in made["taps"]
    ] == [
        ("a -> x send", "a -> x", "start", 8),
        ("a -> x tx", "a -> x", "start", 8),
        ("x -> y tx", "x -> y", "start", 8),
        ("x -> y rx", "y -> x", "start", 8),
        ("y -> b rx", "b -> y", "start", 8),
    ]
