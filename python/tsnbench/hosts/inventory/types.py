"""The content of an inventory, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tsnbench.scenario.text.origin import Origin


class Clock(StrEnum):
    """The kind of a host's clocks: how they are synchronised, if they are."""

    HARDWARE = "hardware"
    """Its interfaces have PTP hardware clocks."""
    SOFTWARE = "software"
    """ptp4l uses software timestamps."""
    NONE = "none"
    """Its clock runs free, and no delay is measured there: background traffic only."""


@dataclass(frozen=True, order=True)
class End:
    """One port of one machine, as the inventory names it: ``zgw6.left``."""

    machine: str
    port: str

    def __str__(self) -> str:
        return f"{self.machine}.{self.port}"


@dataclass(frozen=True)
class Wire:
    """A cable between two machines."""

    a: End
    b: End

    @property
    def ends(self) -> tuple[End, End]:
        return self.a, self.b

    def __str__(self) -> str:
        return f"{self.a} - {self.b}"


@dataclass(frozen=True)
class Host:
    """A Linux machine that is reached by ssh."""

    name: str
    ssh: str
    """The destination for the ssh client: ``root@zgw6``, ``ssh://pi@192.0.2.7:2222``, an alias."""
    ports: Mapping[str, str]
    """The inventory's names of ports with the names of interfaces, without the interface of the ssh
    connection."""
    talkers: tuple[int, ...] = ()
    """Processors for talkers, listeners and interrupts; empty: any."""
    tuning: tuple[str, ...] = ()
    """Settings for ``tuning.sh``: ``governor``, ``smt=off``; empty: nothing is changed."""
    program: str = ""
    """The machine's architecture in the notation of ``uname -m``; empty: it is read from the host."""
    clock: Clock = Clock.HARDWARE
    folder: str = ""
    """The folder for captures until they are fetched; empty: the host's folder for temporary files."""
    programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Additional programs that run during a run: their commands by name."""
    unseen_ns: int = 0
    """Greatest delay between the wire and a frame's timestamp, as stated by the owner."""


@dataclass(frozen=True)
class Device:
    """A bridge without a shell: configured by NETCONF, or by hand from a checklist."""

    name: str
    ports: Mapping[str, str]
    """The inventory's names of ports with the device's own."""
    netconf: str = ""
    """``USER@HOST[:PORT]``; empty for a device that is configured by hand."""
    checklist: str = ""
    """The path of the checklist's file; empty for a device that is configured by NETCONF."""

    @property
    def by_hand(self) -> bool:
        return bool(self.checklist)


@dataclass(frozen=True)
class SyncBounds:
    """The bounds within which clocks count as synchronised, and the number of attempts. TSN-FlexTest Fig.
    5."""

    below_ns: int = 100
    """The largest offset of a PTP hardware clock from its master, of either sign."""
    system_ns: int = 1_000
    """The largest offset of a system clock from its host's PTP hardware clock, of either sign."""
    steady_ns: int = 10 * 10**9
    """How long all readings must stay within both bounds."""
    within_ns: int = 300 * 10**9
    """The time after which an attempt without such readings has failed."""
    attempts: int = 10
    pause_ns: int = 60 * 10**9
    """The pause between two attempts."""
    drift_ppt: int = 1_000_000
    """Greatest rate of change of a synchronised clock's error between two readings."""
    asymmetry_ns: int = 0
    """Greatest error of ptp4l's readings by asymmetric paths, which no reading can show."""


@dataclass(frozen=True)
class Inventory:
    """A lab: machines and the wires between them. Mappings are in the order of the file."""

    file: str
    hosts: Mapping[str, Host]
    devices: Mapping[str, Device] = field(default_factory=dict)
    wires: tuple[Wire, ...] = ()
    nodes: Mapping[str, str] = field(default_factory=dict)
    """Nodes of scenarios to machines, from ``map``."""
    ports: Mapping[str, End] = field(default_factory=dict)
    """Ports of scenarios (``camera -> s1``) to ports of machines, from ``map``."""
    sync: SyncBounds = SyncBounds()
    origin: Origin | None = field(default=None, repr=False)

    def machine(self, name: str) -> Host | Device | None:
        """The host or device of a name."""
        return self.hosts.get(name) or self.devices.get(name)

    def machines(self) -> Iterator[Host | Device]:
        """All machines: hosts in the order of the file, then devices."""
        yield from self.hosts.values()
        yield from self.devices.values()

    def interface(self, end: End) -> str:
        """The machine's own name of a port."""
        machine = self.machine(end.machine)
        assert machine is not None
        return machine.ports[end.port]

    def where(self, path: str) -> str:
        """``file:line:column`` of a path such as ``map.camera``."""
        return self.file if self.origin is None else self.origin.where(path)
