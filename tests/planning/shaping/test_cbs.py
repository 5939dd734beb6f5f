"""Every CBS number that the papers print, from frame sizes and periods alone."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsnbench.planning.shaping.cbs import CbsError, Given, SrClass, bandwidth, credit_based_shapers

GIGABIT = 1_000_000_000
X552 = 9_294_196_000
"""The real rate of a 10 Gbit/s Intel X552 (COTS lessons, section V)."""
FLOW = SrClass(bandwidth([(1250, 100_000)]), 1250)
"""1250 octets every 100 us: 100 Mbit/s."""


def test_engine_class_a_and_b() -> None:
    """EnGINE, sections II-C3, VI-A2 and VI-A3."""
    a, b = credit_based_shapers([FLOW, FLOW], GIGABIT)
    assert a.linux() == (100_000, -900_000, 155, -1125)
    assert b.linux() == (100_000, -900_000, 297, -1125)


def test_engine_in_standard_units() -> None:
    """154.2 octets are 1233.6 bit; the standard's units round one step finer."""
    (a,) = credit_based_shapers([FLOW], GIGABIT)
    assert a.hi_credit == Fraction("1233.6")
    assert a.standard() == (100_000_000, -900_000_000, 1234, -9000)


def test_cots_lessons_on_10_gbit() -> None:
    """COTS lessons, section V: the real rate of the X552."""
    f1, f2 = credit_based_shapers([FLOW, FLOW], X552)
    assert f1.linux() == (100_000, -9_194_196, 17, -1237)
    assert f2.linux() == (100_000, -9_194_196, 31, -1237)


def test_cots_lessons_on_1_gbit() -> None:
    assert [c.linux()[2:] for c in credit_based_shapers([FLOW, FLOW], GIGABIT)] == [
        (155, -1125),
        (297, -1125),
    ]


CC = [(1024, 1_000_000)] * 6
ADAS = [(1500, 600_000)] * 2
LIDAR = [(1500, 2_500_000)] * 3
RADAR = [(1250, 2_500_000)] * 3
US = [(512, 20_000_000)] * 3
GPS = [(256, 10_000_000)]


@pytest.mark.parametrize(
    ("classes", "printed"),
    [
        ([RADAR + US + GPS], [(12_820, -987_180, 20, -1234)]),
        ([LIDAR + RADAR], [(26_400, -973_600, 41, -1461)]),
        (
            [CC + ADAS, RADAR + US + GPS],
            [(89_152, -910_848, 138, -1367), (12_820, -987_180, 41, -1234)],
        ),
        ([CC + ADAS], [(89_152, -910_848, 138, -1367)]),
    ],
    ids=["configuration 1", "configuration 2", "configuration 3", "configuration 4"],
)
def test_engine_table_8(classes: list[list[tuple[int, int]]], printed: list[tuple[int, ...]]) -> None:
    needs = [SrClass(bandwidth(frames), max(size for size, _ in frames)) for frames in classes]
    assert [shaper.linux() for shaper in credit_based_shapers(needs, GIGABIT)] == printed


@pytest.mark.parametrize("wanted", [0, -1, GIGABIT, 2 * GIGABIT])
def test_a_reservation_is_a_part_of_the_port(wanted: int) -> None:
    # It is the second class.
    message = f"SR class number 2 needs {wanted:g} bit/s of a port of 1000000000 bit/s"
    with pytest.raises(CbsError, match=re.escape(message)):
        credit_based_shapers([FLOW, SrClass(wanted)], GIGABIT)


@pytest.mark.parametrize(
    ("first", "widest", "high"),
    [
        # In bit: a full frame of 12,336 before the class, what that lets gather at 9 Mbit for each 1, and
        # then a full frame of the first class, or its own of 10,000.
        (
            FLOW,
            [12_336, 12_336 + Fraction(12_336, 9) + 12_336],
            [12_336, 12_336 + Fraction(12_336, 9) + 10_000],
        ),
        # Of more octets than a full frame: its own size.
        (replace(FLOW, most_frame=2_000), [12_336, 12_336 + Fraction(12_336, 9) + 16_000], None),
        # The credit that is given is spent: 9,000 bit at 900 Mbit/s.
        (replace(FLOW, given=Given(hi_credit=9_000)), None, [12_336, 12_336 + 10_000 + 10_000]),
    ],
)
def test_what_gathers_before_the_second_class(
    first: SrClass, widest: list[Any] | None, high: list[Any] | None
) -> None:
    """Each class gathers a tenth of what passes before it."""
    shapers = credit_based_shapers([first, FLOW], GIGABIT)
    assert widest is None or [10 * shaper.widest for shaper in shapers] == widest
    assert high is None or [10 * shaper.hi_credit for shaper in shapers] == high


def test_a_shaper_knows_its_port_and_its_largest_frame() -> None:
    (shaper,) = credit_based_shapers([FLOW], GIGABIT + 500)
    assert (shaper.rate, shaper.most_frame) == (GIGABIT + 500, 1250)
    # Half a kbit/s of the port is left out.
    assert shaper.linux()[:2] == (100_000, -900_000)


@given(
    st.lists(st.tuples(st.integers(1, 10**8), st.integers(84, 2000)), min_size=1, max_size=7),
    st.integers(10**9, 10**11),
)
def test_equations_hold_and_rounding_goes_away_from_zero(classes: list[tuple[int, int]], rate: int) -> None:
    shapers = credit_based_shapers([SrClass(*each) for each in classes], rate)
    for (wanted, most), shaper in zip(classes, shapers, strict=True):
        assert shaper.idle_slope == wanted
        assert shaper.send_slope == shaper.idle_slope - rate
        assert shaper.lo_credit == Fraction(8 * most) * shaper.send_slope / rate
        idle, send, high, low = shaper.standard()
        assert idle - send == rate
        assert 0 <= high - shaper.hi_credit < 1
        assert 0 <= shaper.lo_credit - low < 1
        idle, send, high, low = shaper.linux()
        assert 0 <= high * 8 - shaper.hi_credit < 8
        assert 0 <= shaper.lo_credit - low * 8 < 8
    shares = [(s.hi_credit / s.idle_slope) for s in shapers]
    assert shares == sorted(shares), "a lower class waits for all that a higher one waits for"
