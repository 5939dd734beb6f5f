"""Whether the clocks of all hosts agree: before a run (the gate) and during the run (the monitor).

Readings come from ``tsnbench-traffic sync`` on every host. The age of a reading is checked: when a
grandmaster is gone, ptp4l's offset, port state and ``gmPresent`` do not change; only the age of the last Sync
grows. TSN-FlexTest IV-D2 and Fig. 5.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.hosts.inventory.types import SyncBounds

OLDEST_INTERVALS = 4
"""Number of Sync intervals after which an offset is too old."""
OLDEST_NS = 4 * 10**9
"""The greatest age if the interval is unknown."""
COLUMNS = ("host", "tai_ns", "clock", "offset_ns", "uncertainty_ns", "age_ns", "state", "grandmaster")
FOLLOWS, LEADS = "SLAVE", ("MASTER", "GRAND_MASTER")


@dataclass(frozen=True)
class Reading:
    """The readings of a host's clocks at one moment."""

    host: str
    tai_ns: int
    """The time of the reading on the host's own clock."""
    told: Json
    """The line of ``tsnbench-traffic sync``."""

    @property
    def grandmaster(self) -> str:
        return str(self.told.get("gm_identity") or "")

    @property
    def leads(self) -> bool:
        """Whether this host is the grandmaster."""
        return bool(self.grandmaster) and self.told.get("clock_identity") == self.grandmaster

    @property
    def offset_ns(self) -> int | None:
        """Offset of the clock that ptp4l adjusts from its master; negative if it is behind."""
        found = self.told.get("master_offset_ns")
        return None if found is None else int(found)


def read(host: str, line: str) -> Reading | None:
    """Parses a line of ``tsnbench-traffic sync``; None if it is none."""
    try:
        told = json.loads(line)
        return Reading(host, int(told["tai_ns"]), told)
    except (ValueError, KeyError, TypeError):
        return None


def fault(reading: Reading, bounds: SyncBounds) -> str:
    """Why a reading is bad, in words; empty if it is good."""
    told = reading.told
    if error := told.get("error"):
        return str(error)
    for device, own in told.get("phc", {}).items():
        if "error" in own:
            return f"{device}: {own['error']}"
        # The uncertainty of the reading is not a part of the offset.
        if abs(own["offset_ns"]) - own["uncertainty_ns"] > bounds.system_ns:
            found = f"{device} is {own['offset_ns']:+,} ns from the system's TAI"
            return f"{found}, more than {bounds.system_ns:,} ns"
    if reading.leads:
        return "" if told.get("port_state") in LEADS else f"its port is {told.get('port_state')}"
    if told.get("port_state") != FOLLOWS:
        return f"its port is {told.get('port_state')}, and follows no master"
    age = told.get("age_ns")
    if age is not None and age > _oldest_ns(told):
        return f"its last Sync is {age / 1e9:.1f} s old"
    if reading.offset_ns is None:
        return "ptp4l does not say how far it is from its master"
    if abs(reading.offset_ns) > bounds.below_ns:
        return f"it is {reading.offset_ns:+,} ns from its master, more than {bounds.below_ns:,} ns"
    return ""


def _oldest_ns(told: Json) -> int:
    intervals = [one.get("log_sync_interval") for one in told.get("ports", ()) if one.get("state") == FOLLOWS]
    if not intervals or intervals[0] is None:
        return OLDEST_NS
    return int(OLDEST_INTERVALS * 2.0 ** intervals[0] * 10**9)


@dataclass
class Gate:
    """Lets a run begin once all readings of all hosts have been good for a given time."""

    hosts: tuple[str, ...]
    bounds: SyncBounds
    good_since: dict[str, int] = field(default_factory=dict)
    """By host, its first good reading since the last bad one (its own TAI)."""
    last: dict[str, Reading] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    """By host, the fault of its last bad reading."""

    def take(self, reading: Reading) -> None:
        """Adds a reading. A bad reading restarts the time of its host."""
        self.last[reading.host] = reading
        if why := fault(reading, self.bounds):
            self.why[reading.host] = why
            self.good_since.pop(reading.host, None)
        else:
            self.good_since.setdefault(reading.host, reading.tai_ns)

    @property
    def open(self) -> bool:
        """Whether a run may begin."""
        return (
            all(
                host in self.good_since
                and self.last[host].tai_ns - self.good_since[host] >= self.bounds.steady_ns
                for host in self.hosts
            )
            and not self.split()
        )

    def states(self) -> Iterator[str]:
        """The state of each host's clock, in words."""
        for host in self.hosts:
            reading = self.last.get(host)
            if reading is None:
                yield f"{host} has said nothing yet"
                continue
            state = reading.told.get("port_state") or reading.told.get("error") or "no state"
            offset = "" if reading.offset_ns is None else f" {reading.offset_ns:+,} ns from its master,"
            since = self.good_since.get(host)
            good = "not yet good" if since is None else f"good for {(reading.tai_ns - since) / 1e9:.1f} s"
            yield f"{host}{' leads,' if reading.leads else offset} {state}, {good}"

    def split(self) -> str:
        """A sentence if hosts follow different grandmasters; empty if they have one."""
        found: dict[str, list[str]] = {}
        for host, reading in self.last.items():
            found.setdefault(reading.grandmaster, []).append(host)
        if len(found) <= 1:
            return ""
        return "; ".join(f"{' and '.join(own)} follow {gm or 'nobody'}" for gm, own in sorted(found.items()))

    def closed_because(self) -> tuple[str, str]:
        """The host that keeps the gate closed, and the reason."""
        for host in self.hosts:
            if host not in self.last:
                return host, "it has said nothing of its clocks"
            if host not in self.good_since:
                return host, self.why[host]
        if split := self.split():
            return self.hosts[0], f"there are several grandmasters: {split}"
        slowest = max(self.hosts, key=lambda host: self.good_since[host])
        return slowest, f"{self.why.get(slowest, 'its readings')}: good again for too short a time"


@dataclass
class Monitor:
    """Keeps every reading during a run, and reports a bad one."""

    bounds: SyncBounds
    grandmaster: str = ""
    readings: list[Reading] = field(default_factory=list)

    def take(self, reading: Reading) -> str:
        """Adds a reading; returns why the run is not valid any more, or an empty text."""
        self.readings.append(reading)
        if why := fault(reading, self.bounds):
            return why
        if not self.grandmaster:
            self.grandmaster = reading.grandmaster
        if reading.grandmaster != self.grandmaster:
            return f"its grandmaster changed from {self.grandmaster} to {reading.grandmaster or 'nobody'}"
        return ""


def rows(readings: list[Reading]) -> dict[str, list[Any]]:
    """Columns of ``sync.parquet``: one row for each reading of each clock of a host."""
    found = [
        (
            one.host,
            one.tai_ns,
            clock,
            offset,
            uncertainty,
            one.told.get("age_ns"),
            str(one.told.get("port_state") or one.told.get("error") or ""),
            one.grandmaster,
        )
        for one in readings
        for clock, offset, uncertainty in _clocks(one)
    ]
    return {name: [row[place] for row in found] for place, name in enumerate(COLUMNS)}


def _clocks(one: Reading) -> Iterator[tuple[str, int | None, int | None]]:
    """The clocks of a host with their offsets and uncertainties: the one of ptp4l first."""
    yield "ptp4l", one.offset_ns, None
    for device, own in one.told.get("phc", {}).items():
        yield device, own.get("offset_ns"), own.get("uncertainty_ns")
