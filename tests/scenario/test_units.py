"""Quantities are exact, or are errors with the correction."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsnbench.scenario.units import (
    DURATION,
    LENGTH,
    RATE,
    SHARE,
    SIZE,
    Dimension,
    UnitError,
    propagation_ps,
)

DIMENSIONS = (DURATION, RATE, SIZE, LENGTH, SHARE)


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (DURATION, "250us", 250_000),
        (DURATION, " 250 us ", 250_000),
        (DURATION, "0.2 ms", 200_000),
        (DURATION, "16.67 ms", 16_670_000),
        (DURATION, "1/4 ms", 250_000),
        (DURATION, "7 µs", 7_000),
        (DURATION, "7 μs", 7_000),
        (DURATION, "2 min", 120_000_000_000),
        (DURATION, "1 h", 3_600_000_000_000),
        (DURATION, "0 ns", 0),
        (RATE, "94.4 Mbit/s", 94_400_000),
        (RATE, "2 Gbit/s", 2_000_000_000),
        (RATE, "177 kbit/s", 177_000),
        (SIZE, "1472 B", 1472),
        (SIZE, "1 kB", 1000),
        (SIZE, "1 KiB", 1024),
        (SIZE, "64 octets", 64),
        (LENGTH, "1.5 m", 1500),
        (LENGTH, "3 cm", 30),
        (LENGTH, "2 km", 2_000_000),
        (SHARE, "0.1 %", 1000),
        (SHARE, "100 ppm", 100),
    ],
)
def test_exact(dimension: Dimension, text: str, value: int) -> None:
    assert dimension.parse(text) == value


@pytest.mark.parametrize(
    ("dimension", "text", "expected", "hint"),
    [
        (DURATION, "250", "a duration with a unit", "write 250us"),
        (DURATION, "0.5 ns", "a whole number of ns", "write 0ns or 1ns"),
        (DURATION, "1/3 ms", "a whole number of ns", "write 333333ns or 333334ns"),
        (DURATION, "1/0 ms", "a duration with a unit", "divided by zero"),
        (DURATION, "-1 ms", "a duration of 0 or more", "minus"),
        (DURATION, "1:30", "a duration with a unit", "like 250us"),
        (DURATION, "1e9 s", "a duration with a unit", "write 1000000000 s"),
        (DURATION, "9" * 100 + " s", "a duration with a unit", "like 250us"),
        (DURATION, "5 Gbit/s", "a duration with a unit", "ns, us, ms, s, min, h"),
        (RATE, "1 Gbps", "a rate with a unit", "write 1Gbit/s"),
        (SIZE, "1.5 B", "a whole number of B", "write 1B or 2B"),
        (LENGTH, "3", "a length with a unit", "write 3m"),
    ],
)
def test_refused(dimension: Dimension, text: str, expected: str, hint: str) -> None:
    with pytest.raises(UnitError) as raised:
        dimension.parse(text)
    assert raised.value.expected == expected
    assert hint in raised.value.hint


@given(st.sampled_from(DIMENSIONS), st.integers(0, 10**15))
def test_text_reads_back(dimension: Dimension, value: int) -> None:
    assert dimension.parse(dimension.text(value)) == value


@given(st.sampled_from(DIMENSIONS), st.text(max_size=60))
def test_any_text_is_read_or_refused(dimension: Dimension, text: str) -> None:
    with suppress(UnitError):
        assert dimension.parse(text) >= 0


@given(st.decimals(0, 10**6, places=6), st.sampled_from(sorted(DURATION.units)))
def test_nothing_is_rounded(number: object, unit: str) -> None:
    exact = Fraction(str(number)) * DURATION.units[unit]
    try:
        assert DURATION.parse(f"{number} {unit}") == exact
    except UnitError:
        assert exact.denominator != 1


def test_five_nanoseconds_per_metre() -> None:
    assert propagation_ps(LENGTH.parse("1 m")) == 5_000
    assert propagation_ps(LENGTH.parse("1 mm")) == 5
