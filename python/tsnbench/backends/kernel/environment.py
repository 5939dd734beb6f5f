"""The environment of a job: its folders, its tools, and the capabilities of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

QDISCS = ("htb", "pfifo", "prio", "netem", "cbs", "etf", "mqprio", "taprio", "clsact")
FILTERS = ("matchall", "flower", "u32", "bpf")
ACTIONS = ("mirred", "skbedit", "gact", "police", "gate")
LINKS = ("veth", "bridge", "vlan", "ifb")


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a kernel, by the names of tc and ip."""

    qdiscs: frozenset[str] = frozenset(QDISCS)
    filters: frozenset[str] = frozenset(FILTERS)
    actions: frozenset[str] = frozenset(ACTIONS)
    links: frozenset[str] = frozenset(LINKS)
    bridge_vlans: bool = True
    """Whether bridges distinguish VLANs. IEEE 802.1Q-2022, 8.8.2."""

    @property
    def wires(self) -> bool:
        """Whether a link can have a transmission time: netem delays a frame by it."""
        return "netem" in self.qdiscs

    @property
    def reads_tags(self) -> bool:
        """Whether a tag's priority can become the kernel's."""
        return "flower" in self.filters and "skbedit" in self.actions


GUEST = Capabilities()
"""The capabilities of the guest's kernel, whose modules are part of the image."""


@dataclass(frozen=True)
class Environment:
    """The folders of the job's files; by default those of the guest. The script quotes paths."""

    job: str = "/job"
    results: str = "/results"
    scratch: str = "/tmp"
    ip: str = "/tools/ip"
    tc: str = "/tools/tc"
    talker: str = "tsnbench-traffic"
    console: str = "/dev/console"
    micros: bool = True
    """Whether the shell has ``usleep``; otherwise its ``sleep`` accepts fractions of a second."""
    lead_s: int = 2
    """Time from the begin of a set-up that contains moments to the Plan's zero; longer for many ports."""
    tai_s: int = 0
    """TAI minus the clock of captures' timestamps, in s."""
    can: Capabilities = GUEST
