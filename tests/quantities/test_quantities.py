"""Quantities as text, in tables and warnings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tsnbench import quantities
from tsnbench.report import formatting


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


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_204_567, "ns", "1.204567 ms"),
        (847.53, "ns", "847.5 ns"),
        (1_234.53, "ns", "1.235 us"),
        (1_500_000_000, "bit/s", "1.5 Gbit/s"),
        (0.0, "ppm", "0 %"),
        (500.0, "ppm", "500 ppm"),
        (123_456.0, "ppm", "12.3456 %"),
        (None, "ns", "\u2013"),
    ],
)
def test_limits_and_findings_are_exact(value: float | None, unit: str, text: str) -> None:
    assert quantities.quantity(value, unit) == text


def test_a_page_prints_the_digits_of_a_terminal() -> None:
    assert formatting.quantity(-1_204_567, "ns") == "\u22121.204567\u202fms"
    assert formatting.span(12_336) == "12.336\u202fµs"
    assert formatting.count(1_234_567) == "1\u202f234\u202f567"
    assert formatting.micros(None) == "\u2013"


def test_sizes_and_columns() -> None:
    assert [quantities.size(octets) for octets in (999, 3_400_000_000)] == ["999 B", "3.4 GB"]
    assert quantities.micros(1_234_567) == "1,234.567"
    assert quantities.micros(1_234, 1) == "1.2"
    assert quantities.share(1, 3) == "33.3 %"
