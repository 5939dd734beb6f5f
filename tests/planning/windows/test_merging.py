"""Arrivals where member streams merge, by hand: 1 Gbit/s, 8 ns an octet.

A frame of 1000 octets takes 8064 ns from the first bit of its preamble to its last bit, and 8160 ns with the
gap; with an R-TAG both take 48 ns more.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from planning.routing.test_hops_before import LADDER
from planning.windows.test_propagation import asked, delays, in_ns, planned, window
from tsnbench.planning.windows.demand import Unit
from tsnbench.planning.windows.merging import merged
from tsnbench.planning.windows.waits import in_sum, variation

TWO_PATHS = """\
name: members
duration: 10 ms
network:
  stations: [a, b]
  bridges:
    s: {processing: 1 us}
    slow: {processing: 300 us}
    quick: {processing: {least: 215 us, most: 235 us}}
    m: {processing: 1 us}
  rate: 1 Gbit/s
  links: [a -- s, s -- slow, s -- quick, slow -- m, quick -- m, m -- b]
  queues: {classes: {3: 1, 0: 0}}
streams:
  own: {from: a, to: b, pcp: 3, frame: 1000 B, period: 500 us, frer: {}, requires: {delay: 2 ms}}
shapers: {all: {gates: plan}}
"""
A_S, S_SLOW, S_QUICK, SLOW_M, QUICK_M, M_B = (0, 1), (2, 1), (4, 1), (6, 1), (8, 1), (10, 1)
FIRST, TO_SLOW, FROM_SLOW, TO_QUICK, FROM_QUICK, LAST = ((0, hop) for hop in range(6))


def test_a_window_behind_a_merge_waits_for_the_slower_path() -> None:
    """By ``slow`` a frame is at ``m`` until 325.576, by ``quick`` from 252.368 + 8.112: one window."""
    found = planned(TWO_PATHS, 500_000)
    assert found.windows == {
        A_S: window(0, 0, 8_160),
        S_SLOW: window(9_160, 9_160, 17_368),
        S_QUICK: window(9_160, 9_160, 17_368),
        SLOW_M: window(317_368, 317_368, 325_576),
        QUICK_M: window(252_368, 252_368, 260_576),
        M_B: window(326_576, 326_576, 334_736),
    }
    assert in_ns(found.waits) == {
        FIRST: 8_160,
        TO_SLOW: 96 + 8_208,
        TO_QUICK: 96 + 8_208,
        FROM_SLOW: 96 + 8_208,
        # The frame may be at `quick` from 9.160 + 8.112 + 215 on.
        FROM_QUICK: 252_368 - 232_272 + 8_208,
        LAST: 326_576 - (252_368 + 8_112 + 1_000) + 8_160,
    }
    assert found.delays == {
        LAST: delays(334_736, 334_640 - 96, 249_352, 334_736, (334_640, 334_736)),
    }


def test_variation_behind_a_merge() -> None:
    """From the fastest way by ``quick``, with 100 ns of cable, to the slowest one by ``slow``, with 3 us."""
    text = TWO_PATHS.replace("s -- slow", "{between: s -- slow, cable: 600 m}")
    text = text.replace("s -- quick", "{between: s -- quick, cable: 20 m}")
    draft, demands = asked(text)
    waits = planned(text, 500_000).waits
    slow = sum(wait for hop, wait in waits.items() if hop in (FIRST, TO_SLOW, FROM_SLOW) if wait is not None)
    early = 8_064 + 1_000 + 8_112 + 100 + 215_000 + 8_112 + 1_000
    late = slow // 1_000 + 1_000 + 3_000 + 300_000 + 1_000
    assert variation(draft, demands.wires, waits, *LAST) == (late - early) * 1_000
    for missing in (FROM_SLOW, FROM_QUICK):
        assert variation(draft, demands.wires, waits | {missing: None}, *LAST) is None


def test_waits_count_from_the_queue_if_the_talker_has_several_ports() -> None:
    """From the first bit of one port the wait in its queue does not count; the first bit of another port may
    be earlier."""
    two = TWO_PATHS.replace("    s: {processing: 1 us}\n", "").replace(
        "a -- s, s -- slow, s -- quick", "a -- slow, a -- quick"
    )
    for text, several in ((TWO_PATHS, False), (two, True)):
        draft, demands = asked(text)
        waits = planned(text, 500_000).waits
        (to,) = draft.flows[0].ends
        total, released = in_sum(draft, demands.wires, waits, 0, to)
        first = waits[FIRST]
        assert total is not None
        assert released is not None
        assert first is not None
        assert released - total == (0 if several else first - demands.wires[FIRST].frame)
        assert several or released > total


ONE = Unit(0, 3, 100, 200, turn=0, released=5, fastest=90)
NEXT = replace(ONE, first=600, last=700, turn=1, released=505)
CYCLE = 1_000


def test_one_path_changes_nothing() -> None:
    own = [ONE, NEXT]
    assert merged(LADDER, [own], CYCLE) is own


def test_each_data_unit_comes_by_any_path() -> None:
    slow = [replace(ONE, first=150, last=350, fastest=140), replace(NEXT, first=550, last=650, fastest=80)]
    assert merged(LADDER, [[ONE, NEXT], slow], CYCLE) == [
        replace(ONE, first=100, last=350, fastest=90, in_order=False),
        replace(NEXT, first=550, last=700, fastest=80, in_order=False),
    ]


def test_a_path_without_a_bound_leaves_none() -> None:
    (own,) = merged(LADDER, [[ONE], [replace(ONE, bounded=False)]], CYCLE)
    assert not own.bounded


def test_data_units_without_a_release_may_be_different_ones_on_each_path() -> None:
    two, three = (replace(ONE, released=None, count=count) for count in (2, 3))
    (own,) = merged(LADDER, [[two], [three]], CYCLE)
    assert (own.known, own.count) == (True, 5)


@pytest.mark.parametrize(
    ("last", "in_a_cycle"),
    [pytest.param(100, 1, id="at one instant"), pytest.param(1_100, 2, id="a cycle"), (1_101, 3)],
)
def test_with_a_path_of_unknown_times_all_come_at_any_time(last: int, in_a_cycle: int) -> None:
    """``in_a_cycle`` of the known one, and four of the others."""
    # Its first and last time have no meaning.
    unknown = Unit(0, 3, 7, 5_007, known=False, count=4, fastest=70)
    known = replace(ONE, last=last, until=9_000)
    (own,) = merged(LADDER, [[known], [unknown]], CYCLE)
    assert own == Unit(0, 3, 0, 0, known=False, count=in_a_cycle + 4, fastest=70, in_order=False)
    # Also if one path has every data unit of a cycle, and the other one none of them by name.
    (own,) = merged(LADDER, [[known, NEXT], [ONE]], CYCLE)
    assert (own.known, own.count) == (False, in_a_cycle + 2 + 2)
    (own,) = merged(LADDER, [[NEXT], [replace(unknown, bounded=False)]], CYCLE)
    assert (own.turn, own.bounded) == (0, False)


@pytest.mark.parametrize(
    ("algorithm", "reset_ns", "twice"),
    [
        pytest.param({"kind": "vector", "history": 2}, 1, False, id="vector"),
        pytest.param({"kind": "vector", "history": 2}, 0, True, id="vector: forgets at a reset"),
        pytest.param({"kind": "match"}, 1, True, id="match: knows only the latest number"),
    ],
)
def test_a_recovery_that_forgets_may_forward_a_frame_twice(
    algorithm: dict[str, object], reset_ns: int, twice: bool
) -> None:
    flow = replace(LADDER, redundancy={**LADDER.redundancy})
    flow.redundancy["recovery"] = {"identification": "null", "algorithm": algorithm, "reset_ns": reset_ns}
    slow = replace(ONE, first=599, last=1_099)
    both = [replace(one, in_order=False) for one in (ONE, slow)]
    assert merged(flow, [[ONE], [slow]], CYCLE) == (
        both if twice else [replace(ONE, last=1_099, in_order=False)]
    )
    # From 100 to 1,100 ps is a nanosecond.
    slow = replace(slow, last=1_100)
    assert len(merged(flow, [[ONE], [slow]], CYCLE)) == 2
