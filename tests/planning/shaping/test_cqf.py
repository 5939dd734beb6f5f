"""Cyclic queues by hand: gates, stream gates, and refusals. IEEE 802.1Q-2022, annex T."""

from __future__ import annotations

from typing import Any

from support.planned import document_of, problems_of

TEXT = """\
name: cqf
duration: 10 ms
network:
  stations: [a, c, b]
  bridges: {sw1: {processing: 1300 ns}, sw2: {processing: 500 ns}}
  links:
    - {rate: 1 Gbit/s, cable: 10 m, between: [a -- sw1, c -- sw1, sw2 -- b]}
    - {rate: 1 Gbit/s, cable: LONG, between: sw1 -- sw2}
streams:
  s: {from: a, to: b, pcp: 5, period: 500 us, frame: 1000 B}
  t: {from: c, to: b, pcp: 5, period: 1 ms, jitter: 10 us, frame: 500 B}
  low: {from: c, to: b, pcp: 0, period: 1 ms, frame: 1500 B}
shapers:
  sw1 -> sw2: {cqf: {pcp: [5], classes: CLASSES, cycle: CYCLE, octets: 4 kB}}
"""
SECOND = "  sw2 -> b: {cqf: {pcp: [5], classes: CLASSES, cycle: CYCLE, octets: 4 kB}}\n"


def planned(
    text: str, *, long: str = "10 m", classes: str = "[7, 6]", cycle: str = "125 us"
) -> dict[str, Any]:
    made = text.replace("LONG", long).replace("CLASSES", classes).replace("CYCLE", cycle)
    document: dict[str, Any] = document_of(made)  # type: ignore[assignment]
    return document


def gates(document: dict[str, Any], port: str) -> list[tuple[int, int]]:
    """Open gates and ns of each entry."""
    (found,) = (one["gates"] for one in document["ports"] if one["name"] == port)
    assert found["base_time_ns"] == 0
    assert found["cycle_ns"] == sum(entry["interval_ns"] for entry in found["entries"])
    return [(entry["open"], entry["interval_ns"]) for entry in found["entries"]]


def number_of(document: dict[str, Any], node: str) -> int:
    return [one["name"] for one in document["nodes"]].index(node)


def stream_gates(document: dict[str, Any], node: str) -> list[tuple[int, list[tuple[int, int, int]]]]:
    """Base time, and priority, ns and octets of each entry."""
    (own,) = (one for one in document["policing"] if one["node"] == number_of(document, node))
    assert all(entry["open"] for gate in own["gates"] for entry in gate["entries"])
    return [
        (
            gate["base_time_ns"],
            [(entry["ipv"], entry["interval_ns"], entry["octets_max"]) for entry in gate["entries"]],
        )
        for gate in own["gates"]
    ]


def test_two_queues_take_turns_and_pause_for_the_link() -> None:
    """10 m are 50 ns; with 500 ns of processing and the last instant of a cycle 551 ns.

    In a cycle's last 551 ns nothing leaves by a port before a cyclic one: it would arrive in the next cycle.
    """
    document = planned(TEXT + SECOND)
    others = 0b0011_1111
    assert gates(document, "sw1 -> sw2") == [
        (others | 0x80, 124_449), (others, 551), (others | 0x40, 124_449), (others, 551),
    ]  # fmt: skip
    assert gates(document, "sw2 -> b") == [(others | 0x80, 125_000), (others | 0x40, 125_000)]


def test_stream_gates_put_frames_into_the_queue_that_sends_next() -> None:
    """The first bridge counts by its own clock: from arrival, 1300 ns of processing before the queue."""
    document = planned(TEXT + SECOND)
    turns = [(6, 125_000, 4_000), (7, 125_000, 4_000)]
    # One gate for each of the two ports at which streams arrive.
    assert stream_gates(document, "sw1") == [(-1_300, turns), (-1_300, turns)]
    # 551 ns after the cycle in which a frame was sent, less 500 ns of processing.
    assert stream_gates(document, "sw2") == [(51, turns)]
    (_, second) = document["policing"]
    assert second["filters"] == [
        {"name": "s", "ports": [7], "streams": [0], "gate": 0},
        {"name": "t", "ports": [7], "streams": [1], "gate": 0},
    ]


def test_a_third_queue_bridges_a_long_link() -> None:
    """30 km are 150 us, with processing 150.501 us: one cycle more in the queue, and a pause of 25.501 us."""
    document = planned(TEXT + SECOND, long="30 km", classes="[7, 6, 4]")
    others = 0b0010_1111
    assert gates(document, "sw1 -> sw2") == [
        (others | 0x80, 99_499), (others, 25_501), (others | 0x40, 99_499), (others, 25_501),
        (others | 0x10, 99_499), (others, 25_501),
    ]  # fmt: skip
    turns = [(ipv, 125_000, 4_000) for ipv in (6, 4, 7)]
    assert stream_gates(document, "sw1") == [(-1_300, turns), (-1_300, turns)]
    # Two queues later, seen from the cycle in which it was sent.
    assert stream_gates(document, "sw2") == [(150_001, [(ipv, 125_000, 4_000) for ipv in (4, 7, 6)])]


def test_enough_queues_need_no_pause() -> None:
    """150.501 us are two begun cycles: with four queues both are waited for."""
    document = planned(TEXT + SECOND, long="30 km", classes="[7, 6, 5, 4]")
    others = 0b0000_1111
    assert gates(document, "sw1 -> sw2") == [(others | 1 << number, 125_000) for number in (7, 6, 5, 4)]
    assert stream_gates(document, "sw2") == [(150_001, [(ipv, 125_000, 4_000) for ipv in (4, 7, 6, 5)])]


def test_a_class_takes_a_priority_that_leads_to_it() -> None:
    """PCP 1 is class 0 and PCP 0 is class 1: IEEE 802.1Q-2022, table 8-5."""
    document = planned(TEXT.replace("pcp: 0,", "pcp: 2,"), classes="[1, 0]")
    assert [ipv for ipv, _, _ in stream_gates(document, "sw1")[0][1]] == [1, 0]
    swapped = TEXT.replace("{cqf:", "{queues: {classes: {5: 2, 4: 1, 2: 0}}, cqf:").replace(
        "pcp: 0,", "pcp: 2,"
    )
    document = planned(swapped, classes="[2, 1]")
    assert [ipv for ipv, _, _ in stream_gates(document, "sw1")[0][1]] == [4, 5]


def test_a_class_takes_its_own_number_where_this_priority_leads_to_it() -> None:
    """PCP 1, 2 and 5 lead to class 2, and PCP 4 to class 1."""
    text = TEXT.replace("{cqf:", "{queues: {classes: {5: 2, 4: 1, 2: 2, 1: 2, 0: 0}}, cqf:")
    document = planned(text, classes="[2, 1]")
    assert [ipv for ipv, _, _ in stream_gates(document, "sw1")[0][1]] == [4, 2]


def test_only_the_priorities_of_the_port_before_are_sent_in_its_cycles() -> None:
    """At the first bridge, PCP 5 is beside the cyclic queues: its frames are sent at any time.

    So they are in no cycle of the first bridge, and the second one counts from their arrival.
    """
    text = TEXT.replace("pcp: [5]", "pcp: [4]") + SECOND
    document = planned(text)
    assert [one["node"] for one in document["policing"]] == [number_of(document, "sw2")]
    assert stream_gates(document, "sw2") == [(-500, [(6, 125_000, 4_000), (7, 125_000, 4_000)])]


def test_a_stream_with_two_cyclic_ports_in_one_bridge_goes_on_in_cycles() -> None:
    """The first bridge sends s to c and to the second one, from one queue: one gate. The next bridge has one,
    too."""
    text = TEXT.replace("s: {from: a, to: b", "s: {from: a, to: [c, b]")
    document = planned(text + SECOND + SECOND.replace("sw2 -> b", "sw1 -> c"))
    first, second = document["policing"]
    assert first["filters"][0] == {"name": "s", "ports": [1], "streams": [0], "gate": 0}
    assert second["filters"][0] == {"name": "s", "ports": [7], "streams": [0], "gate": 0}


def test_a_filter_for_a_priority_keeps_its_meter_beside_the_cyclic_queues() -> None:
    """Frames of s match the filter of the scenario at sw1, so their own filter has both functions."""
    meter = "policing:\n  - {at: a -> sw1, priority: 5, meter: {cir: 10 Mbit/s, cbs: 2 kB}}\n"
    (own,) = planned(TEXT + meter)["policing"]
    assert own["filters"] == [
        {"name": "all", "ports": [1], "streams": [0], "meter": 0, "gate": 0},
        {"name": "all", "ports": [1], "priority": 5, "meter": 0},
        {"name": "t", "ports": [3], "streams": [1], "gate": 1},
    ]


def test_at_100_gbit_per_second_queues_may_be_cyclic() -> None:
    document = planned(TEXT.replace("1 Gbit/s", "100 Gbit/s"))
    assert gates(document, "sw1 -> sw2") == [(0xBF, 125_000), (0x7F, 125_000)]


def refused(text: str, **words: str) -> list[tuple[str, str, str]]:
    """Path, what is expected, and what is found, of each problem."""
    return [(one.path, one.expected, one.found) for one in problems_of(planned, text, **words)]


def test_a_pause_as_long_as_the_cycle_leaves_no_time() -> None:
    """The last frame of a cycle arrives 551 ns later."""
    assert refused(TEXT + SECOND, cycle="551 ns") == [
        (
            "shapers.sw1 -> sw2.cqf",
            "a cycle longer than 551 ns, the delay of link and bridge, or more classes",
            "551 ns and 2 classes",
        )
    ]
    assert gates(planned(TEXT + SECOND, cycle="552 ns"), "sw1 -> sw2")[:2] == [(0xBF, 1), (0x3F, 551)]


def test_bridges_alone_have_cyclic_queues() -> None:
    """`bridges` selects the ports of both bridges, so talkers send without gates."""
    every = TEXT.replace("sw1 -> sw2: {cqf", "bridges: {cqf")
    document = planned(every)
    assert [one["name"] for one in document["ports"] if "gates" in one] == [
        "sw1 -> a", "sw1 -> c", "sw2 -> b", "sw1 -> sw2", "sw2 -> sw1",
    ]  # fmt: skip
    both = planned(TEXT + SECOND)
    assert gates(document, "sw2 -> b") == gates(both, "sw2 -> b")
    (problem, *_) = problems_of(
        every.replace("bridges: {cqf", "all: {cqf")
        .replace("LONG", "10 m")
        .replace("CLASSES", "[7, 6]")
        .replace("CYCLE", "125 us")
    )
    assert problem.hint is not None
    assert "write bridges: {cqf: …}" in problem.hint
