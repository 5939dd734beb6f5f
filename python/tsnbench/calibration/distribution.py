"""The distribution of the processing time besides its part for each octet, and its tail beyond what was seen.

The times of frames in one node are kept as a histogram. In the draws that predictions are made from, the
largest hundredth of the times is a generalised Pareto distribution, fitted to the drawn sample by probability
weighted moments (Hosking and Wallis 1987): a next measurement may well have a greater time than this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.fit import Blocks, Fit
from tsnbench.libraries import numpy as np
from tsnbench.quantities import exact

BINS = 2_000
"""Of the histogram, up to the 99.9th percentile; greater times have bins ten times as wide."""
TAIL = 0.01
LEAST_TAIL = 20
"""Frames of a tail."""
STEEPEST, HEAVIEST = -1.0, 0.5
"""Shapes of tails: -1 is uniform, 0 exponential; with 0.5 the variance is infinite."""
WORTH = 1_000
"""Counts of one frame in the tables of draws, whose tails have parts of frames."""
_PARTS = 40


@dataclass(frozen=True)
class Histogram:
    """Times in ns, ascending, each with its number of frames."""

    times: np.ndarray
    counts: np.ndarray

    def quantile(self, share: float) -> float:
        """The time at or below which this share of frames is."""
        place = int(np.searchsorted(np.cumsum(self.counts), share * self.counts.sum()))
        return float(self.times[min(place, len(self.times) - 1)])


@dataclass(frozen=True)
class Draw:
    """Parameters that might as well have been fitted."""

    per_octet_ps: int
    histogram: Histogram


def times_of(fit: Fit) -> Histogram:
    """Processing without the part of the octets, over the frames that crossed one of the nodes.

    Raises:
        CalibrationError: no frame crossed one node alone, or times are negative.
    """
    single = [one.section for one in fit.blocks if one.section.crossed == 1]
    if not single:
        crossed = min(one.section.crossed for one in fit.blocks)
        raise CalibrationError(
            f"expected sections that cross one of the nodes, found {crossed} nodes or more in each: the "
            "spread of one of them is not known",
            "put a tap between: taps: [sw1 -> sw2]",
        )
    per_octet = max(fit.per_octet.value, 0.0)
    values = np.concatenate([own.residence - per_octet * own.octets for own in single])
    error = max(own.error_ns for own in single)
    if values.min() < -error - 1:
        raise CalibrationError(
            f"expected times of at least 0 in the nodes, found {exact(int(values.min()))}: the clocks, the "
            "cables or the Plan differ from the network that was measured",
            "if frames leave before they arrived whole, write forwarding: {mode: cut-through, after: 64 B}",
        )
    return _counted(np.maximum(values, 0.0))


def _counted(values: np.ndarray, weights: np.ndarray | None = None) -> Histogram:
    """A histogram of at most some thousand bins; each bin has a time within it."""
    body = float(np.quantile(values, 0.999))
    step = max(1.0, np.ceil((body - float(values.min())) / BINS))
    rounded = np.where(
        values <= body, np.round(values / step) * step, np.round(values / step / 10) * step * 10
    )
    times, which = np.unique(np.round(rounded).astype(np.int64), return_inverse=True)
    return Histogram(times, np.bincount(which, weights, len(times)).astype(np.int64))


def draws_of(fit: Fit) -> Iterator[Draw]:
    """The draws for predictions: resampled blocks, their line, and a fitted tail."""
    single = [
        (number, one, *_binned(one, fit.rest(one.section)))
        for number, one in enumerate(fit.blocks)
        if one.section.crossed == 1
    ]
    for fixed, per_octet, drawn in fit.draws:
        parts = [(times, counts.T @ drawn[number]) for number, _, times, counts in single]
        rest = np.concatenate([times for times, _ in parts])
        weights = np.concatenate([own for _, own in parts])
        order = np.argsort(rest, kind="stable")
        rest, weights = rest[order], weights[order]
        slope = max(per_octet, 0.0)
        if per_octet < 0:
            fixed = fixed + per_octet * _mean_octets(fit)
        centred = rest - (rest * weights).sum() / weights.sum() + fixed
        yield Draw(round(slope * 1e3), _with_tail(centred, weights))


def _mean_octets(fit: Fit) -> float:
    """Over all frames."""
    octets = np.concatenate([one.section.octets for one in fit.blocks])
    return float(octets.mean())


def _binned(one: Blocks, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times of bins, and a table with how many frames each block has in each bin."""
    whole = _counted(rest - rest.min())
    edges = np.concatenate([(whole.times[1:] + whole.times[:-1]) / 2, [np.inf]])
    place = np.searchsorted(edges, rest - rest.min())
    block = np.repeat(np.arange(one.count), np.diff(one.edges))
    bins = len(whole.times)
    table = np.bincount(block * bins + place, minlength=one.count * bins).reshape(one.count, bins)
    return whole.times + rest.min(), table


def _with_tail(times: np.ndarray, weights: np.ndarray) -> Histogram:
    """The histogram of ascending times, its largest hundredth replaced by a fitted tail."""
    total = float(weights.sum())
    wanted = max(TAIL * total, float(LEAST_TAIL))
    behind = total - np.cumsum(weights)
    place = int(np.searchsorted(-behind, -wanted))
    counts = weights.astype(np.float64) * WORTH
    threshold = float(times[min(place, len(times) - 1)])
    over = np.flatnonzero((times > threshold) & (weights > 0))
    if len(over) >= 2:
        shape, scale = tail(times[over] - threshold, weights[over])
        shares = np.geomspace(1.0, 1e-4, _PARTS + 1)
        middle = np.sqrt(shares[1:] * shares[:-1])
        beyond = scale * (middle**-shape - 1) / shape if abs(shape) > 1e-6 else -scale * np.log(middle)
        mass = float(weights[over].sum()) * WORTH * (shares[:-1] - shares[1:])
        counts[over] = 0
        times, counts = np.concatenate([times, threshold + beyond]), np.concatenate([counts, mass])
    kept = counts >= 0.5
    times, counts = np.maximum(np.round(times[kept]), 0).astype(np.int64), np.round(counts[kept])
    values, which = np.unique(times, return_inverse=True)
    return Histogram(values, np.bincount(which, counts, len(values)).astype(np.int64))


def tail(excess: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution, by probability weighted moments.

    Args:
        excess: times beyond the threshold, ascending. weights: how often each was observed.
    """
    total = float(weights.sum())
    mean = float((excess * weights).sum()) / total
    above = (total - np.cumsum(weights) + weights / 2) / total
    moment = float((excess * weights * above).sum()) / total
    if mean - 2 * moment <= 0:
        return HEAVIEST, mean * (1 - HEAVIEST)
    shape = min(max(2 - mean / (mean - 2 * moment), STEEPEST), HEAVIEST)
    return shape, mean * (1 - shape)
