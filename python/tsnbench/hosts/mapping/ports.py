"""Maps the ports of a Plan to the wires of a lab, once every node has its machine."""

from __future__ import annotations

from collections.abc import Mapping

from tsnbench.hosts.inventory.types import End, Wire
from tsnbench.hosts.mapping.errors import MappingProblem
from tsnbench.hosts.mapping.lab import Link, Sides, count, other_end


def ends(
    sides: Sides, machines: Mapping[int, str], pinned: Mapping[int, tuple[End, str]]
) -> tuple[dict[int, End], list[MappingProblem]]:
    """The port of a machine for each port of the Plan, and the links without a wire.

    Parallel links use parallel wires in the order of the inventory, except for pinned ones.

    Args:
        sides: the Plan and the lab.
        machines: the machine of every node.
        pinned: ports that are named explicitly, with their places.
    """
    found: dict[int, End] = {}
    problems: list[MappingProblem] = []
    for node, neighbours in sides.between.items():
        for neighbour, links in neighbours.items():
            if node > neighbour:
                continue
            there = list(sides.wires[machines[node]].get(machines[neighbour], ()))
            # Pinned links come first, so that other links do not take their wires.
            for link in sorted(links, key=lambda one: one.a not in pinned and one.b not in pinned):
                wire, problem = _wire(sides, machines, pinned, link, there)
                if problem is not None:
                    problems.append(problem)
                if wire is None:
                    continue
                there.remove(wire)
                a, b = other_end(wire, machines[sides.node_of(link.a)])
                found |= {link.a: a, link.b: b}
    return dict(sorted(found.items())), problems


def _wire(
    sides: Sides,
    machines: Mapping[int, str],
    pinned: Mapping[int, tuple[End, str]],
    link: Link,
    there: list[Wire],
) -> tuple[Wire | None, MappingProblem | None]:
    """The first free wire that has the pinned ends."""
    own = [(port, *pinned[port]) for port in (link.a, link.b) if port in pinned]
    for wire in there:
        if all(end in wire.ends for _, end, _ in own):
            return wire, None
    near, far = (machines[sides.node_of(port)] for port in (link.a, link.b))
    if own:
        port, end, where = own[0]
        both = " and ".join(str(one) for _, one, _ in own)
        leads = str(sides.wire_at(end) or "no wire")
        expected = f"a wire between {near} and {far} at {both}"
        hint = f"write it under wires:, or map {sides.port_name(port)} to another port"
        return None, MappingProblem(where, f"port {sides.port_name(port)}", expected, leads, hint)
    return None, no_wire(sides, link, near, far)


def no_wire(sides: Sides, link: Link, near: str, far: str) -> MappingProblem:
    """A link between two mapped nodes without a wire."""
    a, b = sides.name(sides.node_of(link.a)), sides.name(sides.node_of(link.b))
    links = len(sides.between[sides.node_of(link.a)][sides.node_of(link.b)])
    wires = len(sides.wires[near].get(far, ()))
    hint = f"connect them and write {_free(sides, near)} - {_free(sides, far)} under wires:, or map others"
    expected = f"{count(links, 'wire')} between {near} ({a}) and {far} ({b})"
    found = count(wires, "wire") if wires else "none"
    return MappingProblem(sides.inventory.file, f"link {sides.port_name(link.a)}", expected, found, hint)


def _free(sides: Sides, machine: str) -> str:
    """A port of a machine without a wire, as wires name it."""
    used = {end for wire in sides.inventory.wires for end in wire.ends}
    one = sides.inventory.machine(machine)
    ports = one.ports if one is not None else {}
    port = next((port for port in ports if End(machine, port) not in used), "PORT")
    return f"{machine}.{port}"
