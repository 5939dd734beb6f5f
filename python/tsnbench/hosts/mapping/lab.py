"""A Plan and a lab together: the requirements of each node, and the ports and wires of each machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench.hosts.inventory.types import End, Inventory, Wire
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument


@dataclass(frozen=True)
class Link:
    """A link of the Plan, by the ports at its ends."""

    a: int
    b: int


class Sides:
    """Look-ups in both; no decisions are made here."""

    def __init__(self, inventory: Inventory, document: PlanDocument) -> None:
        self.inventory = inventory
        self.network = Network(document)
        self.machines = [machine.name for machine in inventory.machines()]

    @cached_property
    def nodes(self) -> dict[str, int]:
        """Indices of nodes, by name."""
        return {node["name"]: place for place, node in enumerate(self.network.nodes)}

    @cached_property
    def ports(self) -> dict[str, int]:
        """Indices of ports, by name."""
        return {port["name"]: place for place, port in enumerate(self.network.ports)}

    def name(self, node: int) -> str:
        return self.network.nodes[node]["name"]

    def port_name(self, port: int) -> str:
        return self.network.ports[port]["name"]

    def node_of(self, port: int) -> int:
        return self.network.ports[port]["node"]

    @cached_property
    def ends(self) -> set[int]:
        """Nodes at which a stream begins or ends: programs run there, so they must be hosts. No program of a
        bridge receives."""
        streams = self.network.streams
        heard = {listener["node"] for one in streams for listener in one["listeners"]}
        return {one["talker"] for one in streams} | {node for node in heard if self.network.talks(node)}

    @cached_property
    def links(self) -> list[Link]:
        return [Link(a, b) for a, b in self.network.links()]

    @cached_property
    def between(self) -> dict[int, dict[int, list[Link]]]:
        """The links from each node to each neighbour, in the order of the Plan."""
        found: dict[int, dict[int, list[Link]]] = {node: {} for node in range(len(self.network.nodes))}
        for link in self.links:
            for port, far in ((link.a, link.b), (link.b, link.a)):
                found[self.node_of(port)].setdefault(self.node_of(far), []).append(link)
        return found

    @cached_property
    def wires(self) -> dict[str, dict[str, list[Wire]]]:
        """The wires from each machine to each other, in the order of the inventory."""
        found: dict[str, dict[str, list[Wire]]] = {machine: {} for machine in self.machines}
        for wire in self.inventory.wires:
            for near, far in (wire.ends, wire.ends[::-1]):
                found[near.machine].setdefault(far.machine, []).append(wire)
        return found

    def wire_at(self, end: End) -> Wire | None:
        """The wire at a port."""
        return next((wire for wire in self.inventory.wires if end in wire.ends), None)

    def wired(self, machine: str) -> int:
        """Number of wires of a machine."""
        return sum(map(len, self.wires[machine].values()))

    def linked(self, node: int) -> int:
        """Number of links of a node."""
        return len(self.network.ports_of(node))

    def unfit(self, node: int, machine: str) -> str:
        """Why a machine cannot be a node, whatever the others are; empty if it can."""
        if node in self.ends and machine in self.inventory.devices:
            return "is a device, and programs that talk and listen need a host"
        if self.wired(machine) < self.linked(node):
            return f"has {count(self.wired(machine), 'wire')} of {count(self.linked(node), 'link')}"
        return ""

    def torn(self, node: int, machine: str, placed: Mapping[int, str]) -> int | None:
        """A neighbour with a machine to which this machine has fewer wires than the node has links."""
        for neighbour, links in self.between[node].items():
            other = placed.get(neighbour)
            if other is not None and len(self.wires[machine].get(other, ())) < len(links):
                return neighbour
        return None


def count(number: int, noun: str) -> str:
    """``1 wire``, ``2 wires``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def other_end(wire: Wire, machine: str) -> tuple[End, End]:
    """The ends of a wire, that of a machine first."""
    return wire.ends if wire.a.machine == machine else (wire.b, wire.a)
