"""Maps a Plan to a lab: explicit entries first, then equal names, then by the wires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.hosts.inventory.build import port_name
from tsnbench.hosts.inventory.types import End, Inventory
from tsnbench.hosts.mapping import ports
from tsnbench.hosts.mapping.errors import MappingErrors, MappingProblem
from tsnbench.hosts.mapping.lab import Sides, count, other_end
from tsnbench.hosts.mapping.search import MOST_STEPS, Search, search
from tsnbench.scenario.text.reading import meant

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument


@dataclass(frozen=True)
class Mapped:
    """The mapping of a Plan's nodes and ports. Mappings are in the order of the Plan."""

    machines: Mapping[str, str]
    """Every node of the Plan with its host or device."""
    ends: Mapping[str, End]
    """Every port of the Plan (``camera -> s1``) with the port of its machine."""
    interfaces: Mapping[str, str]
    """Every port of the Plan with its interface, or the device's own name of the port."""
    found: tuple[str, ...] = ()
    """Nodes without a name in the lab, whose machines follow from the wires."""
    notes: tuple[str, ...] = ()
    """Notes about the choice: nodes found by the wires, other possible choices."""

    def node(self, machine: str) -> str | None:
        """The node of a machine; None if the Plan does not use it."""
        return next((node for node, name in self.machines.items() if name == machine), None)

    def ports_of(self, machine: str) -> dict[str, str]:
        """Ports of the Plan at a machine, with their interfaces."""
        return {port: self.interfaces[port] for port, end in self.ends.items() if end.machine == machine}


def map_plan(inventory: Inventory, plan_document: PlanDocument, given: Mapping[str, str]) -> Mapped:
    """Maps each node of a Plan to a machine, and each port to an interface.

    Args:
        inventory: the lab.
        plan_document: ``plan.document``.
        given: nodes with machines, and ports (``camera -> s1``) with ports of machines (``zgw6.left``), as in
            ``--map``; they come before the inventory's own ``map``.

    Raises:
        MappingErrors: the nodes, links and entries that cannot be mapped, with reasons.
    """
    sides = Sides(inventory, plan_document)
    named = _Named(sides, given)
    if named.problems:
        raise MappingErrors(named.problems)
    left = [node for node in sides.nodes.values() if node not in named.machines]
    outcome = search(sides, named.machines, left)
    if outcome.first is None:
        raise MappingErrors(_why(sides, named.machines, left, outcome))
    machines = {node: outcome.first[node] for node in sorted(outcome.first)}
    ends, problems = ports.ends(sides, machines, named.ends)
    if problems:
        raise MappingErrors(problems)
    return Mapped(
        machines={sides.name(node): machine for node, machine in machines.items()},
        ends={sides.port_name(port): end for port, end in ends.items()},
        interfaces={sides.port_name(port): inventory.interface(end) for port, end in ends.items()},
        found=tuple(sides.name(node) for node in left),
        notes=tuple(_notes(sides, machines, left, outcome)),
    )


class _Named:
    """The mapping by names: ``--map``, the inventory's map, and nodes with the names of machines."""

    def __init__(self, sides: Sides, given: Mapping[str, str]) -> None:
        self.sides = sides
        self.machines: dict[int, str] = {}
        self.ends: dict[int, tuple[End, str]] = {}
        self.where: dict[int, str] = {}
        self.problems: list[MappingProblem] = []
        for name, value in given.items():
            self._given(port_name(name), value.strip(), f"--map {name}={value}")
        inventory = sides.inventory
        for name, end in inventory.ports.items():
            port = sides.ports.get(name)
            if port is not None and port not in self.ends:
                self._port(port, end, inventory.where(f"map.{name}"))
        for name, machine in inventory.nodes.items():
            node = sides.nodes.get(name)
            if node is not None and node not in self.machines:
                self._node(node, machine, inventory.where(f"map.{name}"))
        taken = set(self.machines.values())
        for name, node in sides.nodes.items():
            if node not in self.machines and name in sides.machines and name not in taken:
                self._node(node, name, inventory.file)
        if not self.problems:
            self._links()

    def _given(self, name: str, value: str, where: str) -> None:
        sides = self.sides
        if "->" in name:
            port = sides.ports.get(name)
            end = self._end(value)
            if port is None:
                self._problem(where, "", "a port of the Plan", name, meant(name, sides.ports))
            elif end is None:
                known = [str(End(one.name, port)) for one in sides.inventory.machines() for port in one.ports]
                self._problem(where, "", "a port of the inventory", value, meant(value, known))
            else:
                self._port(port, end, where)
            return
        node = sides.nodes.get(name)
        if node is None:
            self._problem(where, "", "a node of the Plan", name, meant(name, sides.nodes))
        elif value not in sides.machines:
            hint = meant(value, sides.machines)
            self._problem(where, "", "a host or device of the inventory", value, hint)
        else:
            self._node(node, value, where)

    def _end(self, text: str) -> End | None:
        name, _, port = text.rpartition(".")
        machine = self.sides.inventory.machine(name)
        return End(name, port) if machine is not None and port in machine.ports else None

    def _node(self, node: int, machine: str, where: str) -> None:
        sides, name = self.sides, self.sides.name(node)
        unfit = sides.unfit(node, machine)
        other = next((one for one, taken in self.machines.items() if taken == machine), None)
        if self.machines.get(node, machine) != machine:
            expected = f"one machine for {name}"
            self._problem(where, f"node {name}", expected, f"{self.machines[node]} and {machine}")
        elif other is not None and other != node:
            hint = f"map {name} or {sides.name(other)} to another one; each node needs a machine of its own"
            found = f"{sides.name(other)} on it already ({self.where[other]})"
            self._problem(where, f"node {name}", f"{machine} for {name} alone", found, hint)
        elif unfit:
            self._problem(where, f"node {name}", needs(sides, node), f"{machine}, which {unfit}")
        else:
            self.machines[node], self.where[node] = machine, where

    def _port(self, port: int, end: End, where: str) -> None:
        sides = self.sides
        other = next((one for one, (taken, _) in self.ends.items() if taken == end), None)
        if other is not None and other != port:
            found = f"{sides.port_name(other)} on it already ({self.ends[other][1]})"
            self._problem(where, f"port {sides.port_name(port)}", f"{end} for it alone", found)
            return
        wire = sides.wire_at(end)
        if wire is None:
            found, hint = "none", f"connect it and write {end} - OTHER.PORT under wires:"
            self._problem(where, f"port {sides.port_name(port)}", f"a wire at {end}", found, hint)
            return
        self.ends[port] = end, where
        self._node(sides.node_of(port), end.machine, where)
        # The wire also determines the machine of the link's other end.
        self._node(sides.network.far(port), other_end(wire, end.machine)[1].machine, where)

    def _links(self) -> None:
        """Reports links between named nodes without a wire."""
        for link in self.sides.links:
            a, b = (self.sides.node_of(port) for port in (link.a, link.b))
            near, far = self.machines.get(a), self.machines.get(b)
            if near is None or far is None:
                continue
            if len(self.sides.wires[near].get(far, ())) < len(self.sides.between[a][b]):
                self.problems.append(ports.no_wire(self.sides, link, near, far))

    def _problem(self, where: str, path: str, expected: str, found: str, hint: str = "") -> None:
        self.problems.append(MappingProblem(where, path, expected, found, hint))


def needs(sides: Sides, node: int) -> str:
    """The requirements of a node on its machine."""
    kind = "a host" if node in sides.ends else "a host or device"
    return f"{kind} with {count(sides.linked(node), 'wire')}"


def _why(sides: Sides, named: Mapping[int, str], left: list[int], outcome: Search) -> list[MappingProblem]:
    """Why there is no match, with the node at which the search failed."""
    file = sides.inventory.file
    free = [machine for machine in sides.machines if machine not in set(named.values())]
    if len(free) < len(left):
        nodes = ", ".join(sides.name(node) for node in left[:12])
        found = f"{count(len(free), 'machine')} ({', '.join(free[:12])})" if free else "none"
        hint = "each node needs a machine of its own: add some to the inventory, or take a smaller scenario"
        expected = f"{count(len(left), 'machine')} for {nodes}{', …' if len(left) > 12 else ''}"
        return [MappingProblem(file, "", expected, found, hint)]
    if outcome.ended:
        nodes = ", ".join(sides.name(node) for node in left[:6])
        hint = f"name some of them: --map {sides.name(left[0])}={free[0]}"
        expected = f"a match of nodes with machines within {MOST_STEPS} trials"
        return [MappingProblem(file, "", expected, f"none yet for {nodes}", hint)]
    problems = [
        MappingProblem(
            file,
            f"node {sides.name(node)}",
            needs(sides, node),
            "none: " + "; ".join(f"{machine} {sides.unfit(node, machine)}" for machine in free[:8]),
            "add wires of the lab that the inventory does not have, or a machine",
        )
        for node in left
        if all(sides.unfit(node, machine) for machine in free)
    ]
    if problems:
        return problems
    assert outcome.stuck is not None
    return [_stuck(sides, named, outcome.stuck, outcome.partial)]


def _stuck(sides: Sides, named: Mapping[int, str], node: int, partial: Mapping[int, str]) -> MappingProblem:
    """The last dead end: which nodes have the machines, or which wire is missing."""
    of = {machine: sides.name(other) for other, machine in partial.items()}
    reasons = []
    for machine in sides.machines:
        unfit = sides.unfit(node, machine)
        neighbour = sides.torn(node, machine, partial)
        if machine in of:
            reasons.append(f"{machine} is {of[machine]}")
        elif unfit:
            reasons.append(f"{machine} {unfit}")
        elif neighbour is not None:
            lacks = f"{machine} has too few wires to {partial[neighbour]}, which is {sides.name(neighbour)}"
            reasons.append(lacks)
    links = ", ".join(sides.name(neighbour) for neighbour in sides.between[node])
    guess = {sides.name(one): machine for one, machine in partial.items() if one not in named}
    tried = ", ".join(f"{name} on {machine}" for name, machine in list(guess.items())[:8])
    after = f"; tried with {tried}" if tried else ""
    hint = "add wires that the inventory does not have, or name nodes by --map NODE=MACHINE"
    expected = f"{needs(sides, node)}, to {links}"
    found = f"none: {'; '.join(reasons[:8])}{after}"
    return MappingProblem(sides.inventory.file, f"node {sides.name(node)}", expected, found, hint)


def _notes(sides: Sides, machines: Mapping[int, str], left: list[int], outcome: Search) -> list[str]:
    notes = []
    if left:
        placed = ", ".join(f"{sides.name(node)} is {machines[node]}" for node in left[:20])
        notes.append(f"found by wires: {placed}{', …' if len(left) > 20 else ''}")
    if outcome.second is not None:
        node = next(one for one in sorted(left) if outcome.second[one] != machines[one])
        name, other = sides.name(node), outcome.second[node]
        notes.append(
            f"other machines fit, too: {name} could be {other}; the first in the order of the inventory is "
            f"taken, and --map {name}={other} takes the other"
        )
    for node, neighbours in sides.between.items():
        for neighbour, links in neighbours.items():
            wires = sides.wires[machines[node]].get(machines[neighbour], [])
            if node < neighbour and len(wires) > 1:
                notes.append(
                    f"{sides.name(node)} and {sides.name(neighbour)}: {count(len(links), 'link')} on "
                    f"{len(wires)} wires, in the order of the inventory unless ports are mapped"
                )
    return notes
