"""Choices for Linux hosts that a Plan leaves open: interfaces, modes of taprio, order of queues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tsnbench.errors import InterfaceError

if TYPE_CHECKING:
    from tsnbench.plan.network import Network


class Mode(StrEnum):
    """The mode in which taprio opens gates (`flags`)."""

    SOFTWARE = "software"
    TXTIME_ASSIST = "txtime-assist"
    FULL = "full"


class Layout(StrEnum):
    """The transmission queue of each traffic class, highest class first.

    The kernel's own order is by class number; some hardware (igb, igc), and taprio before Linux 6.4, serve
    queue 0 first.
    ``REVERSED`` suits both, but Linux before 6.3 refuses descending mappings.
    """

    REVERSED = "reversed"
    """Class numbers stay unchanged; the highest class has queue 0."""
    RENUMBERED = "renumbered"
    """Class 0 of the kernel is the highest and has queue 0, as in EnGINE; for Linux up to 6.2."""
    STRAIGHT = "straight"
    """Class n has queue n, for hardware that serves the highest queue first (stmmac)."""


INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,14}")
"""Names of interfaces that scripts may hold. The kernel takes any 15 octets but `/`, `:` and white space;
here what a shell, `ip -batch` or a file of ptp4l would read as something else is refused, too."""


@dataclass(frozen=True)
class Profile:
    """The hosts on which a Plan is to run."""

    mode: Mode = Mode.SOFTWARE
    layout: Layout = Layout.REVERSED
    tx_queues: int | None = None
    """Number of transmission queues of the interfaces; None: one for each class of the port."""
    epoch_ns: int = 0
    """The instant of CLOCK_TAI (ns) that is 0 in the Plan. With 0, cycles still have the Plan's phases."""
    txtime_delay_ns: int = 500_000
    """Least distance of launch times from the present, in ns, under txtime-assist."""
    interfaces: Mapping[str, str] = field(default_factory=dict)
    """Interface of each port of the Plan (`bridge1 -> bridge2`); other ports are eth1, eth2, … per node."""
    software_stamps: bool = False
    """ptp4l uses software timestamps, for veth and for interfaces without a clock."""
    utc_offset_s: int = 37
    """TAI - UTC in s as the hosts' kernels have it, 37 since 2017; CLOCK_TAI and the clocks of cards then
    agree."""
    step_ns: int = 0
    """The least offset at which ptp4l and phc2sys step a clock that they have stepped before, if the Plan has
    none; 0: never."""
    one_clock: bool = False
    """All ports of a node share one clock, as the ports of one card do."""
    cpus: tuple[int, ...] = (2, 3)
    """Processor cores that are isolated for talkers and interrupts."""

    def __post_init__(self) -> None:
        """Checks names, because they are written into scripts that run as root.

        Raises:
            InputError: a name is none that an interface can have.
        """
        for port, name in self.interfaces.items():
            if not INTERFACE.fullmatch(name):
                raise InterfaceError(
                    f"interface of {port}: expected the name of an interface (up to 15 letters, digits and "
                    f"_ . @ + -, the first a letter, a digit or _), found {name}"
                )

    def interface(self, network: Network, port: int) -> str:
        return self.interfaces.get(network.ports[port]["name"], f"eth{network.place(port) + 1}")

    def traffic_class(self, number: int, classes: int) -> int:
        """The kernel's number of a traffic class of the Plan."""
        return classes - 1 - number if self.layout is Layout.RENUMBERED else number

    def queue(self, number: int, classes: int) -> int:
        """The transmission queue of a traffic class of the Plan."""
        return number if self.layout is Layout.STRAIGHT else classes - 1 - number

    def mask(self, open_classes: int, classes: int) -> int:
        """A gate mask in taprio's numbering: bit n is the gate of the kernel's class n."""
        bits = (number for number in range(classes) if open_classes >> number & 1)
        return sum(1 << self.traffic_class(number, classes) for number in bits)
