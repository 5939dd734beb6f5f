"""Windows of a class from a gate control list. IEEE 802.1Q-2022, 8.6.8.4."""

from __future__ import annotations

import random

import pytest

from tsnbench.plan.gates import clock_spans, open_ns, open_spans, open_windows, spans_of_list
from tsnbench.plan.streams.paths import entries_to
from tsnbench.plan.types import Gates

LIST = [(0b01, 10), (0b10, 30), (0b01, 10)]


def gates(base_ns: int, *entries: tuple[int, int]) -> Gates:
    return {
        "base_time_ns": base_ns,
        "cycle_ns": sum(interval for _, interval in entries),
        "entries": [{"open": mask, "interval_ns": interval} for mask, interval in entries],
    }


def test_windows_over_the_end_of_a_cycle_are_one() -> None:
    assert open_spans(LIST, 0) == [(40, 60)]
    assert open_spans(LIST, 1) == [(10, 40)]
    assert open_windows(gates(0, *LIST), 0) == [20]


def test_within_the_list_they_are_two() -> None:
    assert spans_of_list(LIST, 0) == [(0, 10), (40, 50)]


def test_neighbouring_entries_that_are_open_are_one_window() -> None:
    assert open_spans([(0b01, 10), (0b11, 5), (0b10, 5), (0b00, 1)], 0) == [(0, 15)]


def test_a_gate_that_never_closes_has_no_windows() -> None:
    assert open_spans([(0b11, 20), (0b01, 30)], 0) is None
    assert open_windows(gates(7, (0b11, 20), (0b01, 30)), 0) is None
    assert clock_spans(gates(7, (0b11, 20), (0b01, 30)), 0) == [(0, 50)]


def test_a_gate_that_never_opens_has_none_either() -> None:
    assert open_spans([(0b10, 20)], 0) == []
    assert open_ns(gates(0, (0b10, 20)), 0) == 0


@pytest.mark.parametrize(
    ("base_ns", "spans"),
    [(0, [(0, 10), (40, 50)]), (5, [(0, 15), (45, 50)]), (-10, [(30, 50)]), (110, [(0, 20)])],
)
def test_the_base_time_moves_windows_on_the_clock(base_ns: int, spans: list[tuple[int, int]]) -> None:
    assert clock_spans(gates(base_ns, *LIST), 0) == spans


def test_a_path_goes_from_the_root_to_the_entry() -> None:
    assert entries_to([None, 0, 0, 1, 3], 4) == (0, 1, 3, 4)


@pytest.mark.parametrize("seed", range(50))
def test_the_lengths_of_windows_are_those_of_the_spans(seed: int) -> None:
    draws = random.Random(seed)
    entries = [(draws.choice([0b01, 0b10, 0b11]), draws.randint(1, 9)) for _ in range(draws.randint(1, 6))]
    for traffic_class in (0, 1):
        spans = open_spans(entries, traffic_class)
        lengths = None if spans is None else [end - begin for begin, end in spans]
        assert open_windows(gates(0, *entries), traffic_class) == lengths
