"""The planned cycle of cyclic queues, by hand: loads, spreads and delays. IEEE 802.1Q-2022, annex T."""

from __future__ import annotations

from typing import Any

import pytest

from planning.shaping.test_cqf import SECOND, TEXT, gates, planned, stream_gates
from support.planned import problems_of


def cycle_of(document: dict[str, Any], queues: int = 2) -> int:
    """The cycle of the port between the bridges, in ns."""
    return sum(interval for _, interval in gates(document, "sw1 -> sw2")) // queues


def test_the_shortest_cycle_holds_the_worst_load() -> None:
    """8.16 us and 4.16 us, behind 12.16 us of a lower class: 24.48 us. 500 us over 20 is 25 us.

    Before another cyclic port, 551 ns of a cycle are a pause: 24.449 us are too short;
    500 us over 16 is next.
    """
    assert cycle_of(planned(TEXT, cycle="plan")) == 25_000
    document = planned(TEXT + SECOND, cycle="plan")
    assert cycle_of(document) == 31_250
    assert gates(document, "sw2 -> b")[0][1] == 31_250


def test_a_cycle_that_another_port_has_is_taken() -> None:
    document = planned(TEXT + SECOND.replace("CYCLE", "250 us"), cycle="plan")
    assert (cycle_of(document), gates(document, "sw2 -> b")[0][1]) == (250_000, 250_000)


@pytest.mark.parametrize(
    ("classes", "cycle", "pause"),
    [
        ("[7, 6]", 250_000, 150_501),
        ("[7, 6, 5]", 100_000, 50_501),
        ("[7, 6, 5, 4]", 62_500, 25_501),
        ("[7, 6, 5, 4, 3]", 50_000, 501),
    ],
)
def test_queues_make_cycles_on_long_links_short(classes: str, cycle: int, pause: int) -> None:
    """150.501 us, less a cycle for each queue beyond two, are a pause; 24.48 us have to fit beside it."""
    document = planned(TEXT + SECOND, long="30 km", classes=classes, cycle="plan")
    assert [interval for _, interval in gates(document, "sw1 -> sw2")[:2]] == [cycle - pause, pause]


@pytest.mark.parametrize(
    ("long", "classes", "limit", "cycle"),
    [
        # The link takes 150.501 us: its frames wait for one cycle more, as there is one queue more.
        ("30 km", "[7, 6, 5]", 409_464, "100 us"),
        # Also a short link has this queue: without a pause, its last frames come in the next cycle.
        ("10 m", "[7, 6, 5]", 109_464, "25 us"),
        # Four queues, and three begun cycles of 62.5 us: two are waited for, and the pause is the rest.
        ("30 km", "[7, 6, 5, 4]", 321_964, "62.5 us"),
        ("10 m", "[7, 6]", 103_214, "31.25 us"),
    ],
)
@pytest.mark.parametrize("kind", ["delay", "delay from release"])
def test_two_cyclic_hops_take_three_cycles_and_those_of_the_link(
    kind: str, long: str, classes: str, limit: int, cycle: str
) -> None:
    """8.114 us to the first bridge, 1.3 us in it, the cycles, and 50 ns to the listener.

    These are 9.464 us, and four cycles of 100 us, four of 25 us, five of 62.5 us, or three of 31.25 us. The
    delay of the link between the bridges is in these cycles.
    """

    def limited(ns: int) -> str:
        return TEXT.replace("frame: 1000 B}", f"frame: 1000 B, requires: {{{kind}: {ns} ns}}}}") + SECOND

    planned(limited(limit), long=long, classes=classes, cycle="plan")
    (problem,) = problems_of(planned, limited(limit - 1), long=long, classes=classes, cycle="plan")
    assert problem.path == f"streams.s.requires.{kind}"
    assert problem.expected == f"a delay of 2 cyclic hops, up to {limit / 1000:.3f} us"
    assert problem.found == f"{(limit - 1) / 1000:.3f} us, and no cycle shorter than {cycle} holds the load"


def test_the_delay_of_a_class_above_the_queues_has_nothing_to_do_with_their_cycle() -> None:
    """Two cycles of 50 us would be too long."""
    document = planned(above(7, more=", requires: {delay: 60 us}"), cycle="plan", classes="[5, 4]")
    assert cycle_of(document) == 50_000


MEETING = """\
name: meeting
duration: 10 ms
network:
  stations: [a, c, b]
  bridges: [sw1, sw2, sw3]
  links: {rate: 1 Gbit/s, between: [a -- sw1, c -- sw3, sw1 -- sw2, sw3 -- sw2, sw2 -- b]}
streams:
  s: {from: a, to: b, pcp: 5, period: 500 us, jitter: JITTER, frame: 1000 B}
  t: {from: c, to: b, pcp: 5, period: 500 us, jitter: JITTER, frame: 1000 B}
shapers:
  sw1 -> sw2: {cqf: {pcp: [5], classes: [7, 6], cycle: plan}}
  sw3 -> sw2: {cqf: {pcp: [5], classes: [7, 6], cycle: plan}}
  sw2 -> b: {cqf: {pcp: [5], classes: [7, 6], cycle: plan}}
"""


@pytest.mark.parametrize(("jitter", "cycle"), [("422232 ns", 25_000), ("422233 ns", 50_000)])
def test_every_port_before_the_first_cyclic_one_spreads_frames(jitter: str, cycle: int) -> None:
    """16.224 us at the talker; between the bridges 24.48 us and 12.064 us of a lower frame."""
    text = TEXT.replace("period: 500 us, frame", f"period: 500 us, jitter: {jitter}, frame")
    text = text[: text.index("  sw1 -> sw2: {cqf")] + SECOND
    document = planned(text, cycle="plan")
    assert gates(document, "sw2 -> b") == [(0xBF, cycle), (0x7F, cycle)]


def test_the_longest_processing_time_counts() -> None:
    """With 3 us in the first bridge and 2 us in the second, not with their least times.

    50 ns of cable, 2 us of processing and the last instant are 2.051 us.
    """
    varying = (TEXT + SECOND).replace("1300 ns", "{least: 1300 ns, most: 3 us}")
    varying = varying.replace("500 ns}}", "{least: 500 ns, most: 2 us}}}")
    document = planned(varying)
    assert [ns for _, ns in gates(document, "sw1 -> sw2")] == [122_949, 2_051] * 2
    assert [base for base, _ in stream_gates(document, "sw1")] == [-3_000, -3_000]
    assert [base for base, _ in stream_gates(document, "sw2")] == [51]
    # 24.48 us beside 2.051 us, and beside 8.051 us: 500 us over 16, and over 10.
    assert cycle_of(planned(varying, cycle="plan")) == 31_250
    assert cycle_of(planned(varying.replace("most: 2 us", "most: 8 us"), cycle="plan")) == 50_000


FRER = TEXT.replace("bridges: {", "bridges: {sw3: {}, ").replace(
    "[a -- sw1,", "[a -- sw1, a -- sw3, sw3 -- sw2,"
)
FRER = FRER.replace("frame: 1000 B", "frame: 1000 B, frer: {paths: [[sw1, sw2], [sw3, sw2]], at: sw2}")


def problem(text: str, **words: str) -> tuple[str, str, str]:
    """Path, what is expected, and what is found, of the only problem."""
    (found,) = problems_of(planned, text, **words)
    return found.path, found.expected, found.found


FASTER = TEXT.replace("period: 500 us, frame: 1000 B", "period: 20 us, frame: OCTETS B")
FASTER = "".join(line for line in FASTER.splitlines(keepends=True) if not line.startswith("  t:"))


GAP = """\
name: gap
duration: 10 ms
network:
  stations: [a, b]
  bridges: [sw1, sw2, sw3, sw4]
  links: {rate: 1 Gbit/s, between: [a -- sw1, sw1 -- sw2, sw2 -- sw3, sw3 -- sw4, sw4 -- b]}
streams:
  s: {from: a, to: b, pcp: 5, period: 100 us, jitter: JITTER, frame: 1000 B}
shapers:
  sw1 -> sw2: {cqf: {pcp: [5], classes: [7, 6], cycle: plan}}
  sw3 -> sw4: {cqf: {pcp: [5], classes: [7, 6], cycle: plan}}
  sw4 -> b: {cqf: {pcp: [5], classes: [7, 6], cycle: plan}}
"""


def jittery(jitter: str, text: str = TEXT) -> str:
    return text.replace("period: 500 us, frame", f"period: 500 us, jitter: {jitter}, frame")


def second(octets: int, text: str = TEXT) -> str:
    return text.replace("frame: 500 B", f"frame: {octets} B")


def above(pcp: int, text: str = TEXT, period: str = "1 ms", octets: int = 1000, more: str = "") -> str:
    high = f"  high: {{from: c, to: b, pcp: {pcp}, period: {period}, frame: {octets} B{more}}}\n"
    return text.replace("shapers:", f"{high}shapers:")


LONGER = GAP.replace("sw4]", "sw4, sw5]").replace("sw4 -- b]", "sw4 -- sw5, sw5 -- b]")
LONGER = LONGER.replace("  sw4 -> b:", "  sw5 -> b:")
CYCLES: dict[str, tuple[str, str, int, str, int]] = {
    # A frame is late by its jitter, and by 8.16 us and 8.064 us at the talker's port. With the cycle of 25 us
    # this is its period, or more. Then two frames of s are in a cycle: 32.64 us, for which 500 us over 10 is
    # the first that is long enough.
    "a late release and the next one": (jittery("458776 ns"), jittery("458777 ns"), 25_000, "[7, 6]", 50_000),
    # 8.16 us more of a class above: 32.64 us. In class 4, it is a lower one, shorter than low.
    "a class above": (above(2), above(7), 25_000, "[5, 4]", 50_000),
    # 8.16 us, 12.16 us, and 585 octets on the wire: 25 us.
    "a full cycle": (second(565), second(566), 25_000, "[7, 6]", 31_250),
    # A frame is late by its jitter and 16.224 us at the talker's port: with 20 us a period, or more. Then two
    # frames come in a cycle, and leave in one: 16.32 us at each of the first bridges, and four of them,
    # 32.64 us, at the second one. 500 us over 10 is the next cycle that holds them.
    "frames of other bridges": (
        MEETING.replace("JITTER", "463776 ns"),
        MEETING.replace("JITTER", "463777 ns"),
        20_000,
        "[7, 6]",
        50_000,
    ),
    # 42.144 us at the talker's port: 5.76 us, twice 12.16 us, and 12.064 us. At the first cyclic port
    # 8.16 us more, 50.304 us: with a cycle of 50 us 142.448 us. One frame of 12.16 us leaves 38.24 us in a
    # cycle, two of them are 50.4 us. 500 us over 8 holds them.
    "frames above, spread at every port before": (
        above(7, second(700) + SECOND, "142448 ns", 1500),
        above(7, second(700) + SECOND, "142447 ns", 1500),
        50_000,
        "[5, 4]",
        62_500,
    ),
    # The R-TAG has six octets, 48 ns; at the talker 8.208 us and 8.112 us.
    "tags": (second(559, FRER), second(560, FRER), 25_000, "[7, 6]", 31_250),
    "tags spread frames": (jittery("458680 ns", FRER), jittery("458681 ns", FRER), 25_000, "[7, 6]", 50_000),
    # One frame in 20 us, and 12.16 us of a lower class in each cycle. The longest cycle is four periods.
    # 1000 octets take 8.16 us; they are spread over 16.224 us at the talker's port, so a cycle of 20 us
    # contains two frames, 28.48 us with the lower one; one of 40 us three, 36.64 us. 1150 octets take
    # 9.36 us, and are spread over 18.624 us. 40 us contain three frames, 40.24 us, and 80 us contain five,
    # 58.96 us.
    "four times the period": (
        FASTER.replace("OCTETS", "1000"),
        FASTER.replace("OCTETS", "1150"),
        40_000,
        "[7, 6]",
        80_000,
    ),
    # 10 us hold one frame of 8.16 us. 1000 octets spread by 16.224 us at the talker, again between sw2 and
    # sw3; with two cycles of 10 us, 52.448 us. In 10 us of sw3 and sw4, releases of 62.448 us and the jitter
    # come: with 100 us one frame, with more two. 100 us over 5 holds them.
    "out of cyclic queues": (
        GAP.replace("JITTER", "37552 ns"),
        GAP.replace("JITTER", "37553 ns"),
        10_000,
        "[7, 6]",
        20_000,
    ),
    # Once more between sw4 and sw5, with two cycles of 10 us each time: 88.672 us, and releases of 98.672 us.
    "out of cyclic queues twice": (
        LONGER.replace("JITTER", "1328 ns"),
        LONGER.replace("JITTER", "1329 ns"),
        10_000,
        "[7, 6]",
        20_000,
    ),
    # 8.16 us, and 11.84 us of 1460 octets.
    "no lower class": (
        second(1460).replace("  low:", "  # low:"),
        second(1461).replace("  low:", "  # low:"),
        20_000,
        "[7, 6]",
        25_000,
    ),
}


@pytest.mark.parametrize("case", CYCLES)
def test_the_last_value_before_a_longer_cycle(case: str) -> None:
    last, beyond, cycle, classes, longer = CYCLES[case]
    assert cycle_of(planned(last, cycle="plan", classes=classes)) == cycle
    assert cycle_of(planned(beyond, cycle="plan", classes=classes)) == longer


LIMIT = "frame: 1000 B, requires: {delay: %s ns}"
DELAYS: dict[str, tuple[str, str, int, str]] = {
    # Two cycles of 25 us, twice 8.064 us (talker and last bridge), 1.8 us of processing, 150 ns of cable.
    "two cycles and the way": (TEXT.replace("frame: 1000 B", LIMIT), "10 m", 68_078, "s"),
    # Behind the last cyclic port a long link takes its time and no cycles: 8.114 us, 1.3 us, two cycles of
    # 25 us, 150 us of cable, 0.5 us, and 8.114 us again.
    "a long last link": (TEXT.replace("frame: 1000 B", LIMIT), "30 km", 218_028, "s"),
    # A cable of 10.06 m takes 50.3 ns: 68.0783 us.
    "the next whole nanosecond": (TEXT.replace("frame: 1000 B", LIMIT), "10.06 m", 68_079, "s"),
    # At the talker's port 8.112 us in place of 8.064 us; without the tag at the last port, as before.
    "a tag": (FRER.replace("frame: 1000 B", LIMIT), "10 m", 68_126, "s"),
    # The first stream has no limit; t needs 4.064 us at both ends, as the shorter of both frames.
    "any stream": (TEXT.replace("frame: 500 B", LIMIT.replace("1000", "500")), "10 m", 60_078, "t"),
}


@pytest.mark.parametrize("case", DELAYS)
def test_the_delay_of_the_shortest_cycle(case: str) -> None:
    text, long, limit, stream = DELAYS[case]
    planned(text % limit, long=long, cycle="plan")
    path, expected, found = problem(text % (limit - 1), long=long, cycle="plan")
    assert path == f"streams.{stream}.requires.delay"
    assert expected == f"a delay of 1 cyclic hop, up to {limit / 1000:.3f} us"
    assert found.startswith(f"{(limit - 1) / 1000:.3f} us")


def test_a_load_that_no_cycle_holds_is_told_in_full_nanoseconds() -> None:
    """1501 octets take 1216.8 ns at 10 Gbit/s, and 1207.2 ns without the gap.

    The nine frames and one of them are spread over 12.159 us at the talker's port. In 40 us six releases of
    nine frames come: 65.7072 us.
    """
    text = FASTER.replace("1 Gbit/s", "10 Gbit/s").replace("period: 20 us", "count: 9, period: 10 us")
    assert problem(text.replace("OCTETS", "1501").replace("  low:", "  # low:"), cycle="plan") == (
        "shapers.sw1 -> sw2.cqf.cycle",
        "a cycle that holds the worst load of sw1 -> sw2",
        "65.708 us of frames in 40 us, the longest that was tried",
    )


def test_the_fullest_port_is_named() -> None:
    """1400 octets take 11.36 us, and are spread over 22.624 us at the talker's port. In 80 us six releases of
    each stream come: 68.16 us at the first bridges, and 136.32 us at the second one.
    """
    text = MEETING.replace("period: 500 us, jitter: JITTER, frame: 1000 B", "period: 20 us, frame: 1400 B")
    assert problem(text) == (
        "shapers.sw2 -> b.cqf.cycle",
        "a cycle that holds the worst load of sw2 -> b",
        "136.32 us of frames in 80 us, the longest that was tried",
    )


def test_a_stream_in_the_lowest_cyclic_queue_is_not_above_the_queues() -> None:
    """No cycle is needed to see that it must not be in this queue, so it need not be periodic."""
    text = TEXT.replace("pcp: 0, period: 1 ms", "pcp: 4, poisson: 1 Mbit/s")
    assert problem(text, classes="[5, 4]", cycle="plan") == (
        "streams.low",
        "no other stream in the cyclic queues 5, 4 of sw1 -> sw2",
        "PCP 4",
    )
