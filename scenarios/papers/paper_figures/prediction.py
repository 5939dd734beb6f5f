"""The interval in which a twin predicts a printed number that it has not seen.

The twin's own value, and around it what the predictions of fitted rows by fits without them were off: these
residuals have a part that a row's numbers have in common and a part of each number's own (a one-way random
effect). Both mean squares are about 0; Satterthwaite's approximation gives their sum's degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

CONFIDENCE = 0.95
DECADE = 10.0
"""An interval whose ends are farther apart says too little to be a prediction."""


@dataclass(frozen=True)
class Interval:
    """ns."""

    least: float
    value: float
    """The twin's."""
    most: float

    @property
    def tells(self) -> bool:
        return self.most <= DECADE * self.least


def interval(value: float, residuals: Mapping[str, Sequence[float]]) -> Interval:
    """Around the twin's value; ``residuals`` of one kind of number by row: ln(printed / predicted)."""
    half = _half(list(residuals.values()))
    return Interval(value * math.exp(-half), value, value * math.exp(half))


def _half(rows: Sequence[Sequence[float]]) -> float:
    """Half of the interval's width, of logarithms."""
    count, each = len(rows), fmean(map(len, rows))
    means = [fmean(row) for row in rows]
    between = each * fmean(mean * mean for mean in means)
    free = sum(len(row) - 1 for row in rows)
    squares = sum((one - mean) ** 2 for row, mean in zip(rows, means, strict=True) for one in row)
    if free and between < squares / free:
        # Nothing is common to a row: one mean square of all.
        freedom = float(free + count)
        variance = (squares + between * count) / freedom
    else:
        of_row = between / each
        own = (1 - 1 / each) * squares / free if free else 0.0
        variance = of_row + own
        parts = of_row**2 / count + (own**2 / free if free else 0.0)
        freedom = variance**2 / parts if parts else 1.0
    return student(freedom) * math.sqrt(variance)


def student(freedom: float) -> float:
    """The quantile of Student's t that makes an interval of ``CONFIDENCE``; ``freedom`` need not be whole.

    With x = sqrt(freedom) tan(angle), the share of values up to x is an integral of a power of the cosine.
    scipy has this function, but ``tsnbench reproduce`` has to work without it.
    """
    whole = math.sqrt(math.pi) * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)) / 2
    least, most = 0.0, math.pi / 2
    for _ in range(40):
        angle = (least + most) / 2
        if _integral(angle, freedom - 1) < CONFIDENCE * whole:
            least = angle
        else:
            most = angle
    return math.sqrt(freedom) * math.tan(least)


def _integral(angle: float, power: float) -> float:
    """Simpson's rule: the cosine to a power of at least 0, from 0 to an angle."""
    parts = 100
    values = [math.cos(angle * part / parts) ** power for part in range(parts + 1)]
    return angle / parts / 3 * (values[0] + 4 * sum(values[1::2]) + 2 * sum(values[2:-1:2]) + values[-1])
