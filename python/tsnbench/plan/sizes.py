"""The sizes of one frame: on the wire, from address to FCS, and as UDP payload.

EnGINE Fig. 8, eq. 7-8; IEEE 802.3-2022, 3.1.1 and 4.2.3.3.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from statistics import NormalDist

PREAMBLE, START_DELIMITER, INTER_FRAME_GAP = 7, 1, 12
ETHERNET, TAG, IPV4, UDP, FCS = 14, 4, 20, 8, 4
PHY_OVERHEAD = PREAMBLE + START_DELIMITER + INTER_FRAME_GAP
SMALLEST_FRAME = 64
"""An end station pads to 64 octets, a VLAN tag included; IEEE 802.1Q-2022, G.2.3."""
LARGEST_FRAME = 1518
"""Untagged; a tag adds 4."""
MOST_PAYLOAD = 1472
"""UDP payload of the largest frame."""


def header(tagged: bool) -> int:
    """Octets that a frame adds to its UDP payload: 46, or 50 with a VLAN tag."""
    return ETHERNET + (TAG if tagged else 0) + IPV4 + UDP + FCS


def overhead(tagged: bool) -> int:
    """``B_O`` of EnGINE eq. 7, from payload to PHY size: 66, or 70 with a VLAN tag."""
    return header(tagged) + PHY_OVERHEAD


def largest(tagged: bool) -> int:
    return LARGEST_FRAME + (TAG if tagged else 0)


def frame_from_payload(payload: int, tagged: bool) -> int:
    """Frame octets, padded to the smallest frame."""
    return max(SMALLEST_FRAME, payload + header(tagged))


def frame_from_phy(phy: int) -> int:
    return phy - PHY_OVERHEAD


@cache
def lognormal_sizes(mean: Fraction, deviation: Fraction, count: int = 1000) -> tuple[int, ...]:
    """``count`` equally likely sizes, none below 1, whose mean and standard deviation are the given ones.

    The quantiles (n + 1/2)/count of a lognormal distribution. Lognormal, because compressed video and audio
    frames are positive and skewed to the right, and because the standard library has its quantiles. They cut
    off the tail beyond the last one, so the shape is fitted to the list itself, not to the distribution.

    Raises ValueError where no such list exists.
    """
    if mean < 1 or deviation < 0:
        raise ValueError("a mean of at least 1 B and a deviation of at least 0 B")
    if deviation == 0:
        if mean.denominator != 1:
            raise ValueError("a mean of whole octets where the deviation is 0 B")
        return (int(mean),)
    wanted = float(deviation / mean)
    normal = NormalDist()
    points = [normal.inv_cdf((n + 0.5) / count) for n in range(count)]

    def variation(shape: float) -> float:
        values = [math.exp(shape * point) for point in points]
        average = math.fsum(values) / count
        return math.sqrt(math.fsum((value - average) ** 2 for value in values) / count) / average

    low, high = 0.0, 40.0
    if wanted > variation(high):
        raise ValueError(f"a deviation of at most {math.floor(variation(high))} times the mean")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if variation(middle) < wanted else (low, middle)
    values = [math.exp(high * point) for point in points]
    scale = float(mean) * count / math.fsum(values)
    return tuple(max(1, round(value * scale)) for value in values)
