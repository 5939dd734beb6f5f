"""Devices: what their sources state of them, and what was measured at them."""

from __future__ import annotations

import re
from fractions import Fraction

from tsnbench.scenario.kinds.combinators import ListOf, record_of
from tsnbench.scenario.kinds.common import LINK_RATE, PROSE, SPAN, TIME
from tsnbench.scenario.kinds.values import YES_NO, Count, FileBeside, Parsed, Quantity
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DURATION, RATE, SHARE, SIZE, BitRate, Duration, Size

SMALLEST_CUT, LARGEST_CUT = 18, 65_535
"""Octets after which cut-through may begin: addresses, VLAN tag and type; the largest frame."""
MOST_PER_OCTET = 1_000_000
"""ps: 1 us for each octet, the rate of a link of 8 Mbit/s."""


def _picoseconds(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)\s*(ps|ns|us)", text)
    exact = Fraction(found[1]) * {"ps": 1, "ns": 10**3, "us": 10**6}[found[2]] if found else Fraction(1, 2)
    if exact.denominator != 1 or exact > MOST_PER_OCTET:
        raise ValueError("it is kept in ps, and is 1 us at most: 0.8 ns or 800 ps")
    return int(exact)


PER_OCTET = Parsed("a time for each octet such as 0.8 ns", parse=_picoseconds)
"""In ps."""


class ProcessingJitter(Part):
    """Processing beyond the least: uniform up to ``up_to``, one of ``values``, or of the times in a file.

    ``per_octet`` is added for each octet of the frame, in ps.
    """

    up_to: Duration | None = None
    values: tuple[Duration, ...] = ()
    file: str | None = None
    per_octet: int = 0


_ENTRIES = Count(2, 65_536, "a number of entries")


class GateLimits(Part):
    """What the gate control lists of a device can be; None is unknown. IEEE 802.1Q-2022, 12.29.1."""

    granularity: Duration | None = key(SPAN, "entries last multiples of it", default=None)
    shortest_interval: Duration | None = key(SPAN, "of an entry", default=None)
    most_entries: int | None = key(_ENTRIES, "of the list of a port", default=None)
    most_entries_together: int | None = key(_ENTRIES, "of the lists of all ports", default=None)
    shortest_cycle: Duration | None = key(SPAN, "of a list", default=None)
    longest_cycle: Duration | None = key(SPAN, "of a list", default=None)


class SlopeLimits(Part):
    """What idle slopes of a device can be; None is unknown. IEEE 802.1Q-2022, 8.6.8.2."""

    granularity: BitRate | None = key(
        Quantity(RATE, 1, 10**12), "they are multiples of it", default=None, sample="100 kbit/s"
    )
    part_of_rate: int | None = key(
        Quantity(SHARE, 1, 10**6), "they are multiples of this part of the link's rate", default=None
    )

    def tick_bps(self, rate_bps: int) -> Fraction:
        """The step of idle slopes at a port with this rate; 0 if it is unknown."""
        part = Fraction(rate_bps * (self.part_of_rate or 0), 10**6)
        return max(part, Fraction(self.granularity or 0))


class Supported(Part):
    """The mechanisms that a device has, or has not; None is unknown."""

    gates: bool | None = key(YES_NO, "gate control lists, IEEE 802.1Q-2022, 8.6.8.4", default=None)
    cbs: bool | None = key(YES_NO, "credit-based shapers, IEEE 802.1Q-2022, 8.6.8.2", default=None)
    ats: bool | None = key(YES_NO, "asynchronous shaping, IEEE 802.1Q-2022, 8.6.8.5", default=None)
    cqf: bool | None = key(YES_NO, "cyclic queuing, IEEE 802.1Q-2022, Annex T", default=None)
    preemption: bool | None = key(YES_NO, "frame pre-emption, IEEE 802.1Q-2022, 6.7.2", default=None)
    filters: bool | None = key(
        YES_NO, "stream filters, gates and meters (PSFP), IEEE 802.1Q-2022, 8.6.5.2", default=None
    )
    frer: bool | None = key(YES_NO, "seamless redundancy, IEEE 802.1CB-2017, 7", default=None)


class Depth(Part):
    """The depth of each queue of a port; None is unknown."""

    limit_frames: int | None = key(Count(1, 1 << 24, "a number of frames"), "most frames", default=None)
    limit_octets: Size | None = key(Quantity(SIZE, 1, 1 << 40), "most octets", default=None)


class Stamps(Part):
    """The timestamps of a device's hardware; None is unknown."""

    granularity: Duration | None = key(Quantity(DURATION, 1, 10**6), "ticks", default=None)
    jitter: Duration | None = key(
        Quantity(DURATION, 0, 10**6), "a uniform draw up to this: its PHY", default=None
    )


class Calibration(Part):
    """The measurement from which a description was fitted: its conditions, and 95 % intervals."""

    frames: int | None = key(Count(1, 1 << 40, "a number of frames"), "frames of the fit", default=None)
    sizes: tuple[Size, ...] = key(
        ListOf(Quantity(SIZE, 1), "sizes of frames"), "sizes of the measured frames", "[100 B, 1000 B]"
    )
    rates: tuple[BitRate, ...] = key(
        ListOf(LINK_RATE, "rates of links"), "of the links at the device", "1 Gbit/s"
    )
    load: int = key(
        Quantity(SHARE, 0, 10**6, zero=True), "greatest load of a port of the device, in ppm", "12 %"
    )
    fixed: tuple[Duration, ...] = key(
        ListOf(TIME, "two times", least=2, most=2),
        "interval of the part that no size changes",
        "[1 us, 2 us]",
    )
    per_octet: tuple[int, ...] = key(
        ListOf(PER_OCTET, "two times", least=2, most=2), "interval of the time for each octet", "[0 ps, 1 ns]"
    )
    draws: str | None = key(
        FileBeside("the name of a parquet file", endings=(".parquet",)),
        "parameters that explain the measurement as well, for predictions with an interval",
        default=None,
    )


class Device(Part):
    """A device as its source describes it; None is unknown."""

    name: str
    source: str = key(PROSE, "where the numbers are from", "a data sheet")
    classes: int | None = key(Count(1, 8, "a number"), "traffic classes of a port", default=None)
    processing: Duration | None = None
    """From a frame's last bit in to its place in the queue: the least time."""
    processing_jitter: ProcessingJitter | None = None
    processing_rates: tuple[BitRate, ...] = key(
        ListOf(LINK_RATE, "rates of links"), "of the links for which it is stated", default=()
    )
    gates: GateLimits = key(
        record_of(GateLimits, "limits of lists", empty=True), "limits", default=GateLimits()
    )
    cbs: SlopeLimits = key(
        record_of(SlopeLimits, "limits of idle slopes", empty=True), "limits", default=SlopeLimits()
    )
    supports: Supported = key(
        record_of(Supported, "mechanisms", empty=True), "what it has, and what not", default=Supported()
    )
    cut_through: Size | None = key(
        Quantity(SIZE, SMALLEST_CUT, LARGEST_CUT), "longer frames go on after so many octets", default=None
    )
    queues: Depth = key(record_of(Depth, "a depth", empty=True), "depth of each queue", default=Depth())
    longest_history: int | None = key(
        Count(1, 1 << 16, "a number of frames"), "of sequence recovery, in sequence numbers", default=None
    )
    timestamps: Stamps = key(record_of(Stamps, "timestamps", empty=True), "of its hardware", default=Stamps())
    calibration: Calibration | None = key(
        record_of(Calibration, "a calibration"),
        "the measurement of the processing",
        written="calibrated",
        default=None,
    )
