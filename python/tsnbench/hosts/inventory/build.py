"""Builds the inventory from a tree of YAML, or reports every mistake with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields as members
from pathlib import Path
from typing import Any

from tsnbench.hosts.inventory.grammar import INVENTORY, near_port, setting
from tsnbench.hosts.inventory.types import Clock, Device, End, Host, Inventory, SyncBounds, Wire
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.origin import Origin
from tsnbench.scenario.text.reading import Bad, Named, Reading, meant
from tsnbench.scenario.text.tree import Mapping, Sequence, Value

_TIMES = {"below": "below_ns", "system": "system_ns", "steady": "steady_ns", "within": "within_ns"}
_NAMES_OF_SYNC = {
    **_TIMES,
    "pause": "pause_ns",
    "attempts": "attempts",
    "drift": "drift_ppt",
    "asymmetry": "asymmetry_ns",
}
_WIRE = re.compile(r"(\S+)\s+--?\s+(\S+)")


class _Once(Reading):
    """One pass over a file without sweeps: a list is allowed only where the grammar has one."""

    def choose(self, values: Sequence, path: str) -> Value | Bad:
        return self.problem(values.place, path, "one value", "a list", "an inventory has no sweeps")


class _Lab:
    """The machines while an inventory is read."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.machines: dict[str, Host | Device] = {}
        self.unread: set[str] = set()
        """Machines in the file that could not be read."""

    def end(self, text: Named, written: str, example: str) -> End | None:
        """A port of a machine, from ``written``, a part of a text; reports a mistake if there is none."""
        machine, dot, port = written.rpartition(".")
        if not dot or not machine or not port:
            ports = self.machines[written].ports if written in self.machines else {}
            hint = f"write {written}.{next(iter(ports), 'PORT')}" if ports else f"write {example}"
            self.reading.problem(text.place, text.path, "a port such as zgw6.left", written, hint)
            return None
        if machine in self.unread:
            return None
        if machine not in self.machines:
            hint = meant(machine, [*self.machines, *self.unread])
            self.reading.problem(text.place, text.path, "a host or device of the inventory", machine, hint)
            return None
        ports = self.machines[machine].ports
        if port not in ports:
            hint = near_port(port, dict(ports))
            self.reading.problem(text.place, text.path, f"a port of {machine}", port, hint)
            return None
        return End(machine, port)


def inventory(tree: Mapping, file: str) -> Inventory:
    """The inventory that a file's tree describes.

    Raises:
        ScenarioErrors: every mistake at once.
    """
    reading = _Once(file, {})
    top = INVENTORY.read(reading, tree, "")
    if isinstance(top, Bad):
        raise ScenarioErrors(reading.problems)
    lab = _Lab(reading)
    hosts = _hosts(lab, top.get("hosts", {}))
    if "hosts" in top and not top["hosts"]:
        hint = "write hosts: {zgw6: {ssh: root@zgw6, ports: {left: enp3s0}}}"
        reading.problem(top.at("hosts"), "hosts", "at least one host", "none", hint)
    devices = _devices(lab, top.get("devices", {}))
    if "hosts" in top.bad or "devices" in top.bad:
        # Some machines could not be read: wires and the map may refer to them.
        raise ScenarioErrors(reading.problems)
    wires = _wires(lab, top.get("wires", []))
    nodes, ports = _map(lab, top.get("map", {}))
    sync = {_NAMES_OF_SYNC[name]: value for name, value in top.get("sync", {}).items()}
    assert set(_NAMES_OF_SYNC.values()) == {member.name for member in members(SyncBounds)}
    if reading.problems:
        raise ScenarioErrors(reading.problems)
    return Inventory(file, hosts, devices, wires, nodes, ports, SyncBounds(**sync), Origin(file, tree))


def _hosts(lab: _Lab, written: dict[Named, Fields | Bad]) -> dict[str, Host]:
    hosts: dict[str, Host] = {}
    targets: dict[str, str] = {}
    for name, read in written.items():
        ports = _ports(lab, name, read)
        if isinstance(read, Bad) or read.bad or ports is None:
            lab.unread.add(str(name))
            continue
        target = read["ssh"]
        same = _same(target)
        if same in targets:
            hint = f"{targets[same]} has it already; one machine is one host"
            lab.reading.problem(read.at("ssh"), read.path_of("ssh"), "a machine of its own", target, hint)
        targets.setdefault(same, str(name))
        hosts[str(name)] = Host(
            name=str(name),
            ssh=target,
            ports=ports,
            talkers=tuple(dict.fromkeys(read.get("talkers", ()))),
            tuning=_tuning(lab, read),
            program=read.get("program", ""),
            clock=read.get("clock", Clock.HARDWARE),
            folder=read.get("folder", ""),
            unseen_ns=read.get("unseen", 0),
            programs={
                str(one): tuple(map(str, words))
                for one, words in read.get("programs", {}).items()
                if not isinstance(words, Bad)
            },
        )
    lab.machines |= hosts
    return hosts


def _same(target: str) -> str:
    """A destination in a normal form without its user: two hosts must not have the same one."""
    bare = target.removeprefix("ssh://").removesuffix("/").rpartition("@")[2]
    return bare.removesuffix(":22").strip("[]").lower() if target.startswith("ssh://") else bare.lower()


def _tuning(lab: _Lab, read: Fields) -> tuple[str, ...]:
    written = read.get("tuning", ())
    if not isinstance(written, Fields):
        return tuple(dict.fromkeys(written))
    words = []
    for name, value in written.items():
        try:
            words.append(setting(name, value))
        except ValueError as error:
            place, path = written.at(name), written.path_of(name)
            lab.reading.problem(place, path, f"a value for {name}", value, str(error))
    return tuple(words)


def _devices(lab: _Lab, written: dict[Named, Fields | Bad]) -> dict[str, Device]:
    devices: dict[str, Device] = {}
    targets: dict[str, str] = {}
    folder = Path(lab.reading.file).parent
    for name, read in written.items():
        if name in lab.machines or name in lab.unread:
            hint = f"{name} is a host already; give the device another name"
            lab.reading.problem(name.place, name.path, "a name of its own", f"{name} again", hint)
            continue
        ports = _ports(lab, name, read)
        if isinstance(read, Bad) or read.bad or ports is None:
            lab.unread.add(str(name))
            continue
        netconf, checklist = read.get("netconf", ""), read.get("by-hand", "")
        if bool(netconf) == bool(checklist):
            found = "both" if netconf else "neither"
            hint = f"write netconf: admin@{name}, or by-hand: {name}.txt for one without NETCONF"
            lab.reading.problem(read.place, read.path, "netconf or by-hand", found, hint)
        target = netconf.rpartition("@")[2].lower()
        if target and target in targets:
            place, path = read.at("netconf"), read.path_of("netconf")
            hint = f"{targets[target]} has it already; one machine is one device"
            lab.reading.problem(place, path, "a machine of its own", netconf, hint)
        targets.setdefault(target, str(name))
        beside = str(folder / checklist) if checklist else ""
        devices[str(name)] = Device(str(name), ports, netconf, beside)
    lab.machines |= devices
    return devices


def _ports(lab: _Lab, name: Named, read: Fields | Bad) -> dict[str, str] | None:
    """The ports of a machine; None if one of them could not be read."""
    if isinstance(read, Bad) or "ports" not in read:
        return None
    ports = {str(port): interface for port, interface in read["ports"].items()}
    if any(isinstance(interface, Bad) for interface in ports.values()):
        return None
    if not ports:
        hint = "write ports: {left: enp3s0}"
        lab.reading.problem(read.at("ports"), read.path_of("ports"), "at least one port", "none", hint)
    first: dict[str, str] = {}
    for port, interface in read["ports"].items():
        if interface in first:
            hint = f"{name}.{first[interface]} is it already"
            lab.reading.problem(port.place, port.path, "an interface of its own", interface, hint)
        first.setdefault(interface, str(port))
    return ports


def _wires(lab: _Lab, written: list[Named]) -> tuple[Wire, ...]:
    wires: list[Wire] = []
    used: dict[End, str] = {}
    for text in written:
        ends = list(_ends(lab, text))
        if len(ends) != 2:
            continue
        wire = Wire(*ends)
        if wire.a.machine == wire.b.machine:
            hint = "no link of a network leads from a node to itself; leave it out"
            lab.reading.problem(text.place, text.path, "a wire between two machines", str(wire), hint)
            continue
        for end in wire.ends:
            if end in used:
                hint = f"{used[end]} uses it already; a port has one wire"
                lab.reading.problem(text.place, text.path, "a port without a wire", str(end), hint)
            used.setdefault(end, str(wire))
        wires.append(wire)
    return tuple(wires)


def _ends(lab: _Lab, text: Named) -> Iterator[End]:
    """The ends of a wire that are in the inventory."""
    found = _WIRE.fullmatch(text)
    if found is None:
        left, _, right = text.partition("-")
        tight = "." in left and "." in right and not re.search(r"\s", text)
        hint = f"write {left} - {right}" if tight else "write zgw6.left - zgw7.right"
        lab.reading.problem(text.place, text.path, "two ports such as zgw6.left - zgw7.right", text, hint)
        return
    for written in found.groups():
        end = lab.end(text, written, "zgw6.left - zgw7.right")
        if end is not None:
            yield end


def _map(lab: _Lab, written: dict[Named, Any]) -> tuple[dict[str, str], dict[str, End]]:
    """Nodes to machines, and ports of scenarios to ports of machines."""
    nodes: dict[str, str] = {}
    ports: dict[str, End] = {}
    for key, value in written.items():
        if isinstance(value, Bad):
            continue
        name = port_name(key)
        if "->" in key:
            end = lab.end(value, value, "zgw6.left")
            if end is not None:
                ports[name] = end
        elif value in lab.machines:
            nodes[name] = str(value)
        elif value not in lab.unread:
            hint = meant(value, [*lab.machines, *lab.unread])
            place, path = value.place, value.path
            lab.reading.problem(place, path, "a host or device of the inventory", value, hint)
    _twice(lab, written, {name: End(machine, "") for name, machine in nodes.items()})
    _twice(lab, written, ports)
    return nodes, ports


def _twice(lab: _Lab, written: dict[Named, Any], found: dict[str, End]) -> None:
    """Reports ports that are mapped to twice. Nodes may share a machine, as they may be of different
    scenarios."""
    first: dict[End, str] = {}
    for key in written:
        end = found.get(port_name(key))
        if end is None or not end.port:
            continue
        if end in first and first[end].partition("->")[0] == port_name(key).partition("->")[0]:
            place, path = key.place, key.path
            lab.reading.problem(place, path, "a port of its own", str(end), f"{first[end]} is it already")
        first.setdefault(end, port_name(key))


def port_name(text: str) -> str:
    """The name of a node or port as Plans write it: ``a->b#2`` is ``a -> b #2``."""
    return (
        re.sub(r"\s*#\s*", " #", re.sub(r"\s*->\s*", " -> ", text.strip())) if "->" in text else text.strip()
    )
