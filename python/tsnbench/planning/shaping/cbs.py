"""The four parameters of credit-based shapers, exactly, from bandwidths and frame sizes.

IEEE 802.1Q-2022, 8.6.8.2 and annex L; EnGINE eq. 2-6.

All frame sizes here are PHY sizes: preamble, delimiter, frame, FCS and inter-frame gap. No parameter is
rounded until it is requested in one of the two systems of units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tsnbench.plan.types import CbsLinux

LARGEST_FRAME = 1542
"""PHY octets of a full VLAN-tagged frame: ``MFS_0`` unless a larger frame may interfere."""


class CbsError(ValueError):
    """Bandwidths that a port cannot reserve."""


class Parameters(NamedTuple):
    """Rounded parameters: bit/s and bit, or kbit/s and octets in the units of ``tc … cbs``."""

    idle_slope: int
    send_slope: int
    hi_credit: int
    lo_credit: int


class Given(NamedTuple):
    """What a scenario gives of a shaper, in bit/s and bit; None: it follows from the idle slope."""

    send_slope: int | None = None
    hi_credit: int | None = None
    lo_credit: int | None = None


FOLLOWS = Given()
"""Nothing is given."""


@dataclass(frozen=True)
class SrClass:
    """The needs of one stream reservation class at a port."""

    bandwidth: Fraction | int
    """bit/s, PHY."""
    most_frame: int = LARGEST_FRAME
    """``MFS_X``, PHY octets."""
    given: Given = FOLLOWS


@dataclass(frozen=True)
class CreditBasedShaper:
    """The shaper of one class at one port; slopes in bit/s, credits in bit."""

    rate: int
    """``PTR``, bit/s."""
    most_frame: int
    """``MFS_X``, PHY octets."""
    idle_slope: Fraction
    send_slope: Fraction
    """In force: the one that is given, or idle slope less rate."""
    hi_credit: Fraction
    """What follows, even if another one is given; so is ``lo_credit``."""
    lo_credit: Fraction
    given: Given = FOLLOWS
    widest: Fraction = Fraction(0)
    """``hi_credit`` if all frames had :data:`LARGEST_FRAME` octets, which many tables assume."""

    @property
    def share(self) -> Fraction:
        """``B_X``, the share of the port's rate. EnGINE eq. 2."""
        return self.idle_slope / self.rate

    def standard(self) -> Parameters:
        """bit/s and bit; rounded away from zero, sendSlope so that EnGINE eq. 3 still holds exactly."""
        return self._in_force(1, 1)

    def linux(self) -> Parameters:
        """kbit/s and octets, in the units of ``tc-cbs(8)``; with the same rounding."""
        return self._in_force(1000, 8)

    def follows(self) -> Parameters:
        """:meth:`standard`, with the values that follow from the idle slope instead of the given ones."""
        return replace(self, given=FOLLOWS).standard()

    def _in_force(self, per_slope: int, per_credit: int) -> Parameters:
        idle = ceil(self.idle_slope / per_slope)
        send, high, low = self.given
        return Parameters(
            idle,
            idle - self.rate // per_slope if send is None else floor(self.send_slope / per_slope),
            ceil((self.hi_credit if high is None else Fraction(high)) / per_credit),
            floor((self.lo_credit if low is None else Fraction(low)) / per_credit),
        )

    def tc(self) -> CbsLinux:
        """The same by the names of ``tc``."""
        idle, send, high, low = self.linux()
        return {"idleslope": idle, "sendslope": send, "hicredit": high, "locredit": low}


def bandwidth(frames: Iterable[tuple[int, int]]) -> Fraction:
    """The PHY bit rate of periodic frames, given as (PHY octets, period in ns).

    >>> bandwidth([(1250, 100_000)])
    Fraction(100000000, 1)
    """
    return sum((Fraction(octets * 8 * 10**9, period) for octets, period in frames), Fraction(0))


def credit_based_shapers(
    classes: Sequence[SrClass], rate: int, most_other_frame: int = LARGEST_FRAME
) -> tuple[CreditBasedShaper, ...]:
    """The shapers of a port's SR classes, highest class first.

    Args:
        classes: highest class first; each class waits for one frame of the classes below the SR classes, and
            for every class before it (EnGINE eq. 5 and 6).
        rate: the port's rate (``PTR``) in bit/s, the real one if it differs from the nominal.
        most_other_frame: ``MFS_0``, PHY octets of the largest frame of a lower class.

    Raises:
        CbsError: a class without bandwidth, or with at least the bandwidth of the port.

    >>> credit_based_shapers([SrClass(100_000_000, 1250)], 1_000_000_000)[0].linux()
    Parameters(idle_slope=100000, send_slope=-900000, hi_credit=155, lo_credit=-1125)
    """
    shapers: list[CreditBasedShaper] = []
    # The possible interference before the class, as a time in seconds: EnGINE eq. 5, the parenthesis.
    interference = widest = Fraction(most_other_frame * 8, rate)
    for place, sr in enumerate(classes):
        idle_slope = Fraction(sr.bandwidth)
        if not 0 < idle_slope < rate:
            raise CbsError(
                f"SR class number {place + 1} needs {float(idle_slope):g} bit/s of a port of {rate} bit/s"
            )
        given, most = sr.given, sr.most_frame
        send_slope = idle_slope - rate if given.send_slope is None else Fraction(given.send_slope)
        size = Fraction(most * 8)
        hi_credit = idle_slope * interference
        lo_credit = size * send_slope / rate
        full = Fraction(max(most, LARGEST_FRAME) * 8)
        most_credit = idle_slope * widest
        shapers.append(
            CreditBasedShaper(rate, most, idle_slope, send_slope, hi_credit, lo_credit, given, most_credit)
        )
        spent = hi_credit if given.hi_credit is None else given.hi_credit
        interference += spent / -send_slope + size / rate
        widest += max(most_credit, spent) / -send_slope + full / rate
    return tuple(shapers)
