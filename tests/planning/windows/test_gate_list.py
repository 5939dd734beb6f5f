"""Gate control lists of windows, by hand. Windows are in ps, lists in ns."""

from __future__ import annotations

from tsnbench.planning.windows.gate_list import entries_of
from tsnbench.planning.windows.sizing import Window

REST = 0b1


def us(opens: int, closes: int) -> Window:
    return Window(opens * 1_000_000, opens * 1_000_000, closes * 1_000_000)


def test_a_list_begins_with_the_first_window_and_has_the_rest_between() -> None:
    windows = {5: us(300, 350), 7: us(100, 200), 6: us(350, 400)}
    assert entries_of(windows, REST, 1_000_000, 0, 1) == (
        100_000,
        ((1 << 7, 100_000), (REST, 100_000), (1 << 5, 50_000), (1 << 6, 50_000), (REST, 700_000)),
    )


def test_a_guard_ends_the_rest() -> None:
    assert entries_of({7: us(0, 100)}, REST, 1_000_000, 12_336, 1) == (
        0,
        ((1 << 7, 100_000), (REST, 887_664), (0, 12_336)),
    )


def rest_of(left_ns: int, guard_ns: int, shortest_ns: int) -> tuple[tuple[int, int], ...]:
    """The entries behind one window that leaves so much of the cycle."""
    window = Window(0, 0, 100_000_000)
    return entries_of({7: window}, REST, 100_000 + left_ns, guard_ns, shortest_ns)[1][1:]


def test_a_rest_that_is_too_short_for_an_entry_belongs_to_the_guard() -> None:
    assert rest_of(1_000, 600, 400) == ((REST, 400), (0, 600))
    assert rest_of(999, 600, 400) == ((0, 999),)
    assert rest_of(601, 600, 400) == ((0, 601),)
    assert rest_of(600, 600, 400) == ((0, 600),)
    assert rest_of(500, 600, 400) == ((0, 500),)


def test_a_nanosecond_of_rest_is_an_entry() -> None:
    assert rest_of(1, 0, 1) == ((REST, 1),)
    assert rest_of(0, 600, 1) == ()
