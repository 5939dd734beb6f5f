"""The planned cycle of cyclic queues, by hand: loads, spreads and delays. IEEE 802.1Q-2022, annex T."""

from __future__ import annotations

from typing import Any

import pytest

from planning.shaping.test_cqf import SECOND, TEXT, gates, planned, stream_gates
from support.planned import problems_of
from tsnbench.planning import PlanningErrors


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


@pytest.mark.parametrize(("jitter", "cycle"), [("458776 ns", 25_000), ("458777 ns", 50_000)])
def test_a_late_release_and_the_next_one_share_a_cycle(jitter: str, cycle: int) -> None:
    """A frame is late by its jitter, and by 8.16 us and 8.064 us at the talker's port.

    With the cycle of 25 us this is its period, or more. Then two frames of s are in a cycle: 32.64 us, for
    which 500 us over 10 is the first that is long enough.
    """
    text = TEXT.replace("period: 500 us, frame", f"period: 500 us, jitter: {jitter}, frame")
    document = planned(text, cycle="plan")
    assert cycle_of(document) == cycle


def test_classes_above_take_their_time_of_each_cycle() -> None:
    """8.16 us more of a class above: 32.64 us, so 50 us. In class 4, it is a lower one, shorter than low."""
    high = "  high: {from: c, to: b, pcp: PCP, period: 1 ms, frame: 1000 B}\n"
    for pcp, cycle in ((7, 50_000), (2, 25_000)):
        text = TEXT.replace("shapers:", high.replace("PCP", str(pcp)) + "shapers:")
        assert cycle_of(planned(text, cycle="plan", classes="[5, 4]")) == cycle


@pytest.mark.parametrize(("limit", "found"), [("68078 ns", None), ("68077 ns", "up to 68\\.078 us")])
def test_the_delay_of_the_shortest_cycle_is_two_cycles_and_the_way(limit: str, found: str | None) -> None:
    """Two cycles of 25 us, twice 8.064 us (talker and last bridge), 1.8 us of processing, 150 ns of cable."""
    text = TEXT.replace("frame: 1000 B}", f"frame: 1000 B, requires: {{delay: {limit}}}}}")
    if found is None:
        planned(text, cycle="plan")
        return
    with pytest.raises(PlanningErrors, match=found):
        planned(text, cycle="plan")


@pytest.mark.parametrize(("octets", "cycle"), [(565, 25_000), (566, 31_250)])
def test_a_cycle_may_be_full(octets: int, cycle: int) -> None:
    """8.16 us, 12.16 us, and 585 octets on the wire: 25 us."""
    assert cycle_of(planned(TEXT.replace("frame: 500 B", f"frame: {octets} B"), cycle="plan")) == cycle


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


@pytest.mark.parametrize(("limit", "kept"), [(218_028, True), (218_027, False)])
def test_behind_the_last_cyclic_port_a_long_link_takes_its_time_and_no_cycles(limit: int, kept: bool) -> None:
    """8.114 us, 1.3 us, two cycles of 25 us, 150 us of cable, 0.5 us, and 8.114 us again."""
    text = TEXT.replace("frame: 1000 B}", f"frame: 1000 B, requires: {{delay: {limit} ns}}}}")
    if kept:
        planned(text, long="30 km", cycle="plan")
        return
    with pytest.raises(
        PlanningErrors, match=r"a delay of 1 cyclic hop, up to 218\.028 us, found 218\.027 us"
    ):
        planned(text, long="30 km", cycle="plan")


def test_the_delay_of_a_class_above_the_queues_has_nothing_to_do_with_their_cycle() -> None:
    """Two cycles of 50 us would be too long."""
    high = "  high: {from: c, to: b, pcp: 7, period: 1 ms, frame: 1000 B, requires: {delay: 60 us}}\n"
    document = planned(TEXT.replace("shapers:", high + "shapers:"), cycle="plan", classes="[5, 4]")
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


@pytest.mark.parametrize(("jitter", "cycle"), [("463776 ns", 20_000), ("463777 ns", 50_000)])
def test_frames_of_one_cycle_meet_those_of_other_bridges(jitter: str, cycle: int) -> None:
    """A frame is late by its jitter and 16.224 us at the talker's port: with 20 us a period, or more.

    Then two frames come in a cycle, and leave in one: 16.32 us at each of the first bridges, and four of
    them, 32.64 us, at the second one. 500 us over 10 is the next cycle that holds them.
    """
    assert cycle_of(planned(MEETING.replace("JITTER", jitter))) == cycle


@pytest.mark.parametrize(("period", "cycle"), [("142448 ns", 50_000), ("142447 ns", 62_500)])
def test_frames_above_the_queues_are_spread_at_every_port_before(period: str, cycle: int) -> None:
    """42.144 us at the talker's port: 5.76 us, twice 12.16 us, and 12.064 us. At the first cyclic port
    8.16 us more, 50.304 us: with a cycle of 50 us 142.448 us.

    One frame of 12.16 us leaves 38.24 us in a cycle, two of them are 50.4 us. 500 us over 8 holds them.
    """
    high = f"  high: {{from: c, to: b, pcp: 7, period: {period}, frame: 1500 B}}\n"
    text = TEXT.replace("shapers:", high + "shapers:").replace("frame: 500 B", "frame: 700 B")
    assert cycle_of(planned(text + SECOND, classes="[5, 4]", cycle="plan")) == cycle


@pytest.mark.parametrize(("limit", "kept"), [("68079 ns", True), ("68078 ns", False)])
def test_what_is_no_whole_nanosecond_is_told_as_the_next_one(limit: str, kept: bool) -> None:
    """A cable of 10.06 m takes 50.3 ns: 68.0783 us."""
    text = TEXT.replace("frame: 1000 B}", f"frame: 1000 B, requires: {{delay: {limit}}}}}")
    if kept:
        planned(text, long="10.06 m", cycle="plan")
        return
    with pytest.raises(PlanningErrors, match=r"up to 68\.079 us, found 68\.078 us"):
        planned(text, long="10.06 m", cycle="plan")


def test_a_limit_of_any_stream_counts() -> None:
    """The first stream has none; t needs 4.064 us at both ends, as the shorter of both frames."""
    text = TEXT.replace("frame: 500 B}", "frame: 500 B, requires: {delay: 60077 ns}}")
    with pytest.raises(
        PlanningErrors, match=r"streams\.t\.requires\.delay: expected a delay of 1 cyclic hop, "
    ):
        planned(text, cycle="plan")
    planned(text.replace("60077", "60078"), cycle="plan")


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


@pytest.mark.parametrize(("octets", "cycle"), [(559, 25_000), (560, 31_250)])
def test_tags_of_member_streams_take_their_time(octets: int, cycle: int) -> None:
    """The R-TAG has six octets, 48 ns."""
    assert cycle_of(planned(FRER.replace("frame: 500 B", f"frame: {octets} B"), cycle="plan")) == cycle


@pytest.mark.parametrize(("jitter", "cycle"), [("458680 ns", 25_000), ("458681 ns", 50_000)])
def test_tags_of_member_streams_spread_frames(jitter: str, cycle: int) -> None:
    """8.208 us and 8.112 us at the talker."""
    text = FRER.replace("period: 500 us, frame", f"period: 500 us, jitter: {jitter}, frame")
    assert cycle_of(planned(text, cycle="plan")) == cycle


@pytest.mark.parametrize(("limit", "kept"), [("68126 ns", True), ("68125 ns", False)])
def test_tags_of_member_streams_are_in_the_delay(limit: str, kept: bool) -> None:
    """At the talker's port 8.112 us in place of 8.064 us; without the tag at the last port, as before."""
    text = FRER.replace("frame: 1000 B", f"frame: 1000 B, requires: {{delay: {limit}}}")
    if kept:
        planned(text, cycle="plan")
        return
    with pytest.raises(PlanningErrors, match=r"up to 68\.126 us, found 68\.125 us"):
        planned(text, cycle="plan")


def problem(text: str, **words: str) -> tuple[str, str, str]:
    """Path, what is expected, and what is found, of the only problem."""
    (found,) = problems_of(planned, text, **words)
    return found.path, found.expected, found.found


FASTER = TEXT.replace("period: 500 us, frame: 1000 B", "period: 20 us, frame: OCTETS B")
FASTER = "".join(line for line in FASTER.splitlines(keepends=True) if not line.startswith("  t:"))


@pytest.mark.parametrize(("octets", "cycle"), [(1000, 40_000), (1150, 80_000)])
def test_the_longest_cycle_is_four_times_the_longest_period(octets: int, cycle: int) -> None:
    """One frame in 20 us, and 12.16 us of a lower class in each cycle.

    1000 octets take 8.16 us; they are spread over 16.224 us at the talker's port, so a cycle of 20 us
    contains two frames, 28.48 us with the lower one. One of 40 us contains three, 36.64 us.

    1150 octets take 9.36 us, and are spread over 18.624 us. 40 us contain three frames, 40.24 us, and 80 us
    contain five, 58.96 us.
    """
    assert cycle_of(planned(FASTER.replace("OCTETS", str(octets)), cycle="plan")) == cycle


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


@pytest.mark.parametrize(("jitter", "cycle"), [("37552 ns", 10_000), ("37553 ns", 20_000)])
def test_frames_leave_cyclic_queues_up_to_two_cycles_sooner_or_later(jitter: str, cycle: int) -> None:
    """10 us hold one frame of 8.16 us. 1000 octets spread by 16.224 us at the talker, and again between
    sw2 and sw3; with two cycles of 10 us, 52.448 us. In 10 us of sw3 and sw4, releases of 62.448 us and the
    jitter come: with 100 us one frame, with more two. 100 us over 5 holds them.
    """
    assert cycle_of(planned(GAP.replace("JITTER", jitter))) == cycle


@pytest.mark.parametrize(("jitter", "cycle"), [("1328 ns", 10_000), ("1329 ns", 20_000)])
def test_each_time_that_frames_leave_cyclic_queues_spreads_them(jitter: str, cycle: int) -> None:
    """16.224 us at the talker, again between sw2 and sw3, and again between sw4 and sw5, with two cycles of
    10 us each time: 88.672 us. In 10 us of sw5, releases of 98.672 us and the jitter come: with 100 us one
    frame, with more two.
    """
    text = GAP.replace("sw4]", "sw4, sw5]").replace("sw4 -- b]", "sw4 -- sw5, sw5 -- b]")
    text = text.replace("  sw4 -> b:", "  sw5 -> b:").replace("JITTER", jitter)
    assert cycle_of(planned(text)) == cycle


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


@pytest.mark.parametrize(("octets", "cycle"), [(1460, 20_000), (1461, 25_000)])
def test_without_a_lower_class_a_cycle_may_be_full_of_its_own_frames(octets: int, cycle: int) -> None:
    """8.16 us, and 11.84 us of 1460 octets."""
    text = TEXT.replace("frame: 500 B", f"frame: {octets} B").replace("  low:", "  # low:")
    assert cycle_of(planned(text, cycle="plan")) == cycle


def test_a_stream_in_the_lowest_cyclic_queue_is_not_above_the_queues() -> None:
    """No cycle is needed to see that it must not be in this queue, so it need not be periodic."""
    text = TEXT.replace("pcp: 0, period: 1 ms", "pcp: 4, poisson: 1 Mbit/s")
    assert problem(text, classes="[5, 4]", cycle="plan") == (
        "streams.low",
        "no other stream in the cyclic queues 5, 4 of sw1 -> sw2",
        "PCP 4",
    )
