"""Quantities in words, as tables and warnings print them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tsnbench.plan import quantities


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (0, "0 bit/s"),
        (999, "999 bit/s"),
        (89_152_000, "89.152 Mbit/s"),
        (12_819_200, "12.819 Mbit/s"),
        (Fraction(10**9), "1 Gbit/s"),
        (Fraction(2, 3), "0.667 bit/s"),
        (-1500, "-1.5 kbit/s"),
    ],
)
def test_rates(bps: Fraction | int, text: str) -> None:
    assert quantities.rate(bps) == text


@pytest.mark.parametrize(("ns", "text"), [(0, "0 ns"), (12_336, "12.336 us"), (10**10, "10 s")])
def test_times(ns: int, text: str) -> None:
    assert quantities.time(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (12_336, "12.336 us"),
        (1_234_567, "1.234567 ms"),
        (1_000_000_001, "1.000000001 s"),
        (500_000, "500 us"),
        (-1_000_500, "-1.0005 ms"),
    ],
)
def test_exact_times_keep_every_digit(ns: int, text: str) -> None:
    assert quantities.exact(ns) == text


@pytest.mark.parametrize(
    ("numbers", "text"), [((), ""), ((3,), "3"), ((0, 1, 2, 3, 7), "0-3,7"), ((0, 2, 4, 5), "0,2,4-5")]
)
def test_ranges(numbers: tuple[int, ...], text: str) -> None:
    assert quantities.ranges(numbers) == text


def test_some_of_many_names() -> None:
    assert quantities.some(["a", "b", "c", "d"]) == "a, b, c, d"
    assert quantities.some(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
