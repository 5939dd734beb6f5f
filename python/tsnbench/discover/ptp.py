"""What ``pmc`` says of a host's ptp4l: its identity, its grandmaster, and the state of each port.

pmc(8). Domain 0, over ptp4l's default socket. IEEE 1588-2019, 8.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tsnbench.discover.running import RunningHost
from tsnbench.errors import ContentError
from tsnbench.hosts.remote.answers import Done, Step

SETS = ("DEFAULT_DATA_SET", "PARENT_DATA_SET", "PORT_DATA_SET")
LOOK = Step(("pmc", "-u", "-b", "0", *(f"GET {name}" for name in SETS)), may_fail=True)
"""The command. It changes nothing."""
MECHANISMS = {"1": "e2e", "2": "p2p"}
"""``delayMechanism`` as scenarios name it."""
MOST_LOG = 12
"""Paces beyond 2^12 s, or below 2^-12 s, are none."""


@dataclass(frozen=True)
class PtpPort:
    """One port of a clock."""

    number: int
    state: str
    """``MASTER``, ``SLAVE``, ``UNCALIBRATED``, …"""
    delay: str | None
    """``e2e`` or ``p2p``; None: none, or another."""
    log_sync: int
    """Sync messages come every 2^this s."""


@dataclass(frozen=True)
class PtpClock:
    """The clock of one host."""

    identity: str
    """``clockIdentity``: ``c21e6d.fffe.6d23ba``."""
    grandmaster: str
    domain: int
    ports: Sequence[PtpPort]

    @property
    def leads(self) -> bool:
        return self.identity == self.grandmaster


def read(done: Done) -> PtpClock | None:
    """The clock of a host; None if no ptp4l answers.

    Raises:
        ContentError: the output is none of pmc's.
    """
    if done.code or "RESPONSE MANAGEMENT" not in done.out:
        return None
    rows: dict[str, list[dict[str, str]]] = {}
    for part in done.out.split("RESPONSE MANAGEMENT")[1:]:
        name, *lines = part.splitlines()
        words = (line.split() for line in lines)
        rows.setdefault(name.strip(), []).append({row[0]: row[1] for row in words if len(row) == 2})
    try:
        own, parent = rows["DEFAULT_DATA_SET"][0], rows["PARENT_DATA_SET"][0]
        ports = [_port(one) for one in rows.get("PORT_DATA_SET", ())]
        return PtpClock(own["clockIdentity"], parent["grandmasterIdentity"], int(own["domainNumber"]), ports)
    except (KeyError, ValueError, IndexError) as error:
        raise ContentError(f"pmc: cannot be read ({error!r})") from error


def _port(row: Mapping[str, str]) -> PtpPort:
    number = int(row["portIdentity"].rpartition("-")[2])
    return PtpPort(
        number, row["portState"], MECHANISMS.get(row["delayMechanism"]), int(row["logSyncInterval"])
    )


def owner(identity: str, states: Mapping[str, RunningHost]) -> str | None:
    """The host with an interface whose address makes this clock identity. IEEE 1588-2019, 7.5.2.2.2."""
    octets = re.sub(r"[^0-9a-f]", "", identity.lower())
    mac = ":".join((octets[:6] + octets[10:])[place : place + 2] for place in range(0, 12, 2))
    return next((name for name, one in states.items() if any(p.mac == mac for p in one.ports.values())), None)


def notes(clocks: Mapping[str, PtpClock], states: Mapping[str, RunningHost]) -> Iterator[str]:
    """Each clock in words."""
    for name, one in clocks.items():
        ports = ", ".join(f"port {own.number} {own.state}" for own in one.ports)
        leader = owner(one.grandmaster, states) or one.grandmaster
        words = "is the grandmaster" if one.leads else f"follows {leader}"
        yield f"ptp: {name} {words} in domain {one.domain}: {ports}"


def keys(
    clocks: Mapping[str, PtpClock], states: Mapping[str, RunningHost], nodes: Sequence[str]
) -> dict[str, object] | None:
    """``clocks.ptp`` of the scenario; None if the hosts do not agree on a grandmaster of the network."""
    leaders = {owner(one.grandmaster, states) for one in clocks.values()}
    (leader,) = leaders if len(leaders) == 1 else (None,)
    if leader is None or leader not in nodes or leader not in clocks:
        return None
    first = next(iter(clocks[leader].ports), None)
    if first is None or first.delay is None or abs(first.log_sync) > MOST_LOG:
        return None
    pace = f"{2**first.log_sync} s" if first.log_sync >= 0 else f"1/{2**-first.log_sync} s"
    return {"grandmaster": leader, "delay": first.delay, "sync-interval": pace}
