"""The line through residence times, its intervals and its tail, against values that are known."""

from __future__ import annotations

import numpy as np
import pytest

from tsnbench.calibration.distribution import draws_of, tail, times_of
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.fit import DRAWS, autocorrelation, check_identifiable, fit
from tsnbench.calibration.sections import Section

GIGABIT = 1_000_000_000


def section(octets: int, times: np.ndarray, crossed: int = 1, error_ns: float = 0.0) -> Section:
    return Section("x", crossed, np.full(len(times), octets), times, error_ns, (GIGABIT,))


def line(octets: int, count: int = 400, crossed: int = 1, error_ns: float = 0.0) -> Section:
    """1 us and 2 ns for each octet, without any spread."""
    return section(octets, np.full(count, crossed * (1_000.0 + 2 * octets)), crossed, error_ns)


def test_a_line_without_spread_is_found_exactly() -> None:
    found = fit([line(100), line(1_500), line(700, crossed=3)])
    for one, true in ((found.fixed, 1_000.0), (found.per_octet, 2.0)):
        assert (one.value, one.low, one.high) == pytest.approx((true, true, true), abs=1e-6)
    assert times_of(found).times.tolist() == [1_000]


def test_errors_of_stamps_are_in_the_intervals() -> None:
    """Times of one size 10 ns too long, of the other 10 ns too short: the worst for the slope."""
    found = fit([line(100, error_ns=10), line(1_100, error_ns=10)])
    assert found.per_octet.high - 2 == pytest.approx(20 / 1_000)
    assert found.fixed.high - 1_000 == pytest.approx(10 + 100 * 20 / 1_000)


def correlated(draw: np.random.Generator, count: int, keeps: float) -> np.ndarray:
    """A first-order autoregressive series with standard deviation 100."""
    noise = draw.normal(0, 100 * np.sqrt(1 - keeps**2), count)
    for place in range(1, count):
        noise[place] += keeps * noise[place - 1]
    return noise


@pytest.mark.parametrize("keeps", [0.0, 0.8])
def test_intervals_contain_the_truth_also_of_correlated_samples(keeps: float) -> None:
    inside = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        parts = [
            section(octets, 1_000 + 2 * octets + correlated(draw, 1_000, keeps)) for octets in (100, 1_500)
        ]
        found = fit(parts)
        inside += found.per_octet.low <= 2 <= found.per_octet.high
    # 95 % are 38 of 40. With frames as independent samples 21 are inside at a correlation of 0.8.
    assert inside >= 34


def test_the_time_of_an_autoregressive_series() -> None:
    series = correlated(np.random.default_rng(1), 100_000, 0.8)
    correlation, time = autocorrelation(series)
    assert correlation == pytest.approx(0.8, abs=0.02)
    assert time == pytest.approx(1.8 / 0.2, rel=0.1)


@pytest.mark.parametrize(
    ("sections", "expected", "hint"),
    [
        ([line(100)], "expected two sizes of frames, found 100 B alone", "a second size"),
        ([line(100, 20), line(1_500, 20)], "found 20 of 100 B, 20 of 1500 B", "measure longer"),
    ],
)
def test_too_little_is_refused_with_what_to_measure(
    sections: list[Section], expected: str, hint: str
) -> None:
    with pytest.raises(CalibrationError, match=expected) as error:
        check_identifiable(sections)
    assert hint in str(error.value)


def test_times_that_drift_have_too_few_blocks() -> None:
    drift = np.linspace(0, 1_000, 400)
    with pytest.raises(CalibrationError, match="independent blocks"):
        fit([section(octets, 1_000 + 2 * octets + drift) for octets in (100, 1_500)])


def test_only_several_nodes_together_have_no_spread_of_one() -> None:
    with pytest.raises(CalibrationError, match="put a tap between"):
        times_of(fit([line(100, crossed=2), line(1_500, crossed=2)]))


@pytest.mark.parametrize("shape", [-1.0, 0.0, 0.3])
def test_a_tail_of_known_shape(shape: float) -> None:
    shares = (np.arange(4_000) + 0.5) / 4_000
    excess = -np.log(1 - shares) if shape == 0 else ((1 - shares) ** -shape - 1) / shape
    found, scale = tail(excess * 50, np.ones(4_000))
    assert (found, scale) == (pytest.approx(shape, abs=0.03), pytest.approx(50, rel=0.03))


def test_draws_have_greater_times_than_the_measurement() -> None:
    draw = np.random.default_rng(2)
    parts = [section(octets, 1_000 + draw.exponential(100, 5_000)) for octets in (100, 1_500)]
    found = fit(parts)
    draws = list(draws_of(found))
    greatest = [float(one.histogram.times[-1]) for one in draws]
    assert len(draws) == DRAWS
    assert min(greatest) > 1_600
    # The 39 maxima of samples as large as the measurement contain its own: 100 ln 10,000 = 921 ns more.
    assert sum(times_of(found).times[-1] < one for one in greatest) > DRAWS // 2
    means = [
        float((one.histogram.times * one.histogram.counts).sum() / one.histogram.counts.sum())
        for one in draws
    ]
    assert np.mean(means) == pytest.approx(1_100, abs=5)
