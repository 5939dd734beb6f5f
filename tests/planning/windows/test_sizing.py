"""Times of one window by hand: a cycle of 100 ps, and frames that take a few of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tsnbench.planning.windows.demand import Unit, Wire
from tsnbench.planning.windows.sizing import Arrival, Departure, Window, departures, turns

CYCLE = 100
ALWAYS = 10_000
BEHIND_A_WINDOW = Window(50, 50, 80)
"""Whatever arrives until it opens leaves through it."""
WHILE_OPEN = Window(50, 60, 80)
"""Data units that arrive in its first 10 ps leave at once."""


def unit(first: int, last: int, flow: int = 0, turn: int = 0, count: int = 1) -> Unit:
    return Unit(flow, 0, first, last, count=count, until=ALWAYS, turn=turn)


def arrival(own: Unit, whole: int = 5) -> Arrival:
    """A data unit that takes ``whole`` at most and one less at least."""
    return Arrival(own, Wire(whole=whole, least=whole - 1, first=2, frame=3))


ANY_TIME = Unit(9, 0, 0, 0, known=False, count=3)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (unit(10, 20), 1),
        # What arrives at the cut is before it.
        (unit(20, 30), 1),
        (unit(31, 40), 1),
        # On either side: a late one and an early one in one window.
        (unit(20, 40), 2),
        (unit(30, 40), 2),
        (unit(20, 40, count=3), 6),
        # Later than two cycles: cuts at 30, 130 and 230 are between its limits.
        (unit(10, 240), 4),
        (unit(110, 120), 1),
        (ANY_TIME, 3),
    ],
)
def test_repetitions_between_two_cuts(own: Unit, expected: int) -> None:
    assert turns(arrival(own), 30, CYCLE) == expected


@pytest.mark.parametrize(
    ("window", "own", "expected"),
    [
        # It waits from 10 to 50 at most, and takes 5.
        (BEHIND_A_WINDOW, unit(10, 20), Departure(50, 55, 45)),
        (BEHIND_A_WINDOW, unit(10, 20, count=2), Departure(50, 60, 50)),
        # It comes while the window is open, or between its opening and the cut.
        (Window(5, 30, 40), unit(10, 20), Departure(10, 25, 5)),
        (Window(5, 30, 40), unit(2, 20), Departure(5, 25, 8)),
        # As early as the window closes, it waits for the next one.
        (BEHIND_A_WINDOW, unit(80, 90), Departure(150, 155, 75)),
        (BEHIND_A_WINDOW, unit(79, 79), Departure(79, 155, 76)),
        (BEHIND_A_WINDOW, unit(50, 50), Departure(50, 55, 5)),
        # Of a later cycle.
        (BEHIND_A_WINDOW, unit(210, 220), Departure(250, 255, 45)),
        # Just behind the cut at 50 it waits for a cycle, and then for the next repetition.
        (BEHIND_A_WINDOW, unit(40, 60), Departure(50, 160, 110)),
        # The cut is 10 behind the opening: it waits for 90.
        (WHILE_OPEN, unit(55, 65), Departure(55, 160, 100)),
        # Its own jitter is longer than a cycle: from 40 to the opening at 250, with three repetitions.
        (BEHIND_A_WINDOW, unit(40, 160), Departure(50, 265, 125)),
        # At any time: three of them wait for the rest of a cycle, and for each other.
        (WHILE_OPEN, ANY_TIME, Departure(50, 75, 105)),
    ],
)
def test_a_data_unit_alone(window: Window, own: Unit, expected: Departure) -> None:
    assert departures([arrival(own)], window, CYCLE) == [expected]


def test_an_earlier_data_unit_is_ahead() -> None:
    early, late = arrival(unit(10, 10, flow=0)), arrival(unit(20, 20, flow=1), 7)
    # The late one waits from 20 to 50, then 4 or 5 for the early one.
    expected = [Departure(50, 55, 45), Departure(54, 62, 42)]
    assert departures([early, late], BEHIND_A_WINDOW, CYCLE) == expected
    assert departures([late, early], BEHIND_A_WINDOW, CYCLE) == expected[::-1]


def test_what_is_not_in_every_cycle_is_not_certainly_ahead() -> None:
    early, late = unit(10, 10, flow=0, count=2), unit(20, 20, flow=1)
    for ends, follower_ends, starts in [
        (500, 500, 58),
        (501, 500, 58),
        (499, 500, 50),
        (None, 500, 50),
        (500, None, 50),
    ]:
        every = [arrival(replace(early, until=ends)), arrival(replace(late, until=follower_ends))]
        assert departures(every, BEHIND_A_WINDOW, CYCLE)[1] == Departure(starts, 65, 45)


def test_one_flow_is_ahead_of_itself_without_an_end_in_common() -> None:
    own = [arrival(replace(unit(at, at), hop=at, until=until)) for at, until in ((10, 500), (20, 700))]
    assert [one.starts for one in departures(own, BEHIND_A_WINDOW, CYCLE)] == [50, 54]


def test_data_units_of_one_flow_keep_their_order() -> None:
    """Their times overlap, and the second never overtakes the first."""
    first, second = arrival(unit(10, 20)), arrival(unit(12, 22, turn=1))
    expected = [Departure(50, 55, 45), Departure(54, 60, 48)]
    assert departures([first, second], BEHIND_A_WINDOW, CYCLE) == expected
    assert departures([second, first], BEHIND_A_WINDOW, CYCLE) == expected[::-1]
    # Of two flows each may be ahead.
    other = arrival(replace(second.unit, flow=1))
    assert departures([first, other], BEHIND_A_WINDOW, CYCLE) == [
        Departure(50, 60, 50),
        Departure(50, 60, 48),
    ]
    # Nor is there an order between two hops.
    other = arrival(replace(second.unit, hop=1))
    assert departures([first, other], BEHIND_A_WINDOW, CYCLE) == [
        Departure(50, 60, 50),
        Departure(50, 60, 48),
    ]


def test_the_rest_of_an_earlier_cycle_is_ahead_of_the_flow() -> None:
    """The second of a cycle arrives a cycle later: it is ahead of the first one of the next cycle."""
    first, late = arrival(unit(10, 10)), arrival(unit(110, 110, turn=1))
    # In the first cycle there is none ahead: the first frame may start at once.
    assert departures([first, late], BEHIND_A_WINDOW, CYCLE) == [
        Departure(50, 60, 50),
        Departure(150, 155, 45),
    ]


@pytest.mark.parametrize("flows", [(0, 0, 0), (0, 1, 2), (0, 0, 1), (0, 1, 1)])
def test_everything_ahead_counts(flows: tuple[int, int, int]) -> None:
    own = [unit(at, at, flow, turn) for flow, at, turn in zip(flows, (10, 20, 30), range(3), strict=True)]
    made = departures([arrival(own[2]), arrival(own[0]), arrival(own[1])], BEHIND_A_WINDOW, CYCLE)
    # Two of 4 or 5 are ahead, and it waits from 30 to 50.
    assert made[0] == Departure(58, 65, 35)


def test_of_one_flow_only_what_came_behind_the_last_window_is_certainly_ahead() -> None:
    """The first may come while the previous window is open, and then does not share the second's window."""
    first, second = arrival(unit(75, 90)), arrival(unit(95, 98, turn=1))
    assert departures([first, second], BEHIND_A_WINDOW, CYCLE)[1].starts == 150
    first = arrival(unit(80, 90))
    assert departures([first, second], BEHIND_A_WINDOW, CYCLE)[1].starts == 154


def test_only_what_came_behind_the_last_window_is_certainly_ahead() -> None:
    late = arrival(unit(110, 110, flow=1))
    for first, starts in [(79, 150), (80, 154), (81, 154)]:
        early = arrival(unit(first, 90))
        assert departures([early, late], BEHIND_A_WINDOW, CYCLE)[1].starts == starts
    # Before its first repetition there is none.
    assert departures([arrival(unit(60, 70)), arrival(unit(10, 10, flow=1))], BEHIND_A_WINDOW, CYCLE)[1] == (
        Departure(50, 60, 50)
    )
    # In the cycle after that there is one that came at 185, behind the window that closed at 180.
    later = arrival(unit(210, 210, flow=1))
    assert departures([arrival(unit(85, 90)), later], BEHIND_A_WINDOW, CYCLE)[1].starts == 254
    # As late as the other, it is not certainly ahead.
    assert departures([arrival(unit(85, 110)), late], BEHIND_A_WINDOW, CYCLE)[1].starts == 150
    assert departures([arrival(unit(85, 109)), late], BEHIND_A_WINDOW, CYCLE)[1].starts == 154


def test_whatever_arrives_at_any_time_is_ahead_once() -> None:
    own = arrival(unit(10, 20))
    for until in (None, ALWAYS):
        other = arrival(replace(ANY_TIME, until=until), 7)
        assert departures([own, other], BEHIND_A_WINDOW, CYCLE)[0] == Departure(50, 76, 66)


def test_a_crossing_data_unit_is_ahead_as_often_as_it_fits() -> None:
    """The other comes in [40, 60]; at most two leave together, and one of them before 45 or 49."""
    crossing = arrival(unit(40, 60, flow=1), 7)
    # Until 45: the late one of the cycle before, which came behind -50, and the early one of this cycle.
    assert departures([arrival(unit(45, 45)), crossing], BEHIND_A_WINDOW, CYCLE)[0] == Departure(50, 69, 24)
    # Until 39 only the late one.
    assert departures([arrival(unit(39, 39)), crossing], BEHIND_A_WINDOW, CYCLE)[0] == Departure(50, 62, 23)
