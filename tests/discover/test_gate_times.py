"""Gate control lists as functions of time: equal only where they open the same gates at all times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tsnbench.discover.gate_times import difference, gate_times

A, B, NONE = frozenset({6}), frozenset({0, 5}), frozenset[int]()
LISTS = some.lists(some.tuples(some.integers(1, 9), some.sampled_from([A, B, NONE])), min_size=1, max_size=6)


def opened(base: int, cycle: int, entries: list[tuple[int, frozenset[int]]], t: int) -> frozenset[int]:
    """The state at an instant, entry by entry, as IEEE 802.1Q-2022, 8.6.9 executes a list."""
    left = (t - base) % (cycle or sum(length for length, _ in entries))
    for length, classes in entries:
        if left < length:
            return classes
        left -= length
    return entries[-1][1]


@given(some.integers(0, 99), some.integers(0, 40), LISTS)
def test_a_list_opens_at_each_instant_what_its_entries_open(base, cycle, entries):
    found = gate_times(base, cycle, entries)
    for t in range(200):
        assert found.at(t) == opened(base, cycle, entries, t)


@given(some.integers(0, 99), LISTS, some.integers(0, 99), LISTS)
def test_lists_are_equal_where_they_open_the_same_gates_at_all_times(base, entries, other_base, others):
    """Compared at 2,520 instants: longer than twice any cycle, of at most 54 ns."""
    one, other = gate_times(base, 0, entries), gate_times(other_base, 0, others)
    instants = range(3000)
    same = all(opened(base, 0, entries, t) == opened(other_base, 0, others, t) for t in instants)
    assert (one == other) == same
    if not same:
        assert difference(one, other)[0] != difference(one, other)[1]


@given(LISTS, some.integers(0, 99), some.data())
def test_rotated_and_split_and_repeated_lists_are_equal(entries, base, data):
    plain = gate_times(base, 0, entries)
    place = data.draw(some.integers(0, len(entries) - 1))
    moved = base + sum(length for length, _ in entries[:place])
    assert gate_times(moved, 0, [*entries[place:], *entries[:place]]) == plain
    length, classes = entries[place]
    cut = data.draw(some.integers(0, length))
    split = [*entries[:place], (cut, classes), (length - cut, classes), *entries[place + 1 :]]
    assert gate_times(base, 0, split) == plain
    assert gate_times(base, 0, entries * 3) == plain


def test_one_ns_is_a_difference():
    meant = gate_times(10_000, 0, [(400_000, A), (600_000, B)])
    longer = gate_times(10_000, 0, [(400_001, A), (599_999, B)])
    later = gate_times(10_001, 0, [(400_000, A), (600_000, B)])
    assert meant not in (longer, later)
    assert difference(meant, longer) == (
        "classes 0, 5 open from 410 us to 410.001 us of each cycle",
        "classes 6 open",
    )
    slower = gate_times(10_000, 1_000_001, [(400_000, A), (600_000, B)])
    assert "cycle 1.000001 ms" in difference(meant, slower)[1]


@pytest.mark.parametrize("entries", [[], [(0, A)]])
def test_a_list_without_entries_is_none(entries):
    with pytest.raises(ValueError, match="without entries"):
        gate_times(0, 0, entries)
