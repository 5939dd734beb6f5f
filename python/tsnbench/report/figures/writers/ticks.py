"""Marks of an axis: round numbers, as many as have room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def linear(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """At most ``most`` round numbers at equal distances within a range; ``whole``: only integers."""
    if not high > low:
        return [low]
    exponent = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (exponent, 10 * exponent):
        for step in (one * factor for one in STEPS):
            if whole and step != round(step):
                continue
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first + 1 <= most:
                return [number * step for number in range(first, last + 1)]
    return [low, high]


def decades(low: float, high: float, parts: Sequence[int] = (1,)) -> list[float]:
    """The numbers 1, 10, 100, … within a range, and multiples of each; ``parts``: which."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found = [part * 10.0**number for number in range(first, last + 1) for part in parts]
    return [one for one in found if low * (1 - 1e-9) <= one <= high * (1 + 1e-9)]


def thinned(places: Sequence[float], rooms: Sequence[float]) -> list[int]:
    """Which labels are written, so that none touches the one before it.

    Args:
        places: middles of the labels, ascending.
        rooms: their widths.
    """
    for every in range(1, len(places) + 1):
        kept = list(range(0, len(places), every))
        if all(places[b] - places[a] > (rooms[a] + rooms[b]) / 2 + 3 for a, b in pairwise(kept)):
            return kept
    return [0] if places else []
