"""Frame sizes: EnGINE Fig. 8 and eq. 7-8, and the fitted size lists."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsnbench.plan.sizes import (
    frame_from_payload,
    frame_from_phy,
    header,
    lognormal_sizes,
    overhead,
)
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model import FixedSize


def test_engine_figure_8() -> None:
    """Preamble and delimiter 8, Ethernet 14, tag 4, IPv4 20, UDP 8, FCS 4, gap 12."""
    assert overhead(tagged=True) == 8 + 14 + 4 + 20 + 8 + 4 + 12 == 70
    assert overhead(tagged=False) == 66
    assert frame_from_phy(1250) == frame_from_payload(1180, tagged=True) == 1230


def test_largest_and_smallest_frames() -> None:
    assert frame_from_payload(1472, tagged=True) == 1522
    assert frame_from_payload(1472, tagged=False) == 1518
    assert frame_from_payload(0, tagged=True) == frame_from_payload(18, tagged=False) == 64
    assert frame_from_payload(14, tagged=True) == 64
    assert frame_from_payload(15, tagged=True) == 65


@pytest.mark.parametrize(
    ("size", "vlan", "octets"),
    [
        ("phy: 1250 B", "100", 1230),
        ("payload: 1180 B", "100", 1230),
        ("frame: 1230 B", "100", 1230),
        ("payload: 1180 B", "none", 1226),
        ("payload: 1 B", "100", 64),
        ("phy: 84 B", "100", 64),
        ("phy: 1542 B", "100", 1522),
        ("frame: 1518 B", "none", 1518),
    ],
)
def test_three_ways_to_write_a_size(size: str, vlan: str, octets: int) -> None:
    text = f"""
name: sizes
duration: 1 ms
network: {{stations: [a, b], links: {{rate: 1 Gbit/s, between: [a -- b]}}}}
streams: {{s: {{from: a, to: b, period: 1 ms, vlan: {vlan}, {size}}}}}
"""
    (scenario,) = read_scenario(text)
    assert scenario.streams["s"].size == FixedSize(octets=octets)


@pytest.mark.parametrize(
    ("mean", "deviation"),
    [("8336.4", "24283.8"), ("501.6", "984.4"), ("153.9", "46.6"), ("62412.5", "60355.9")],
)
def test_fitted_lists_have_the_printed_mean_and_deviation(mean: str, deviation: str) -> None:
    """Four streams of FlexTest Table IV with varying sizes, within 0.5 %."""
    drawn = lognormal_sizes(Fraction(mean), Fraction(deviation))
    assert len(drawn) == 1000
    assert list(drawn) == sorted(drawn)
    assert drawn[0] >= 1
    assert fmean(drawn) == pytest.approx(float(mean), rel=0.005)
    assert pstdev(drawn) == pytest.approx(float(deviation), rel=0.005)
    assert all(header(True) + min(size, 1472) <= 1522 for size in drawn)


@given(st.integers(20, 10_000), st.integers(0, 100))
def test_fitted_lists_of_any_kind(mean: int, percent: int) -> None:
    deviation = Fraction(mean * percent, 100)
    drawn = lognormal_sizes(Fraction(mean), deviation, 50)
    assert fmean(drawn) == pytest.approx(mean, rel=0.03)
    assert min(drawn) >= 1


def test_no_list_for_the_impossible() -> None:
    with pytest.raises(ValueError, match="at most"):
        lognormal_sizes(Fraction(10), Fraction(10**6))
    with pytest.raises(ValueError, match="mean of at least"):
        lognormal_sizes(Fraction(0), Fraction(1))
