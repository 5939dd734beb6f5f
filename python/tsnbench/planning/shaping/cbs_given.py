"""Slopes and credits that a scenario gives, beside those that follow from the idle slope.

IEEE 802.1Q-2022, 8.6.8.2 and annex L. tc-cbs(8) takes all four values, and devices show them.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from tsnbench.planning.shaping.cbs import LARGEST_FRAME, CreditBasedShaper

if TYPE_CHECKING:
    from tsnbench.plan.types import CbsFollows

OCTET = 8
"""bit; ``tc`` counts credits in octets, and people round them up, down, or to the nearest."""
KILOBIT = 1_000
"""bit/s; ``tc`` counts slopes in kbit/s."""


def differing(shaper: CreditBasedShaper, gathered: int = 0) -> CbsFollows | None:
    """The values that follow from the idle slope, for given values that differ from them by a unit of ``tc``
    or more.

    Credits may also be those of full frames: tables often have one value for all ports.

    Args:
        shaper: the shaper in force.
        gathered: the most credit that gathers beside gates, in bit.
    """
    given, follows = shaper.given, shaper.follows()
    needed = max(follows.hi_credit, gathered)
    highest = max(needed, ceil(shaper.widest))
    found: CbsFollows = {}
    if abs(shaper.standard().send_slope - follows.send_slope) >= KILOBIT:
        found["send_slope_bps"] = follows.send_slope
    if given.hi_credit is not None and not needed - OCTET < given.hi_credit < highest + OCTET:
        found["hi_credit_bits"] = needed
    if given.lo_credit is not None:
        lowest = min(follows.lo_credit, -LARGEST_FRAME * 8)
        if not lowest - OCTET < given.lo_credit < follows.lo_credit + OCTET:
            found["lo_credit_bits"] = follows.lo_credit
    return found or None
