"""Sizes of a stream's frames in octets, with and without the overhead on the wire.

IEEE 802.3-2022, 3.2.7 and 4.2.3.3; IEEE 802.1CB-2017, 7.8; EnGINE Fig. 8.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tsnbench.plan.sizes import PHY_OVERHEAD, SMALLEST_FRAME

if TYPE_CHECKING:
    from tsnbench.plan.types import Redundancy, Size, Stream


CAPTURED_OCTETS = 128
"""Octets of a frame that captures of runs keep: all headers, also those of TRDP, and the test payload."""


@dataclass(frozen=True)
class Sizes:
    """The frames of one flow, in octets from destination address to FCS."""

    smallest: int
    largest: int
    frame_bits: Fraction
    """Mean per data unit, destination address to FCS."""
    phy_bits: Fraction
    """Mean per data unit, preamble to inter-frame gap."""

    @property
    def frames(self) -> Fraction:
        """Mean per data unit."""
        return (self.phy_bits - self.frame_bits) / (8 * PHY_OVERHEAD)

    @property
    def largest_phy(self) -> int:
        return self.largest + PHY_OVERHEAD


def frames_of(unit: int, most_per_frame: int, frame_overhead: int) -> list[tuple[int, int]]:
    """(frame octets, number of frames) for a data unit of ``unit`` application octets."""
    whole, rest = divmod(unit, most_per_frame)
    frames = [(most_per_frame + frame_overhead, whole)] if whole else []
    if rest or not whole:
        frames.append((rest + frame_overhead, 1))
    return [(max(SMALLEST_FRAME, octets), count) for octets, count in frames]


def data_units(size: Size) -> list[list[int]]:
    """The frames of every data unit, in octets, in the order of the Plan."""
    if size["kind"] == "frame":
        return [[size["octets"]]]
    if size["kind"] == "list":
        return [[octets] for octets in size["octets"]]
    cut = (frames_of(unit, size["most_per_frame"], size["overhead"]) for unit in size["octets"])
    return [[octets for octets, count in unit for _ in range(count)] for unit in cut]


def sizes(size: Size) -> Sizes:
    """The frames for a Plan's ``size``."""
    if size["kind"] == "frame":
        return _one_frame(size["octets"])
    # Equal data units are counted once, because recordings often contain many thousands of them.
    times = Counter(size["octets"])
    if size["kind"] == "list":
        return _of([([(octets, 1)], count) for octets, count in times.items()])
    most, overhead = size["most_per_frame"], size["overhead"]
    return _of([(frames_of(unit, most, overhead), count) for unit, count in times.items()])


@lru_cache(maxsize=4096)
def _one_frame(octets: int) -> Sizes:
    return _of([([(octets, 1)], 1)])


def _of(units: list[tuple[list[tuple[int, int]], int]]) -> Sizes:
    """Of data units with their frames, each with how many there are."""
    every = [octets for unit, _ in units for octets, _ in unit]
    data_units = sum(times for _, times in units)
    octets = sum(times * octets * count for unit, times in units for octets, count in unit)
    frames = sum(times * count for unit, times in units for _, count in unit)
    return Sizes(
        smallest=min(every),
        largest=max(every),
        frame_bits=Fraction(8 * octets, data_units),
        phy_bits=Fraction(8 * (octets + PHY_OVERHEAD * frames), data_units),
    )


R_TAG = 6
"""Octets that a redundancy tag adds to a frame. IEEE 802.1CB-2017, 7.8."""


def tag_octets(stream: Stream, place: int) -> int:
    """The octets that an R-TAG adds on one entry of a Plan stream's route."""
    return tag_octets_of(stream.get("redundancy", {}), place)


def tag_octets_of(redundancy: Redundancy, place: int) -> int:
    """The octets that an R-TAG adds on one entry of a route."""
    copies = redundancy.get("copies", ())
    return R_TAG if place < len(copies) and copies[place] else 0
