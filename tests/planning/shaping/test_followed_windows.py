"""The windows of a port that follows another one, each step by hand; times on the wire are in ps."""

from __future__ import annotations

from typing import Any

import pytest

from planning.shaping.test_derived_gates import CUT, LONG, REDUNDANT, SHORT, edges_of, gates, made, problems
from tsnbench.planning.draft import Gates
from tsnbench.planning.shaping.derived_gates import _apart, _common, _entries, _shifted
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model.shapers import Preemption

# PCP 6 has 20 us of 100 us, PCP 0 the rest, and PCP 5 all the time.
LIST = Gates(0, ((0b110_0000, 20_000), (0b010_0001, 80_000)))


@pytest.mark.parametrize(
    ("path", "margin", "span"),
    [
        ((0, 0), 0, [(0, 20_000)]),
        # -30,000.5 ns and 20,000 - 29,999.5 ns, rounded inwards, and one cycle later.
        ((30_000_500, 29_999_500), 0, [(70_000, 90_000)]),
        ((30_000_500, 29_999_500), 100, [(70_100, 89_900)]),
        # -100,000 ns is the begin of a cycle, -100,001 ns the end of one.
        ((100_000_000, 100_000_000), 0, [(0, 20_000)]),
        ((100_001_000, 100_001_000), 0, [(99_999, 119_999)]),
        # The window there is as long as the paths differ, or longer by 1 ns.
        ((0, 20_000_000), 0, []),
        ((0, 19_999_000), 0, [(0, 1)]),
        ((0, 19_999_001), 0, []),
        ((0, 19_800_000), 100, []),
        ((0, 19_799_000), 100, [(100, 101)]),
    ],
)
def test_a_window_opens_and_closes_a_path_earlier(
    path: tuple[int, int], margin: int, span: list[tuple[int, int]]
) -> None:
    assert _shifted(LIST, 6, path, margin) == span


def test_a_class_that_is_always_open_there_has_no_windows_and_a_closed_one_none_that_open() -> None:
    assert _shifted(LIST, 5, (1_000, 2_000), 3) is None
    assert _shifted(LIST, 4, (1_000, 2_000), 3) == []


def test_windows_that_would_meet_are_a_nanosecond_apart() -> None:
    """60 us and 20 us open, and 10 us closed after each: 30 us shorter there than here, they meet."""
    both = Gates(0, ((0b1, 60_000), (0, 10_000), (0b1, 20_000), (0, 10_000)))
    # Opens 30 us earlier than it closes: -30 to 60 us and 40 to 90 us, of a cycle of 100 us.
    assert _shifted(both, 0, (30_000_000, 0), 0) == [(40_000, 69_999), (70_000, 139_999)]


@pytest.mark.parametrize(
    ("spans", "apart"),
    [
        ([(0, 10), (10, 20), (20, 30)], [(0, 9), (10, 19), (20, 30)]),
        ([(0, 10), (11, 20), (22, 30)], [(0, 10), (11, 20), (22, 30)]),
        # The last one meets the first one of the next cycle, at 105.
        ([(5, 10), (90, 105)], [(5, 10), (90, 104)]),
        ([(5, 10), (90, 104)], [(5, 10), (90, 104)]),
        # One that only lasts until the next one begins is not there.
        ([(0, 1), (1, 20)], [(1, 20)]),
        ([(0, 2), (2, 20)], [(0, 1), (2, 20)]),
        ([(7, 107)], [(7, 106)]),
        ([], []),
    ],
)
def test_a_window_ends_before_the_next_one_begins(
    spans: list[tuple[int, int]], apart: list[tuple[int, int]]
) -> None:
    assert _apart(spans, 100) == apart


@pytest.mark.parametrize(
    ("every", "common"),
    [
        ([None], [(0, 100)]),
        ([[(0, 10), (20, 30)], None, [(5, 25)]], [(5, 10), (20, 25)]),
        # From 90 on, and 10 of the next cycle.
        ([[(90, 110)]], [(0, 10), (90, 100)]),
        ([[(90, 110)], [(5, 95)]], [(5, 10), (90, 95)]),
        # They meet, and have nothing in common.
        ([[(0, 10)], [(10, 20)]], []),
        ([[(0, 10)], [(9, 20)]], [(9, 10)]),
        ([[(0, 10)], []], []),
    ],
)
def test_frames_of_several_paths_leave_when_all_may(
    every: list[list[tuple[int, int]] | None], common: list[tuple[int, int]]
) -> None:
    assert _common(every, 100) == common


def test_a_list_has_an_entry_between_two_edges_and_opens_other_classes_always() -> None:
    others = 0b1001_1111
    assert _entries({6: [(70, 90)], 5: [(0, 10), (80, 100)]}, 8, 100) == (
        (others | 1 << 5, 10),
        (others, 60),
        (others | 1 << 6, 10),
        (others | 1 << 6 | 1 << 5, 10),
        (others | 1 << 5, 10),
    )
    # Three classes; windows that meet are one entry.
    assert _entries({1: [(0, 50), (50, 70)]}, 3, 100) == ((0b111, 70), (0b101, 30))
    assert _entries({2: []}, 3, 100) == ((0b011, 100),)


def test_a_frame_goes_on_before_all_of_it_came_unless_it_can_be_interrupted() -> None:
    """100 octets are enough, or all 500 where PCP 6 is preemptable; then 500 on the second link."""
    octets, rest = 8 * (8 + 500), 20 + 700 + 300
    entries = "{open: [6], for: 60 us}, {open: [0], for: 40 us}"
    scenario = made(forwarding=CUT, entries=entries)
    for express, first in ((6, 8 * (8 + 100)), (7, octets)):
        own = {"preemption": Preemption(express=(express,))}
        shaper = scenario.shapers["talker -> b1"].model_copy(update=own)
        changed = scenario.model_copy(update={"shapers": {**scenario.shapers, "talker -> b1": shaper}})
        assert 100_000 - (first + octets + rest) in edges_of(gates(changed, "talker -> b1"))


def test_a_port_on_one_of_several_ways_follows_for_the_frames_of_that_way() -> None:
    """Three links with an R-TAG of 6 octets, and 2 us. Without the tag, the last frame is 48 ns shorter."""
    text = REDUNDANT.replace("PATHS", f"[{SHORT}, {LONG}]").replace("talker -> split:", "split -> long1:")
    (scenario,) = read_scenario(text, "redundant.yaml")
    way = 3 * 8 * (8 + 306) + 2_000
    assert edges_of(gates(scenario, "split -> long1")) == {0, 60_000 - way + 48, 100_000 - way}


def test_each_priority_of_a_class_without_a_window_is_named() -> None:
    more = "  all: {queues: {classes: {7: 2, 6: 1, 5: 1, 0: 0}}}"
    found: list[Any] = problems(made(margin=10_000, more=more))
    assert found == [("shapers.talker -> b1.gates.margin", "nothing left for PCP 5, 6")]
