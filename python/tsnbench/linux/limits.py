"""Settings that a kernel refuses, or accepts without effect, found before they are requested.
Numbers are those of Linux 6.x.

tc-mqprio(8), tc-taprio(8), tc-etf(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.linux.profile import Layout, Mode, Profile
from tsnbench.linux.qdiscs import FLAGS, Root, root

if TYPE_CHECKING:
    from tsnbench.plan.types import Port

MOST_CLASSES = 16
"""TC_QOPT_MAX_QUEUE."""
SHORTEST_FRAME = 60
"""Octets (ETH_ZLEN): an entry must be long enough for one."""
LONGEST_CYCLE_NS = 2**31 - 1
UNKNOWN_SPEED_BPS = 10_000_000
"""What taprio and cbs take for the rate of an interface that does not tell its speed."""


@dataclass(frozen=True)
class Problem:
    """One finding: kind, place, setting, the kernel's reaction, and a remedy."""

    kind: str
    where: str
    found: str
    """The facts of this port alone; empty if they are equal for all ports with such a finding."""
    text: str
    hint: str

    def __str__(self) -> str:
        return f"{self.where}: {self.found or self.kind}: {self.text}\n  hint: {self.hint}"


def shortest_interval_ns(rate_bps: int) -> int:
    """The shortest entry that taprio takes: a 60-octet frame at the link's speed, as the kernel rounds it."""
    picoseconds_per_octet = 8_000_000 // (rate_bps // 1_000_000)
    return SHORTEST_FRAME * picoseconds_per_octet // 1000


def problems(port: Port, profile: Profile, scheduled: bool = False) -> list[Problem]:
    """All findings of one port, refusals first; ``scheduled``: its gates are planned for streams."""
    return list(_problems(port, profile, scheduled))


def _problems(port: Port, profile: Profile, scheduled: bool) -> Iterator[Problem]:
    name = port["name"]
    classes = len(port["classes"])
    own = root(port, profile)
    if classes > MOST_CLASSES:
        yield Problem(
            "too many traffic classes",
            name,
            f"{classes} traffic classes",
            f"the kernel has {MOST_CLASSES}",
            "use fewer classes",
        )
    if profile.tx_queues is not None and profile.tx_queues < classes:
        yield Problem(
            "too few transmission queues",
            name,
            f"{classes} traffic classes on an interface with {profile.tx_queues} transmission queues",
            "each class needs one of its own",
            f"use a map with {profile.tx_queues} classes, or an interface with more (`ethtool -l`)",
        )
    if profile.layout is Layout.REVERSED and classes > 1:
        yield Problem(
            "classes in falling order of queues",
            name,
            "",
            "Linux before 6.3 refuses them (`Detected overlap in the traffic class to queue mapping`)",
            "on such a kernel export with --queues renumbered",
        )
    if own.kind == "taprio":
        yield from _schedule(port, own, scheduled)
    if "preemption" in port and profile.mode is not Mode.FULL:
        yield Problem(
            "frame pre-emption",
            name,
            "",
            "it is left out, because taprio and mqprio have it in hardware only",
            "export with --taprio full for an interface whose driver can pre-empt (`ethtool --show-mm`)",
        )


def _schedule(port: Port, own: Root, scheduled: bool) -> Iterator[Problem]:
    name = port["name"]
    shortest = shortest_interval_ns(port["rate_bps"])
    brief = [interval for _, _, interval in own.entries if interval < shortest]
    if brief:
        yield Problem(
            f"entries under {shortest} ns",
            name,
            f"an entry of {min(brief)} ns",
            f"at {port['rate_bps'] // 1_000_000} Mbit/s taprio takes none under "
            f"{shortest} ns, the time of a frame of {SHORTEST_FRAME} octets",
            f"schedule: {{shortest-interval: {shortest} ns}}"
            if scheduled
            else "join them with their neighbours, or for planned windows "
            f"windows: {{shortest-interval: {shortest} ns}}",
        )
    if own.cycle_time > LONGEST_CYCLE_NS:
        yield Problem(
            "long cycles",
            name,
            f"a cycle of {own.cycle_time} ns",
            f"taprio takes up to {LONGEST_CYCLE_NS} ns",
            f"schedule: {{longest-cycle: {LONGEST_CYCLE_NS} ns}}" if scheduled else "use a shorter cycle",
        )
    unknown = shortest_interval_ns(UNKNOWN_SPEED_BPS)
    small = [interval for _, _, interval in own.entries if shortest <= interval < unknown]
    if small:
        yield Problem(
            f"entries under {unknown} ns",
            name,
            f"entries from {min(small)} ns",
            "while the link is down taprio assumes 10 Mbit/s and may reject them",
            "run tc when the link is up",
        )
    commands = {command for command, _, _ in own.entries}
    if commands - {"S"} and own.flags != FLAGS[Mode.FULL]:
        yield Problem(
            "entries that hold or release preemptable frames",
            name,
            "",
            "taprio in software reads only their gates",
            "export with --taprio full",
        )
    if any(own.max_sdu):
        yield Problem("`max-sdu` per class", name, "", "it is new", "use Linux 6.1 and iproute2 6.1 or later")
