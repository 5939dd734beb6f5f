"""What a Plan leaves open about a Linux host: interfaces, how taprio works, which queue is served first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tsnbench.errors import InputError

if TYPE_CHECKING:
    from tsnbench.plan.network import Network


class Mode(StrEnum):
    """How taprio opens gates (`flags`)."""

    SOFTWARE = "software"
    TXTIME_ASSIST = "txtime-assist"
    FULL = "full"


class Layout(StrEnum):
    """Which transmission queue a traffic class gets, highest class first.

    The kernel's own order is by class number; some hardware (igb, igc), and taprio before Linux 6.4, serve
    queue 0 first.
    ``REVERSED`` is right for both, but mappings that go down are refused before Linux 6.3.
    """

    REVERSED = "reversed"
    """The classes' numbers stay, the highest class has queue 0."""
    RENUMBERED = "renumbered"
    """Class 0 of the kernel is the highest and has queue 0, as EnGINE has it: Linux up to 6.2."""
    STRAIGHT = "straight"
    """Class n has queue n: hardware that serves the highest queue first (stmmac)."""


INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,14}")
"""Names of interfaces that scripts may hold. The kernel takes any 15 octets but `/`, `:` and white space;
here what a shell, `ip -batch` or a file of ptp4l would read as something else is refused, too."""


@dataclass(frozen=True)
class Profile:
    """The hosts on which a Plan is to run."""

    mode: Mode = Mode.SOFTWARE
    layout: Layout = Layout.REVERSED
    tx_queues: int | None = None
    """What the interfaces have; None: as many as a port has classes."""
    epoch_ns: int = 0
    """The instant of CLOCK_TAI that is 0 in the Plan. Cycles reach back: 0 does where phases matter."""
    txtime_delay_ns: int = 500_000
    """How far ahead of now launch times are at the earliest under txtime-assist."""
    interfaces: Mapping[str, str] = field(default_factory=dict)
    """Port of the Plan (`bridge1 -> bridge2`) to interface; others are called eth1, eth2, … per node."""
    software_stamps: bool = False
    """ptp4l stamps in software: veth and interfaces without a clock."""
    one_clock: bool = False
    """All ports of a node have the same clock, as those of one card."""
    cpus: tuple[int, ...] = (2, 3)
    """Isolated for talkers and interrupts."""

    def __post_init__(self) -> None:
        """Every name ends up in scripts that run as root.

        Raises:
            InputError: a name is none that an interface can have.
        """
        for port, name in self.interfaces.items():
            if not INTERFACE.fullmatch(name):
                raise InputError(
                    f"interface of {port}: expected the name of an interface (up to 15 letters, digits and "
                    f"_ . @ + -, the first a letter, a digit or _), found {name}"
                )

    def interface(self, network: Network, port: int) -> str:
        return self.interfaces.get(network.ports[port]["name"], f"eth{network.place(port) + 1}")

    def traffic_class(self, number: int, classes: int) -> int:
        """The kernel's number of a class of the Plan."""
        return classes - 1 - number if self.layout is Layout.RENUMBERED else number

    def queue(self, number: int, classes: int) -> int:
        """The transmission queue of a class of the Plan."""
        return number if self.layout is Layout.STRAIGHT else classes - 1 - number

    def mask(self, open_classes: int, classes: int) -> int:
        """Gates as taprio counts them: bit n is the kernel's class n."""
        bits = (number for number in range(classes) if open_classes >> number & 1)
        return sum(1 << self.traffic_class(number, classes) for number in bits)
