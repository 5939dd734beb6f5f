"""Residence as ``a + b x octets`` for each crossed node: least squares, and intervals by a block bootstrap.

A time in ``m`` nodes has ``m`` times the variance of one, so its weight is ``1 / m`` (Aitken 1935). Samples
of one section are correlated: blocks of frames that follow each other are drawn, not frames (Kunsch 1989).
The blocks are longer than four times the integrated autocorrelation time of the residuals (Sokal 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.sections import Section
from tsnbench.libraries import numpy as np
from tsnbench.quantities import some

LEAST_FRAMES = 200
"""Frames of each size: fewer do not have ten blocks of ten and a tail."""
LEAST_BLOCKS, MOST_BLOCKS = 8, 400
REPLICATES = 1_000
DRAWS = 39
"""With so many predictions, a further one is between the least and the greatest with 38 / 40 = 95 %."""
SEED = 1
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A fitted value with its 95 % interval, which contains the errors of stamps and clocks."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Blocks:
    """The blocks of one section: the place of the first frame of each, and its end."""

    section: Section
    edges: np.ndarray
    correlation: float
    """Of the residuals of frames that follow each other."""

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self.edges) - 1


@dataclass(frozen=True)
class Fit:
    """The fitted line, and what it is uncertain of."""

    fixed: Interval
    """``a``: mean processing of a frame without its octets, ns."""
    per_octet: Interval
    """``b``, ns."""
    blocks: tuple[Blocks, ...]
    draws: tuple[tuple[float, float, tuple[np.ndarray, ...]], ...]
    """``a``, ``b`` and how often each block of each section was drawn: other samples that might as well
    have been measured."""

    def expected(self, section: Section) -> np.ndarray:
        """What the line says for each frame of a section, ns."""
        line: np.ndarray = section.crossed * (self.fixed.value + self.per_octet.value * section.octets)
        return line

    def rest(self, section: Section) -> np.ndarray:
        """What the line does not explain, for each frame of a section, ns."""
        left: np.ndarray = section.residence - self.expected(section)
        return left


def check_identifiable(sections: Sequence[Section]) -> None:
    """Refuses measurements from which the parameters do not follow.

    Raises:
        CalibrationError: with what has to be measured.
    """
    counts: dict[int, int] = {}
    for section in sections:
        for size, count in zip(*np.unique(section.octets, return_counts=True), strict=True):
            counts[int(size)] = counts.get(int(size), 0) + int(count)
    if not counts:
        return
    few = {size: count for size, count in counts.items() if count < LEAST_FRAMES}
    enough = counts.keys() - few.keys()
    if len(enough) < 2 and len(counts) < 2:
        raise CalibrationError(
            f"expected two sizes of frames, found {next(iter(counts))} B alone: the time of a frame and "
            "the time of each of its octets cannot be separated",
            "measure a second size, far from the first one: 64 B and 1500 B",
        )
    if len(enough) < 2:
        found = some([f"{count} of {size} B" for size, count in sorted(few.items())])
        raise CalibrationError(
            f"expected {LEAST_FRAMES} frames of each of two sizes or more, found {found}",
            f"measure longer: {LEAST_FRAMES} frames of each size that no other frame meets",
        )


def fit(sections: Sequence[Section]) -> Fit:
    """The line through the residence of all frames, with intervals.

    Raises:
        CalibrationError: the measurement does not say enough.
    """
    check_identifiable(sections)
    value = _solved(sum((_sums(section) for section in sections), np.zeros(5)))
    blocks = tuple(_blocks(section, value) for section in sections)
    few = [one.section.label for one in blocks if one.count < LEAST_BLOCKS]
    if len(few) == len(blocks):
        raise CalibrationError(
            f"expected {LEAST_BLOCKS} independent blocks of frames, found fewer in {some(few)}: times of "
            "frames that follow each other are too alike",
            "measure longer",
        )
    values, weights = _resampled(blocks, REPLICATES)
    spare = _shared_error(sections)
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    fixed, per_octet = (
        Interval(float(value[place]), float(low[place] - spare[place]), float(high[place] + spare[place]))
        for place in range(2)
    )
    shift = np.random.default_rng(SEED + 1).uniform(-1, 1, (DRAWS, 1)) * spare
    moved = values[:DRAWS] + shift
    draws = tuple(
        (float(a), float(b), tuple(own[place] for own in weights)) for place, (a, b) in enumerate(moved)
    )
    return Fit(fixed, per_octet, blocks, draws)


def _sums(section: Section) -> np.ndarray:
    """Sums of the normal equations over the frames of a section: of 1, octets, octets squared; of times and
    of times by octets."""
    octets = section.octets.astype(np.float64)
    rows = np.stack([np.ones(len(octets)), octets, octets**2, section.residence, section.residence * octets])
    sums: np.ndarray = rows.sum(axis=1) * np.array([section.crossed] * 3 + [1, 1])
    return sums


def _solved(sums: np.ndarray) -> np.ndarray:
    """``a`` and ``b`` from sums in the last axis."""
    n, x, xx, y, xy = np.moveaxis(sums, -1, 0)
    below = n * xx - x * x
    return np.stack([(xx * y - x * xy) / below, (n * xy - x * y) / below], axis=-1)


def _shared_error(sections: Sequence[Section]) -> np.ndarray:
    """How far errors that all times of a section share may move ``a`` and ``b``: the worst combination."""
    whole = sum((_sums(section) for section in sections), np.zeros(5))
    moved = np.zeros(2)
    for section in sections:
        octets = float(section.octets.sum())
        own = whole.copy()
        own[3:] = [section.error_ns * len(section.octets), section.error_ns * octets]
        moved += np.abs(_solved(own))
    return moved


def _blocks(section: Section, value: np.ndarray) -> Blocks:
    """Cuts a section into blocks that are longer than its correlation."""
    left = section.residence - section.crossed * (value[0] + value[1] * section.octets)
    count = len(left)
    correlation, time = autocorrelation(left)
    length = max(int(np.ceil(count ** (1 / 3))), int(np.ceil(4 * time)), -(-count // MOST_BLOCKS), 1)
    edges = np.linspace(0, count, max(count // length, 1) + 1).astype(np.int64)
    return Blocks(section, edges, correlation)


def autocorrelation(values: np.ndarray) -> tuple[float, float]:
    """The correlation of neighbours, and the integrated autocorrelation time in samples, at least 1."""
    own = values[: 1 << 17].astype(np.float64)
    own = own - own.mean() if len(own) else own
    power = float((own**2).sum())
    if len(own) < 4 or power == 0:
        return 0.0, 1.0
    spectrum = np.fft.rfft(own, 2 * len(own))
    by_lag = np.fft.irfft(np.abs(spectrum) ** 2)[: len(own) // 4] / power
    noise = 2 / np.sqrt(len(own))
    quiet = np.flatnonzero(by_lag[1:] < noise)
    last = int(quiet[0]) if len(quiet) else len(by_lag) - 1
    return float(by_lag[1]), float(1 + 2 * by_lag[1 : last + 1].sum())


def _resampled(blocks: Sequence[Blocks], replicates: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """``a`` and ``b`` of each replicate, and how often each block was drawn: one table for each section."""
    draw = np.random.default_rng(SEED)
    sums, weights = np.zeros((replicates, 5)), []
    for one in blocks:
        section = one.section
        octets = section.octets.astype(np.float64)
        rows = np.stack(
            [np.ones(len(octets)), octets, octets**2, section.residence, section.residence * octets], axis=1
        )
        each = np.add.reduceat(rows, one.edges[:-1], axis=0) * np.array([section.crossed] * 3 + [1, 1])
        drawn = draw.multinomial(one.count, np.full(one.count, 1 / one.count), replicates)
        weights.append(drawn)
        sums += drawn @ each
    return _solved(sums), weights
