"""One common instant at which the devices replace their gate control lists.

IEEE 802.1Q-2022, 8.6.9.3 (ConfigChangeTime) and 12.29.1 (AdminBaseTime, ConfigPending, CurrentTime): a list
whose base time is in the future begins then, and until then the earlier one is in force.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar, cast

from tsnbench.deploy.changes import BASE_TIME, Change, Has, base_ns
from tsnbench.deploy.device import Device, DeviceError
from tsnbench.deploy.tree import Node
from tsnbench.plan.gates import gate_lists
from tsnbench.quantities import some

if TYPE_CHECKING:
    from tsnbench.plan.types import GateCycle, PlanDocument, StreamGate

    Listed = TypeVar("Listed", GateCycle, StreamGate)

LONGEST_WAIT_NS = 120 * 10**9
"""How long a change waits for lists of an earlier one."""
LONGEST_COMMON_NS = 10**9
"""If all lists together repeat later than this, each begins at its own first cycle after the instant."""
APART_NS = 10**9
"""The clocks of devices, which are read one after the other, may differ by this."""
SETTLE_NS = 10**6
"""After an instant, before the next change: the earlier lists are gone."""


@dataclass
class CutOver:
    """When the lists of one deployment begin.

    Args:
        lead_ns: the time from the choice of the instant until it is there; devices commit meanwhile.
        together: the lists need the same instant: a device that does not say that it keeps to it
            (ConfigChangeTime) is refused.
    """

    lead_ns: int
    together: bool = False
    instant_ns: int = 0
    """TAI."""
    late: bool = False
    """Whether a device was not ready before the instant; then the deployment is taken back."""
    took_ns: int = 0
    """From the choice of the instant until all devices were ready."""
    notes: list[str] = field(default_factory=list)
    _ahead_ns: int = 0
    _chosen_ns: int = 0
    """When the instant was chosen: it is up to a cycle later than the lead."""

    def now_ns(self) -> int:
        """The time of the devices, TAI."""
        return time.monotonic_ns() + self._ahead_ns

    def choose(
        self, document: PlanDocument, devices: Sequence[Device], has: Mapping[str, Has]
    ) -> PlanDocument:
        """The Plan with lists that begin at a common instant, chosen when no earlier list waits any more.

        Raises:
            DeviceError: the clocks of devices differ, or a list waits for much longer.
        """
        self._read_clocks(devices)
        for node, one in has.items():
            wait_ns = max(starts(one.told).values(), default=0) - self.now_ns()
            if wait_ns > LONGEST_WAIT_NS:
                at = instant(self.now_ns() + wait_ns)
                raise DeviceError(f"{node}: a gate control list waits for its base time, {at}")
            if wait_ns > 0:
                time.sleep((wait_ns + SETTLE_NS) / 1e9)
        cycle_ns = math.lcm(1, *_cycles(document))
        if cycle_ns > LONGEST_COMMON_NS:
            cycle_ns = 1
        self._chosen_ns = self.now_ns()
        self.instant_ns = -(-(self._chosen_ns + self.lead_ns) // cycle_ns) * cycle_ns
        return starting(document, self.instant_ns)

    def _read_clocks(self, devices: Iterable[Device]) -> None:
        ahead: dict[str, int] = {}
        for device in devices:
            clocks = [one.now_ns for one in device.schedules().values() if one.now_ns is not None]
            if clocks:
                ahead[device.node] = max(clocks) - time.monotonic_ns()
        own = time.clock_gettime_ns(time.CLOCK_TAI) - time.monotonic_ns()
        self._ahead_ns = max(ahead.values(), default=own)
        for node, one in ahead.items():
            if self._ahead_ns - one > APART_NS:
                behind = f"{(self._ahead_ns - one) / 1e9:.3f} s"
                raise DeviceError(f"{node}: its clock is {behind} behind that of another device")
        if not ahead and abs(own + time.monotonic_ns() - time.time_ns()) < APART_NS:
            self.notes.append(
                "this machine's TAI is that of UTC, and no device tells its time: the instant is only as "
                "good as their clocks agree"
            )

    def check(self, changes: Mapping[Device, Sequence[Change]]) -> dict[str, str]:
        """What keeps devices, which all have the new lists, from changing at the instant, by node."""
        errors: dict[str, str] = {}
        for device, own in changes.items():
            wanted = begins(own)
            if not wanted:
                continue
            try:
                wrong = self._unpromised(device, wanted)
            except DeviceError as error:
                wrong = [str(error)]
            if wrong:
                errors[device.node] = some(wrong)
        self.took_ns = self.now_ns() - self._chosen_ns
        timed = [device.node for device, own in changes.items() if begins(own)]
        if timed and not errors and self.now_ns() >= self.instant_ns:
            self.late = True
            errors[timed[-1]] = f"the devices were not ready before {instant(self.instant_ns)}"
        return errors

    def _unpromised(self, device: Device, wanted: Mapping[str, int]) -> list[str]:
        told = device.schedules()
        silent = [where for where in wanted if where not in told]
        if silent and self.together:
            return [f"{some(silent)}: it does not tell when its list changes (config-change-time)"]
        if silent:
            self.notes.append(f"{device.node} does not tell when its lists change; it has their base times")
        wrong = []
        for where in (one for one in wanted if one in told):
            one, at = told[where], wanted[where]
            if one.pending and one.change_ns == at:
                continue
            if one.now_ns is not None and one.now_ns >= at:
                self.late = True
            if not one.pending:
                wrong.append(f"{where}: its list does not wait for {instant(at)}")
            else:
                wrong.append(f"{where}: its list changes at {instant(one.change_ns)}, not at {instant(at)}")
        return wrong


def still_waiting(device: Device, changes: Sequence[Change]) -> list[str]:
    """The ports at which a device would still change to lists that were taken back.

    The earlier lists may wait, too: for their own base times, or, when these are over, for a begin of a
    cycle.
    """
    taken_back = begins(changes)
    before = begins(one.back() for one in changes)
    told = device.schedules() if taken_back else {}
    return [
        f"{where}: its list still waits for {instant(one.change_ns)}"
        for where, one in told.items()
        if where in taken_back and one.pending and one.change_ns != before.get(where)
        if (one.now_ns or 0) < taken_back[where] <= (one.change_ns or 0)
    ]


def starting(document: PlanDocument, at_ns: int) -> PlanDocument:
    """The same lists, each with the first begin of its cycle from an instant on as its base time."""
    ports = [
        {**port, "gates": _from(port["gates"], at_ns)} if "gates" in port else port
        for port in document["ports"]
    ]
    found = {**document, "ports": ports}
    if "policing" in document:
        found["policing"] = [
            {**one, "gates": [_from(gate, at_ns) for gate in one["gates"]]} if one.get("gates") else one
            for one in document["policing"]
        ]
    return cast("PlanDocument", found)


def _from(gates: Listed, at_ns: int) -> Listed:
    begin = at_ns + (gates["base_time_ns"] - at_ns) % gates["cycle_ns"]
    return cast("Listed", {**gates, "base_time_ns": begin})


def _cycles(document: PlanDocument) -> Iterator[int]:
    for port in document["ports"]:
        for one in gate_lists(port["gates"]) if "gates" in port else ():
            yield one["cycle_ns"]


def begins(changes: Iterable[Change]) -> dict[str, int]:
    """The base times, in ns, of the lists that changes give a device, by interface or stream gate."""
    found: dict[str, int] = {}
    for change in changes:
        interface = next((dict(keys)["name"] for _, name, keys in change.path if name == "interface"), "")
        if change.after is not None:
            found |= starts(change.after, interface)
    return found


def starts(node: Node, interface: str = "") -> dict[str, int]:
    """The base times, in ns, of the lists in a configuration, by interface or stream gate."""
    found: dict[str, int] = {}
    own = dict(node.step[2])
    where = own.get("name", interface) if node.name == "interface" else interface
    for child in node.children:
        if child.name == BASE_TIME:
            at = base_ns(child)
            number = own.get("stream-gate-instance-id")
            if at is not None:
                found[where if number is None else f"stream gate {number}"] = at
        elif child.children:
            found |= starts(child, where)
    return found


def unlike(changes: Iterable[Change], has: Has) -> list[str]:
    """The lists that a device has with another base time than it was given."""
    there = starts(has.told)
    return [
        f"{where}: its list begins at {instant(there.get(where))}, not at {instant(at)}"
        for where, at in begins(changes).items()
        if there.get(where) != at
    ]


def instant(ns: int | None) -> str:
    """An instant of TAI for messages.

    Example:
        >>> from tsnbench.deploy.cut_over import instant
        >>> instant(1_000_000_037_500_000_000)
        '2001-09-09T01:47:17.500000000 TAI'
    """
    if ns is None:
        return "no time"
    whole, rest = divmod(ns, 10**9)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d} TAI"
