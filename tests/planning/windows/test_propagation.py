"""Windows and waits of one cycle, hop by hop, by hand: 1 Gbit/s, 8 ns an octet.

A frame of 1000 octets takes 8064 ns from the first bit of its preamble to its last bit, and 8160 ns with the
gap.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.planned import drafted, plan_of
from tsnbench.planning import PlanningErrors
from tsnbench.planning.draft import Draft
from tsnbench.planning.windows.demand import Unit
from tsnbench.planning.windows.planner import _demands
from tsnbench.planning.windows.propagation import (
    Arrivals,
    Demands,
    FlowDelays,
    Forwarding,
    Outcome,
    Queue,
    _any,
    _both,
    _count,
    _next,
    _queue,
    _too_late,
    lay_out,
)
from tsnbench.planning.windows.sizing import Departure, Window
from tsnbench.planning.windows.waits import variation
from tsnbench.scenario import model

NS = 1_000
HIGH, OWN = range(2)


def asked(text: str) -> tuple[Draft, Demands]:
    """The draft before windows are planned, and their demands."""
    one = drafted(text, "plan_windows")
    demands = _demands(one, [port for port in one.ports if isinstance(port.shaper.gates, model.Planned)])
    assert demands is not None
    return one, demands


def planned(text: str, cycle_ns: int, forwarding: Forwarding = "gather") -> Outcome:
    outcome = lay_out(*asked(text), cycle_ns, forwarding)
    assert outcome is not None
    return outcome


def window(opens: int, cut: int, closes: int) -> Window:
    """From ns."""
    return Window(opens * NS, cut * NS, closes * NS)


def delays(
    most: int | None,
    least: int,
    fastest: int,
    since_release: int | None = None,
    since_due: tuple[int, int] | None = None,
) -> FlowDelays:
    """From ns."""
    return FlowDelays(
        None if most is None else most * NS,
        least * NS,
        fastest * NS,
        None if since_release is None else since_release * NS,
        None if since_due is None else (since_due[0] * NS, since_due[1] * NS),
    )


def in_ns(waiting: dict[tuple[int, int], int | None]) -> dict[tuple[int, int], int | None]:
    return {key: None if one is None else one // NS for key, one in waiting.items()}


def three(high: str = "", low: str = "period: 500 us", shapers: str = "") -> str:
    """Three classes from ``a`` over ``m`` to ``b``: 500, 1000 and 1500 octets; windows only behind ``m``."""
    return f"""\
name: propagation
duration: 10 ms
network:
  {{stations: [a, b], bridges: {{m: {{processing: {{least: 1 us, most: 3 us}}}}}}, rate: 1 Gbit/s,
   links: [a -- m, m -- b], queues: {{classes: {{3: 2, 2: 1, 0: 0}}}}}}
streams:
  high: {{from: a, to: b, pcp: 3, frame: 500 B, period: 500 us{high}, requires: {{delay: 1 ms}}}}
  own: {{from: a, to: b, pcp: 2, frame: 1000 B, period: 500 us, requires: {{delay: 1 ms}}}}
  low: {{from: a, to: b, pcp: 0, frame: 1500 B, {low}}}
shapers: {{m -> b: {{gates: plan}}{shapers}}}
"""


def waits(outcome: Outcome) -> list[int | None]:
    """At the talker's port, ns."""
    found = [outcome.waits.get((number, 0)) for number in (HIGH, OWN)]
    return [None if one is None else one // NS for one in found]


def test_a_lower_frame_and_all_higher_ones_are_ahead() -> None:
    """With preamble and gap 4160, 8160 and 12160 ns; of each periodic stream one is late and one is due."""
    assert waits(planned(three(), 500_000)) == [12_160 + 2 * 4_160, 12_160 + 2 * 4_160 + 2 * 8_160]


def test_a_jitter_of_more_than_a_period_brings_one_more() -> None:
    """36.8 us of waiting and 963.2 us of jitter are two periods."""
    assert waits(planned(three(high=", jitter: 963199 ns"), 500_000))[OWN] == 36_800
    assert waits(planned(three(high=", jitter: 963200 ns"), 500_000))[OWN] == 36_800 + 4_160


@pytest.mark.parametrize(
    "shaper",
    [
        "cbs: {2: 100 Mbit/s, 3: 100 Mbit/s}",
        "gates: {entries: [{open: [2, 1, 0], for: 100 us}]}",
        "ats: {pcp: [2, 3], rate: 100 Mbit/s, burst: 3 kB}",
        "preemption: {express: [3]}",
        "cqf: {cycle: 100 us, pcp: [2], classes: [2, 1]}",
    ],
)
def test_other_shapers_have_no_bound_here(shaper: str) -> None:
    with pytest.raises(PlanningErrors, match="windows at all ports"):
        plan_of(three(shapers=f", a -> m: {{{shaper}}}"))


LINE = """\
name: line
duration: 10 ms
network:
  stations: [a, b]
  bridges: {m: {processing: {least: 1 us, most: 3 us}}}
  links: {rate: 1 Gbit/s, cable: 10 m, between: [a -- m, m -- b]}
  queues: {classes: {3: 1, 0: 0}}
streams:
  x: {from: a, to: b, pcp: 3, frame: 1000 B, period: 500 us, offset: 20 us, requires: {delay: 1 ms}}
windows: {margin: 100 ns}
shapers: {all: {gates: plan}}
"""
"""Windows at both ports, 0 and 2, in class 1; 50 ns of cable."""


@pytest.mark.parametrize(
    "row", table(__file__, "line.yaml"), ids=lambda row: f"{row['cycle']} {row['forwarding']}"
)
def test_windows_on_a_line(row: dict[str, Any]) -> None:
    *first, since_due = row["delays"]
    assert planned(LINE, row["cycle"], row["forwarding"]) == Outcome(
        row["cycle"],
        windows={(port, 1): window(*own) for port, own in zip((0, 2), row["windows"], strict=True)},
        waits={(0, hop): own * NS for hop, own in enumerate(row["waits"])},
        delays={(0, 1): delays(*first, tuple(since_due))},
    )


def test_ptp_messages_lengthen_the_window_and_may_be_ahead() -> None:
    """588 octets of PTP messages, 4704 ns, at any time: they are ahead of the frame, or not."""
    found = planned(LINE + "clocks: {gptp: {grandmaster: a, pcp: 3}}\n", 500_000, "pass")
    # Not all arrivals are known, so windows gather.
    assert found.windows == {(0, 1): window(20_000, 20_000, 32_964), (2, 1): window(36_014, 36_014, 48_978)}
    assert in_ns(found.waits) == {(0, 0): 12_864, (0, 1): 36_014 - 29_014 + 12_864}
    assert found.delays == {(0, 1): delays(28_928, 19_328, 17_228, 28_928, (24_128, 28_928))}


def test_a_window_without_room_has_the_length_of_what_comes_in_a_cycle() -> None:
    """One frame of 8160 ns comes from 1 to 2 ps in every cycle of 8 us."""
    one, demands = asked(LINE)
    outcome = Outcome(8_000)
    _queue(one, demands, outcome, (0, 1), [(0, 0)], Arrivals(known={(0, 0): [Unit(0, 0, 1, 2)]}), "gather")
    assert outcome == Outcome(8_000, full={(0, 1): 8_160 * NS}, waits={(0, 0): None}, delays=outcome.delays)


def test_a_delay_without_a_bound_leaves_those_of_other_streams() -> None:
    """The frame of ``x`` takes 408 us with 20 Mbit/s, a cycle is 200 us; ``y`` is alone, as on the line."""
    text = LINE.replace("[a, b]", "[a, b, c, d]").replace("m: {processing: ", "m: MORE, n: {processing: ")
    text = text.replace("MORE", "{processing: 1 us}").replace(
        "{rate: 1 Gbit/s, cable: 10 m, between: [a -- m, m -- b]}",
        "[{rate: 20 Mbit/s, between: [a -- m, m -- b]},"
        " {rate: 1 Gbit/s, cable: 10 m, between: [c -- n, n -- d]}]",
    )
    stream = next(line for line in text.splitlines(keepends=True) if line.startswith("  x: "))
    text = text.replace(stream, stream + stream.replace("x: {from: a, to: b", "y: {from: c, to: d"))
    found = planned(text, 200_000)
    assert found.delays[0, 1].most is None
    assert found.delays[1, 1] == delays(29_780, 17_228, 17_228, 229_876, (17_228, 229_876))


def test_a_talker_on_the_way_has_the_first_hop_of_its_stream_there() -> None:
    """A window at the first hop of any of its streams gathers, with "pass behind the first"."""
    text = """\
name: on-the-way
duration: 10 ms
network:
  {stations: [b], hosts: [a, m], rate: 1 Gbit/s, links: [a -- m, m -- b], queues: {classes: {3: 1, 0: 0}}}
hosts: {m: {kernel-rx: {from: 1 us, to: 3 us}}}
streams:
  x: {from: a, to: b, pcp: 3, frame: 1000 B, period: 500 us, requires: {delay: 1 ms}}
  y: {from: m, to: b, pcp: 3, frame: 500 B, period: 500 us, requires: {delay: 1 ms}}
shapers: {all: {gates: plan}}
"""
    gathered, passed = planned(text, 500_000, "pass behind the first"), planned(text, 500_000, "pass")
    # `x` is at `m` from 9.064 to 11.16, `y` at 0.
    assert gathered.windows[2, 1] == window(11_160, 11_160, 11_160 + 12_320)
    assert in_ns(gathered.waits) == {(0, 0): 8_160, (0, 1): 2_096 + 12_320, (1, 0): 11_160 + 4_160}
    assert gathered.delays == {
        # Behind `y` or not: `y` has certainly arrived, so that it is 4160 behind the opening.
        (0, 1): delays(23_480, 23_288, 17_128, 23_480, (23_384, 23_480)),
        (1, 0): delays(4_064, 4_064, 4_064, 15_320, (15_224, 15_320)),
    }
    assert passed.windows[2, 1] == window(0, 11_160, 11_160 + 12_320)
    assert in_ns(passed.waits) == {(0, 0): 8_160, (0, 1): 12_320, (1, 0): 4_160}


def test_a_window_without_room_leaves_nothing_known_behind_it() -> None:
    """Three frames of 8160 ns in a cycle of 20 us; their next port is ten times as quick."""
    text = """\
name: full
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: {m: {processing: 1 us}}
  links: [{rate: 1 Gbit/s, between: [a -- m, c -- m]}, {rate: 10 Gbit/s, between: m -- b}]
  queues: {classes: {3: 1, 0: 0}}
streams:
  x: {from: a, to: b, pcp: 3, frame: 1000 B, period: 500 us, count: 3, requires: {delay: 1 ms}}
  y: {from: c, to: b, pcp: 3, frame: 1000 B, period: 500 us, requires: {delay: 1 ms}}
shapers: {all: {gates: plan}}
"""
    found = planned(text, 20_000)
    assert found.full == {(0, 1): 24_480 * NS}
    # At `m` three come at any time, and the one from `c` from 9.064 to 9.16.
    assert found.windows == {(2, 1): window(0, 0, 8_160), (4, 1): window(9_160, 9_160, 9_160 + 4 * 816)}
    # So many of the three may come at once that the fourth waits, too.
    assert in_ns(found.waits) == {
        **{(flow, hop): None for flow in range(3) for hop in range(2)},
        (3, 0): 8_160,
        (3, 1): None,
    }
    unknown = FlowDelays(None, 9_870_400, 9_870_400)
    assert found.delays == {(flow, 1): unknown for flow in range(4)}


def test_ports_without_windows_ahead_of_windows() -> None:
    """At ``m`` from 5.064 to 20.48 + 3 and from 9.064 to 36.8 + 3."""
    text = three()
    assert planned(text, 500_000) == Outcome(
        500_000,
        windows={(2, 2): window(23_480, 23_480, 27_640), (2, 1): window(39_800, 39_800, 47_960)},
        waits={(0, 0): 20_480 * NS, (0, 1): 22_576 * NS, (1, 0): 36_800 * NS, (1, 1): 38_896 * NS},
        delays={
            # 27.544 less the latest first bit, 20.48 - 4.064.
            (0, 1): delays(27_640, 11_128, 9_128, 27_640, (27_544, 27_640)),
            (1, 1): delays(47_960, 19_128, 17_128, 47_960, (47_864, 47_960)),
        },
    )
    # Two of each may come at any time: a frame that waits may meet the next one. The windows of the two
    # classes follow each other.
    assert planned(text, 200_000) == Outcome(
        200_000,
        windows={(2, 2): window(0, 0, 8_320), (2, 1): window(8_320, 8_320, 24_640)},
        waits={(0, 0): 20_480 * NS, (0, 1): 208_320 * NS, (1, 0): 36_800 * NS, (1, 1): 216_320 * NS},
        delays={
            (0, 1): delays(215_384, 9_128, 9_128, 231_800, (9_128, 231_800)),
            (1, 1): delays(227_384, 17_128, 17_128, 256_120, (17_128, 256_120)),
        },
    )
    # A wait of four cycles is none that is examined.
    assert waits(planned(text, 9_201)) == [20_480, 36_800]
    assert waits(planned(text, 9_200)) == [20_480, None]


def test_streams_that_only_precede_others() -> None:
    """``high`` goes to ``c``, where there are no windows, and is ahead of ``own`` at the talker."""
    text = """\
name: beside
duration: 10 ms
network:
  {stations: [a, b, c], bridges: {m: {processing: 1 us}}, rate: 1 Gbit/s,
   links: [a -- m, m -- b, m -- c], queues: {classes: {3: 2, 2: 1, 0: 0}}}
streams:
  high: {from: a, to: c, pcp: 3, frame: 500 B, period: 500 us}
  own: {from: a, to: b, pcp: 2, frame: 1000 B, period: 500 us, requires: {delay: 1 ms}}
shapers: {m -> b: {gates: plan}}
"""
    assert planned(text, 500_000) == Outcome(
        500_000,
        windows={(2, 1): window(25_640, 25_640, 33_800)},
        # A lower frame and two of its own; two of each; two of its own.
        waits={(0, 0): 16_480 * NS, (1, 0): 24_640 * NS, (0, 1): 8_320 * NS, (1, 1): 24_736 * NS},
        delays={(1, 1): delays(33_800, 17_128, 17_128, 33_800, (33_704, 33_800))},
    )
    # 1001 of them in a cycle are not examined one by one. With 672 ns each, 51.936 us are 16.32 us for two of
    # `own` and 53 of them: the one that is due, the late one, and those of 51 us.
    often = text.replace("frame: 500 B, period: 500 us", "frame: 64 B, period: 1 us")
    assert in_ns(planned(often, 1_001_000).waits)[OWN, 0] == 51_936
    assert lay_out(*asked(text), 1_001 * 500_000, "gather") is None
    # Of a stream without a period, no number of frames is known: all behind it wait without a bound.
    random = planned(text.replace("frame: 500 B, period: 500 us", "frame: 500 B, poisson: 1 Mbit/s"), 500_000)
    assert random.waits == dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)])


PARALLEL = """\
name: members
duration: 10 ms
network:
  {stations: [a, b], bridges: {m: {processing: 1 us}}, rate: 1 Gbit/s,
   links: [a -- m, a -- m, m -- b], queues: {classes: {3: 1, 0: 0}}}
streams:
  own: {from: a, to: b, pcp: 3, frame: 1000 B, period: 500 us, frer: {}, requires: {delay: 1 ms}}
shapers: {all: {gates: plan}}
"""


def test_both_first_links_of_member_streams_have_windows() -> None:
    """A frame and its tag take 8208 ns; behind the elimination it has no tag. Both are at ``m`` at 9.208."""
    found = planned(PARALLEL, 500_000)
    assert found.windows == {
        (0, 1): window(0, 0, 8_208),
        (2, 1): window(0, 0, 8_208),
        (4, 1): window(9_208, 9_208, 17_368),
    }
    # At `m` from 9.112, because the gap of an earlier frame may extend into the window or not.
    assert in_ns(found.waits) == {(0, 0): 8_208, (0, 1): 8_208, (0, 2): 96 + 8_160}


RING = """\
name: ring
duration: 10 ms
network:
  stations: [t1, t2, t3, l1, l2, l3]
  bridges: {s1: {processing: 1 us}, s2: {processing: {least: 1 us, most: 2 us}}, s3: {processing: 1 us}}
  rate: 1 Gbit/s
  links: [t1 -- s1, t2 -- s2, t3 -- s3, l1 -- s1, l2 -- s2, l3 -- s3, s1 -- s2, s2 -- s3, s3 -- s1]
  queues: {classes: {3: 1, 0: 0}}
streams:
  x: {from: t1, to: l3, via: [t1, s1, s2, s3, l3], SAME}
  y: {from: t2, to: l1, via: [t2, s2, s3, s1, l1], SAME}
  z: {from: t3, to: l2, via: [t3, s3, s1, s2, l2], SAME}
shapers: {s1 -> all: {gates: plan}, s2 -> all: {gates: plan}, s3 -> all: {gates: plan}}
"""
"""Each stream waits for the one before it: no port can be the first."""
SAME = "pcp: 3, frame: 1000 B, period: 500 us, requires: {delay: 2 ms}"


def test_streams_in_a_circle_arrive_at_any_time_somewhere() -> None:
    """The ports to the listeners come first, with seven cycles of frames; then s1 -> s2 with five of ``z``.

    At s1 -> s2 ``x`` comes from 9.064 to 17.32. It leaves with all others until 66.28, and is at s2 -> s3
    from 26.384 to 68.28, where ``y`` is from 9.064 to 18.32. There ``y`` is certainly the first, and is at
    s3 -> s1 from 77.344 to 77.44, where ``z`` is from 9.064 to 17.32.
    """
    found = planned(RING.replace("SAME", SAME), 500_000)
    listeners = {(port, 1): window(0, 0, 7 * 8_160) for port in (7, 9, 11)}
    assert found.assumed == [(1, 3), (2, 3), (0, 3), (2, 2)]
    assert found.windows == {
        **listeners,
        (12, 1): window(17_320, 17_320, 17_320 + 6 * 8_160),
        (14, 1): window(68_280, 68_280, 68_280 + 2 * 8_160),
        (16, 1): window(77_440, 77_440, 77_440 + 2 * 8_160),
    }
    assert in_ns(found.waits) == {
        **{(flow, 0): 2 * 8_160 for flow in range(3)},
        **{(flow, 3): 500_000 + 7 * 8_160 for flow in range(3)},
        (0, 1): 17_320 - 9_064 + 6 * 8_160,
        (2, 2): 500_000 + 6 * 8_160,
        (0, 2): 68_280 - 26_384 + 2 * 8_160,
        (1, 1): 68_280 - 9_064 + 8_160,
        (1, 2): 77_440 - 77_344 + 2 * 8_160,
        (2, 1): 77_440 - 9_064 + 8_160,
    }
    # Of `y`: a frame, and the waits and processing of three hops; from its release with the talker's wait.
    most = 8_064 + (67_376 + 2_000) + (16_416 + 1_000) + (557_120 + 1_000)
    release = most - 8_064 + 16_320
    assert found.delays[1, 3] == delays(most, 8_064, 8_064, release, (8_064, release))


def test_a_circle_whose_frames_are_later_than_assumed_has_no_bound() -> None:
    """A jitter of 2 ms is more than two cycles of 200 us at each of two and of three hops."""
    same = SAME.replace("1000 B", "100 B").replace("500 us", "500 us, jitter: 2 ms")
    found = planned(RING.replace("SAME", same), 200_000)
    assert not found.full
    assert set(found.waits.values()) == {None}
    assert len(found.waits) == 12
    assert found.delays == {(flow, 3): delays(None, 864, 864) for flow in range(3)}


def test_assumed_data_units_are_those_of_a_cycle_and_of_two_for_each_hop() -> None:
    one, _ = asked(RING.replace("SAME", SAME))
    outcome = Outcome(200_000)
    # 1400, 1000 and 1005 us, of 500 us each.
    assert _any(one, outcome, 0, 3) == [Unit(0, 3, 0, 0, known=False, count=3)]
    assert _any(one, outcome, 1, 2) == [Unit(1, 2, 0, 0, known=False, count=2)]
    assert _any(one, Outcome(201_000), 1, 2) == [Unit(1, 2, 0, 0, known=False, count=3)]
    assert outcome.assumed == [(0, 3), (1, 2)]
    # Of others, one in each cycle.
    one.flows[0].stream = one.flows[0].stream.model_copy(update={"pattern": model.Saturating()})
    assert _any(one, outcome, 0, 3) == [Unit(0, 3, 0, 0, known=False, count=7)]


def test_lateness_of_several_hops() -> None:
    """Waits of 20, 30 and 40 us less a frame's 8.064 each, 1 us more at s2, and 7 us of jitter."""
    one, demands = asked(RING.replace("SAME", SAME.replace("500 us", "500 us, jitter: 7 us")))
    outcome = Outcome(1_000, waits={(0, hop): (20 + 10 * hop) * 1_000 * NS for hop in range(3)})
    late = [variation(one, demands.wires, outcome.waits, 0, hop) for hop in range(4)]
    assert late == [7_000 * NS, 18_936 * NS, 41_872 * NS, 73_808 * NS]
    outcome.waits[0, 1] = None
    assert [variation(one, demands.wires, outcome.waits, 0, hop) is None for hop in range(4)] == [
        False,
        False,
        True,
        True,
    ]
    # Two cycles for each hop before: as late is as assumed, later is not.
    outcome = Outcome(10_468, waits={(0, 0): 20_000 * NS, (0, 1): 30_000 * NS})
    assert not _too_late(one, demands, outcome, 0, 2)
    outcome.cycle_ns = 10_467
    assert _too_late(one, demands, outcome, 0, 2)
    assert _too_late(one, demands, outcome, 0, 3)


def test_more_frames_leave_a_port_together() -> None:
    one, _ = asked(LINE)
    (flow,) = one.flows
    some = Unit(0, 0, 0, 0, known=False, count=3)

    def count(unit: Unit, wait: int | None, windowed: bool = False) -> int:
        return _count(flow, unit, None if wait is None else Departure(0, 0, wait), windowed)

    # Those that come in each 500 us of the wait.
    assert [count(some, wait * NS) for wait in (0, 1, 500_000, 500_001)] == [3, 4, 4, 5]
    assert count(some, 500_001 * NS, windowed=True) == 6
    assert count(some, None) == count(some, None, windowed=True) == 3
    assert count(Unit(0, 0, 0, 0, count=3), 500_001 * NS) == 3


def test_delays_of_two_data_units() -> None:
    one, other = FlowDelays(5, 2, 1, 9, (3, 9)), FlowDelays(4, 1, 1, 7, (2, 7))
    assert _both(one, other) == _both(other, one) == FlowDelays(5, 1, 1, 9, (2, 9))
    unknown = FlowDelays(None, 1, 1)
    assert _both(one, unknown) == _both(unknown, one) == FlowDelays(None, 1, 1)


@pytest.mark.parametrize(
    ("windowed", "arrived", "expected"),
    [
        # The highest class, at the first port.
        (set(), "abcd", (0, 2)),
        # Not the middle class of port 0, because the highest one of it is not ready.
        (set(), "acd", (1, 0)),
        (set(), "ab", (0, 2)),
        (set(), "a", (0, 1)),
        (set(), "cd", (1, 0)),
        # Ports with windows are followed first, because their times are known again.
        ({(0, 1)}, "abcd", (0, 1)),
        ({(2, 0)}, "acd", (2, 0)),
        # No one is ready: the highest class.
        (set(), "", (0, 2)),
        ({(0, 1), (1, 0)}, "", (0, 1)),
    ],
)
def test_the_order_of_queues(windowed: set[Queue], arrived: str, expected: Queue) -> None:
    flows = {name: [(number, 0)] for number, name in enumerate("abcd")}
    left = {(0, 1): flows["a"], (0, 2): flows["b"], (1, 0): flows["c"], (2, 0): flows["d"]}
    demands = Demands({}, set(), windowed, {}, {})
    arrivals = {(number, 0): [Unit(number, 0, 0, 0)] for number, name in enumerate("abcd") if name in arrived}
    assert _next(demands, left, arrivals) == expected
