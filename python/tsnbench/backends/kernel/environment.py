"""Where a job runs: its folders, its tools, and what the kernel there can do."""

from __future__ import annotations

from dataclasses import dataclass

QDISCS = ("htb", "pfifo", "prio", "netem", "cbs", "etf", "taprio", "mqprio", "clsact")
FILTERS = ("matchall", "flower", "u32", "bpf")
ACTIONS = ("mirred", "skbedit", "gact", "police", "gate")
LINKS = ("veth", "bridge", "vlan", "ifb")


@dataclass(frozen=True)
class Capabilities:
    """What a kernel supports, by the names of tc and ip."""

    qdiscs: frozenset[str] = frozenset(QDISCS)
    filters: frozenset[str] = frozenset(FILTERS)
    actions: frozenset[str] = frozenset(ACTIONS)
    links: frozenset[str] = frozenset(LINKS)
    bridge_vlans: bool = True
    """Bridges tell VLANs apart. IEEE 802.1Q-2022, 8.8.2."""

    @property
    def wires(self) -> bool:
        """Whether a link takes a frame's time: netem holds it as long as its bits last."""
        return "netem" in self.qdiscs

    @property
    def reads_tags(self) -> bool:
        """Whether a tag's priority can become the kernel's."""
        return "flower" in self.filters and "skbedit" in self.actions


GUEST = Capabilities()
"""The guest's kernel, whose modules are chosen."""


@dataclass(frozen=True)
class Environment:
    """Where the job's files are; by default as in the guest. The script quotes paths."""

    job: str = "/job"
    results: str = "/results"
    scratch: str = "/tmp"
    ip: str = "/tools/ip"
    tc: str = "/tools/tc"
    talker: str = "tsnbench-traffic"
    console: str = "/dev/console"
    micros: bool = True
    """The shell has ``usleep``; else its ``sleep`` takes fractions of a second."""
    lead_s: int = 2
    """From the beginning of a set-up that names moments to the Plan's zero; more for many ports."""
    tai_s: int = 0
    """How far TAI is ahead of the clock that stamps captures, in s."""
    can: Capabilities = GUEST
