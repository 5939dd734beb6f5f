"""Places of windows by hand, in a cycle of 100 ps."""

from __future__ import annotations

import pytest

from tsnbench.planning.windows.demand import Unit, Wire
from tsnbench.planning.windows.placement import Room, pass_through, store_and_release
from tsnbench.planning.windows.sizing import Arrival, Window


def taken(*spans: tuple[int, int]) -> tuple[Window, ...]:
    return tuple(Window(opens, opens, closes) for opens, closes in spans)


def arrival(first: int, last: int, whole: int = 5, flow: int = 0) -> Arrival:
    return Arrival(Unit(flow, 0, first, last, until=10_000), Wire(whole, whole, 2, 3))


ANY_TIME = Arrival(Unit(9, 0, 0, 0, known=False), Wire(5, 5, 2, 3))


def room(*spans: tuple[int, int], tick: int = 1, shortest: int = 1, margin: int = 2) -> Room:
    return Room(100, tick, shortest, margin, taken(*spans))


@pytest.mark.parametrize(
    ("spans", "shortest", "opens", "length", "expected"),
    [
        ([], 5, 13, 20, 15),
        ([], 5, 15, 20, 15),
        ([(20, 50)], 5, 10, 20, 50),
        # It fits exactly before the other, and exactly behind it.
        ([(20, 50)], 5, 0, 20, 0),
        ([(20, 50)], 5, 50, 20, 50),
        ([(20, 50)], 5, 49, 20, 50),
        ([(20, 50)], 5, 50, 70, 50),
        # A pause is as long as an entry, or there is none.
        ([(20, 50)], 10, 0, 15, 50),
        ([(20, 50)], 10, 0, 10, 0),
        ([(20, 50)], 10, 55, 20, 60),
        ([(20, 50)], 10, 60, 20, 60),
        ([(20, 50)], 10, 50, 20, 50),
        ([(20, 50)], 10, 155, 20, 160),
        # The other one goes on in the next cycle.
        ([(80, 110)], 5, 0, 20, 10),
        ([(80, 110)], 5, 70, 20, 110),
        ([(80, 110)], 5, 60, 20, 60),
        # Both fill the cycle, or are too long for it.
        ([(10, 90)], 5, 0, 20, 90),
        ([(10, 90)], 5, 0, 25, None),
        # It ends as the other begins, whose last opening is still there.
        ([(20, 90)], 5, 80, 40, None),
        # A second window that leaves room makes no difference.
        ([(10, 90), (95, 100)], 1, 35, 25, None),
        # Between two windows, behind both, and nowhere.
        ([(0, 30), (50, 90)], 5, 0, 20, 30),
        ([(0, 30), (40, 70)], 5, 0, 20, 70),
        ([(0, 30), (40, 90)], 5, 0, 20, None),
        ([(40, 70), (0, 30), (75, 100)], 5, 5, 10, 30),
    ],
)
def test_the_first_place_that_is_free(
    spans: list[tuple[int, int]], shortest: int, opens: int, length: int, expected: int | None
) -> None:
    assert room(*spans, tick=5, shortest=shortest).free(opens, length) == expected


def test_a_window_has_the_length_of_an_entry() -> None:
    entries = room(tick=10, shortest=25)
    assert [entries.long(span) for span in (7, 25, 30, 31, 40)] == [30, 30, 30, 40, 40]


@pytest.mark.parametrize(
    ("every", "where", "expected"),
    [
        # It opens when the last one has come, for 5 and the margin.
        ([arrival(10, 20)], room(), (20, 27)),
        ([arrival(110, 120)], room(), (20, 27)),
        ([arrival(10, 20), arrival(30, 40, 7, flow=1)], room(), (40, 54)),
        # Before 40 the second may be there twice.
        ([arrival(10, 20), arrival(15, 40, flow=1)], room(), (40, 52)),
        # Behind others: in this cycle, or at the begin of the next one.
        ([arrival(10, 20)], room((15, 45)), (45, 52)),
        ([arrival(80, 90)], room((85, 100)), (0, 7)),
        ([arrival(80, 90)], room((85, 105)), (5, 12)),
        # On the grid.
        ([arrival(10, 21)], room(tick=10), (30, 40)),
        ([arrival(10, 20)], room(shortest=30), (20, 50)),
        # Nothing is known of its time: it opens where it can.
        ([ANY_TIME], room(), (0, 7)),
        ([ANY_TIME], room((0, 30)), (30, 37)),
        # As long as the cycle, and longer.
        ([arrival(10, 20, 98)], room(), (20, 120)),
        ([arrival(10, 20, 99)], room(), None),
        ([arrival(10, 20, 60)], room((0, 50)), None),
        # Rounded up it opens with the next cycle.
        ([arrival(85, 99)], room(tick=10), (0, 10)),
        # Only 13 are free, and at 45 the second may be there twice: 5 and 2 times 3, and the margin.
        ([arrival(10, 20), arrival(40, 50, 3, flow=1)], room((58, 145)), (45, 58)),
        # Either place is as good.
        ([arrival(0, 0), arrival(50, 50, flow=1)], room(), (0, 12)),
    ],
)
def test_store_and_release(every: list[Arrival], where: Room, expected: tuple[int, int] | None) -> None:
    found = store_and_release(every, where)
    assert found == (None if expected is None else Window(expected[0], expected[0], expected[1]))


def test_of_windows_of_one_length_that_with_the_least_delay_is_taken() -> None:
    """Data units at 10 and 80: opened at 80, the first waits for 70; opened at 10, the second for 30."""
    assert store_and_release([arrival(10, 10), arrival(80, 80, flow=1)], room()) == Window(10, 10, 22)


def test_of_many_places_some_are_tried() -> None:
    """Of 97 every second one; behind the last one nobody waits for the next cycle."""
    every = [arrival(10 * flow, 10 * flow, 1, flow) for flow in range(97)]
    assert store_and_release(every, Room(2_000, 1, 1, 0)) == Window(960, 960, 1_057)


@pytest.mark.parametrize(
    ("every", "where", "expected"),
    [
        # From the first arrival to the last one, then 12 for both and the margin.
        ([arrival(10, 20), arrival(60, 70, 7, flow=1)], room(), (10, 70, 84)),
        # The longest pause is within the cycle.
        ([arrival(10, 20), arrival(70, 80, 7, flow=1)], room(), (70, 120, 134)),
        ([arrival(10, 20), arrival(70, 80, 7, flow=1)], room(tick=20), (60, 120, 140)),
        ([arrival(110, 120)], room(), (10, 20, 27)),
        # A long span covers the short one behind it.
        ([arrival(10, 50), arrival(20, 30, flow=1)], room(), (10, 50, 62)),
        ([arrival(10, 20)], room(shortest=50), (10, 20, 60)),
        # Arrivals at all times, or at unknown times.
        ([arrival(0, 100)], room(), None),
        ([arrival(10, 20), ANY_TIME], room(), None),
        # Something else is in the way, or begins where it ends.
        ([arrival(10, 20)], room((26, 30)), None),
        ([arrival(10, 20)], room((27, 30)), (10, 20, 27)),
        # As long as the cycle, and longer.
        ([arrival(0, 95, 3)], room(), (0, 95, 100)),
        ([arrival(0, 95, 4)], room(), None),
        # A pause of 1 is one.
        ([arrival(0, 50, 0), arrival(51, 100, 0, flow=1)], room(margin=1), (51, 150, 151)),
        ([arrival(0, 99, 0)], room(margin=1), (0, 99, 100)),
    ],
)
def test_pass_through(every: list[Arrival], where: Room, expected: tuple[int, int, int] | None) -> None:
    found = pass_through(every, where)
    assert found == (None if expected is None else Window(*expected))
