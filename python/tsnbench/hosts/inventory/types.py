"""What an inventory says, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tsnbench.scenario.text.origin import Origin


class Clock(StrEnum):
    """How a host's clocks take part in synchronisation."""

    HARDWARE = "hardware"
    """Its interfaces have PTP hardware clocks."""
    SOFTWARE = "software"
    """ptp4l stamps in software."""
    NONE = "none"
    """It runs free, and no delay is measured at it: background traffic only."""


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
    """The destination as the ssh client takes it: ``root@zgw6``, ``ssh://pi@192.0.2.7:2222``, an alias."""
    ports: Mapping[str, str]
    """The inventory's names of ports to names of interfaces, without the one that carries ssh."""
    talkers: tuple[int, ...] = ()
    """Processors for talkers, listeners and interrupts; empty: any."""
    tuning: tuple[str, ...] = ()
    """Words for ``tuning.sh``: ``governor``, ``smt=off``; empty: nothing is changed."""
    program: str = ""
    """The machine's architecture as ``uname -m`` prints it; empty: the host is asked."""
    clock: Clock = Clock.HARDWARE
    folder: str = ""
    """Where captures are kept until they are fetched; empty: the host's folder for temporary files."""
    programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Programs of others that talk here while a run lasts: by name, their words."""
    unseen_ns: int = 0
    """What passes at most between the wire and the stamp of a frame, as far as its owner states it."""


@dataclass(frozen=True)
class Device:
    """A bridge without a shell: configured by NETCONF, or by hand from a checklist."""

    name: str
    ports: Mapping[str, str]
    """The inventory's names of ports to the device's own."""
    netconf: str = ""
    """``USER@HOST[:PORT]``; empty for a device that is configured by hand."""
    checklist: str = ""
    """The path of the checklist's file; empty for a device that is configured by NETCONF."""

    @property
    def by_hand(self) -> bool:
        return bool(self.checklist)


@dataclass(frozen=True)
class SyncBounds:
    """When clocks count as synchronised, and how often a run is tried. TSN-FlexTest Fig. 5."""

    below_ns: int = 100
    """The largest offset of a PTP hardware clock from its master, of either sign."""
    system_ns: int = 1_000
    """The largest offset of a system clock from its host's PTP hardware clock, of either sign."""
    steady_ns: int = 10 * 10**9
    """For how long all readings in succession have to be within both bounds."""
    within_ns: int = 300 * 10**9
    """After how long without that an attempt has failed."""
    attempts: int = 10
    pause_ns: int = 60 * 10**9
    """Between two attempts."""
    drift_ppt: int = 1_000_000
    """How fast the error of a synchronised clock changes at most between two readings."""
    asymmetry_ns: int = 0
    """What ptp4l's readings may be wrong by: no reading shows that paths differ in their two directions."""


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
        """``file:line:column`` of what is written at a path such as ``map.camera``."""
        return self.file if self.origin is None else self.origin.where(path)
