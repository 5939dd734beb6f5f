"""The wires between hosts: what their neighbours say of themselves (LLDP), and where probe frames arrive.

IEEE 802.1AB-2016, 8.5: chassis, port and description of a neighbour.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tsnbench.discover.running import RunningHost
from tsnbench.errors import ContentError
from tsnbench.exports.scenario_text import one_line
from tsnbench.foreign import Json
from tsnbench.hosts.inventory.types import End, Wire
from tsnbench.hosts.remote.answers import Step

LOOK = Step(("lldpcli", "-f", "json0", "show", "neighbors", "details"), may_fail=True)
"""``json0`` has the same form for any number of neighbours; ``json`` does not."""


@dataclass(frozen=True)
class Neighbour:
    """What an interface's neighbour says of itself."""

    interface: str
    chassis: str
    """Its identifier, a MAC address in most cases."""
    name: str
    port: str
    """The identifier of its port: a MAC address or a name."""
    description: str

    def __str__(self) -> str:
        name = one_line(self.name or self.chassis)[:60] or "a device without a name"
        port = one_line(self.description or self.port)[:60]
        return f"{name}, port {port}" if port else name


@dataclass
class Wires:
    """The wires that were found, and what is known besides."""

    found: list[Wire] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Ports with other neighbours than hosts of the lab, or with several."""


def neighbours(text: str) -> list[Neighbour]:
    """Output of :data:`LOOK`.

    Raises:
        InputError: it is not that.
    """
    try:
        top = json.loads(text)
        if not isinstance(top["lldp"], list):
            raise TypeError("no list of neighbours")
        rows = [row for one in top["lldp"] for row in one.get("interface", ())]
        return [
            Neighbour(
                interface=str(row["name"]),
                chassis=_value(row, "chassis", "id"),
                name=_value(row, "chassis", "name"),
                port=_value(row, "port", "id"),
                description=_value(row, "port", "descr"),
            )
            for row in rows
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ContentError(f"lldpcli: expected its JSON (json0), found {text[:40]!r}: {error}") from error


def _value(row: Json, part: str, name: str) -> str:
    """The first value of a list of lists, which may be empty."""
    for one in row.get(part) or ():
        for value in one.get(name) or ():
            return str(value.get("value", ""))
    return ""


def by_neighbours(
    ports: Mapping[End, str], states: Mapping[str, RunningHost], said: Mapping[str, Iterable[Neighbour]]
) -> Wires:
    """The wires that follow from what neighbours say.

    A neighbour is found by the MAC address of its port, which is the port's identifier by default, or by an
    address of its host and the name of its port. Names of hosts are not used: several may have one name.

    Args:
        ports: the ports of the lab with their interfaces.
        states: the states of the hosts that answered.
        said: by host, its neighbours.
    """
    ends = {(end.machine, interface): end for end, interface in ports.items()}
    wires = Wires()
    claims: dict[End, set[End]] = {}
    for host, own in said.items():
        seen: dict[str, list[Neighbour]] = {}
        for one in own:
            seen.setdefault(one.interface, []).append(one)
        for interface, several in seen.items():
            end = ends.get((host, interface))
            if end is None:
                continue
            if len(several) > 1:
                listed = "; ".join(map(str, several[:4]))
                wires.notes.append(f"{end}: {len(several)} neighbours, so no wire is known: {listed}")
                continue
            far = _far(several[0], ends, states)
            if far is None:
                wires.notes.append(f"{end}: leads out of the lab, to {several[0]}")
            elif far != end:
                claims.setdefault(end, set()).add(far)
                claims.setdefault(far, set()).add(end)
    for end, fars in sorted(claims.items()):
        if len(fars) > 1:
            wires.notes.append(f"{end}: its neighbours disagree: {', '.join(map(str, sorted(fars)))}")
            continue
        (far,) = fars
        if claims[far] == {end} and end < far:
            wires.found.append(Wire(end, far))
    return wires


def _far(
    one: Neighbour, ends: Mapping[tuple[str, str], End], states: Mapping[str, RunningHost]
) -> End | None:
    having = [
        (host, port.name)
        for host, state in states.items()
        for port in state.ports.values()
        if port.mac == one.port.lower() and (host, port.name) in ends
    ]
    if len(having) > 1:
        having = [place for place in having if place[1] == one.description]
    if not having:
        hosts = [
            host
            for host, state in states.items()
            if any(port.mac == one.chassis.lower() for port in state.ports.values())
        ]
        having = [
            (host, name) for host in hosts for name in (one.port, one.description) if (host, name) in ends
        ]
        having = list(dict.fromkeys(having))
    return ends[having[0]] if len(having) == 1 else None


def by_probes(heard: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """The wires between ports, from where the probe of each one arrived.

    A bridge forwards probes, so that one may arrive at several ports. The wire leads to the only port where
    it arrived, if there is one; then both ports are known, and none of the others' wires leads there.
    """
    left = {port: {one for one in at if one != port} for port, at in heard.items()}
    wires: list[tuple[str, str]] = []
    while True:
        certain = next(((port, min(at)) for port, at in sorted(left.items()) if len(at) == 1), None)
        if certain is None:
            return wires
        wires.append((min(certain), max(certain)))
        left = {port: at - set(certain) for port, at in left.items() if port not in certain}
