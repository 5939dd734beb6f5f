"""A topology of containerlab (``*.clab.yml``): its nodes and links, and the lab that its containers are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench import foreign
from tsnbench.errors import ContentError
from tsnbench.exports.lists.drawings.drawing import BRIDGES, Drawing, Link, Node
from tsnbench.exports.scenario_text import flow, one_line
from tsnbench.foreign import Part, mapping_of, parse_yaml, shown

LARGEST_FILE = 1 << 20
_CONTAINERS = ("linux", "")
_BRIDGES = ("bridge", "ovs-bridge")
_OUTSIDE = ("host", "mgmt-net", "macvlan", "dummy", "vxlan", "vxlan-stitch")
"""Endpoints and types of links that lead out of the lab."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,63}")
_PORT = re.compile(r"[A-Za-z0-9_+-]{1,15}")


@dataclass(frozen=True)
class Topology:
    """A topology as a drawing, and the inventory of its lab."""

    drawing: Drawing
    lab: str
    """The YAML of the inventory; empty where the nodes are no hosts of tsnbench."""


def read(path: Path) -> Topology:
    """The network of a file.

    Raises:
        InputError: it is no topology of containerlab.
        OSError: it cannot be read.
    """
    text = foreign.read_text(path, LARGEST_FILE)
    if "{{" in text:
        raise ContentError(f"{path.name}: expected a topology, found a template that is not filled in")
    top = parse_yaml(path.name, text)
    topology = mapping_of(top.get("topology"))
    nodes = {str(name): mapping_of(one) for name, one in mapping_of(topology.get("nodes")).items()}
    if not nodes:
        raise ContentError(f"{path.name}: expected topology.nodes of containerlab, found none")
    drawing = Drawing(f"From the topology {one_line(path.name)} of containerlab.", path.name)
    kinds = {name: _kind(topology, own) for name, own in nodes.items()}
    for name, kind in kinds.items():
        drawing.add_node(name, Node(name, _told(name, kind)))
    wires = list(_links(topology.get("links"), nodes, drawing))
    for one, other in wires:
        ports = [f"{name}:{port}" for name, port in (one, other)]
        drawing.decided.append(f"ports of {one[0]} -- {other[0]}: {', '.join(ports)}")
        drawing.add_link(Link((one[0], other[0])))
    return Topology(drawing, _lab(path.name, top, kinds, wires, drawing))


def _kind(topology: Part, own: Part) -> str:
    """The kind of a node: its own, that of its group, or the default."""
    group = mapping_of(mapping_of(topology.get("groups")).get(str(own.get("group", ""))))
    parts = (own, group, mapping_of(topology.get("defaults")))
    return next((str(one["kind"]) for one in parts if isinstance(one.get("kind"), str)), "")


def _told(name: str, kind: str) -> str:
    if kind in _BRIDGES:
        return "bridge"
    if kind in _CONTAINERS:
        return "" if BRIDGES.search(name.lower()) else "host"
    return f"{kind} switch"


def _links(
    written: Any, nodes: dict[str, Part], drawing: Drawing
) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Node and interface of both ends of each link; an interface has one link."""
    used: dict[tuple[str, str], int] = {}
    for number, one in enumerate(written if isinstance(written, list) else [], 1):
        link = mapping_of(one)
        kind = link.get("type", "veth")
        several = link.get("endpoints")
        ends = [_end(end) for end in (several if isinstance(several, list) else [])]
        known = [end for end in ends if end is not None and end[0] in nodes]
        if kind not in ("veth", "veth-stitch") or len(known) != 2 or len(ends) != 2:
            what = " -- ".join(":".join(end) for end in ends if end) or shown(kind)
            outside = kind in _OUTSIDE or any(end and end[0] in _OUTSIDE for end in ends)
            drawing.lost.append(f"link {number}{' out of the lab' if outside else ''}: {what[:80]}")
            continue
        if taken := next((end for end in known if used.setdefault(end, number) != number), None):
            what = f"{':'.join(taken)} is in link {used[taken]} already"
            drawing.lost.append(f"link {number}: {what[:80]}")
            continue
        drawing.lost += [f"{key} of link {number}" for key in link if key not in ("type", "endpoints")]
        yield known[0], known[1]


def _end(written: Any) -> tuple[str, str] | None:
    """Node and interface, as ``node:eth1`` or as a mapping."""
    if isinstance(written, str) and ":" in written:
        node, _, port = written.partition(":")
        return node, port
    part = mapping_of(written)
    if isinstance(part.get("node"), str) and isinstance(part.get("interface"), str):
        return part["node"], part["interface"]
    return None


def _lab(
    file: str,
    top: Part,
    kinds: dict[str, str],
    wires: list[tuple[tuple[str, str], tuple[str, str]]],
    drawing: Drawing,
) -> str:
    """The inventory: each container is a network namespace of this machine, which containerlab names."""
    used = {name for wire in wires for name, _ in wire}
    others = [name for name in used if kinds[name] not in _CONTAINERS]
    odd = [name for name in used if not _NAME.fullmatch(name)]
    odd += [port for wire in wires for _, port in wire if not _PORT.fullmatch(port)]
    if others or odd or not wires:
        if others:
            few = ", ".join(f"{name} ({kinds[name]})" for name in sorted(others)[:4])
            drawing.lost.append(f"a lab of hosts: nodes that are no Linux containers: {few}")
        return ""
    prefix, name = top.get("prefix", "clab"), shown(top.get("name", "lab"))
    begin = {"": "", "__lab-name": f"{name}-"}.get(shown(prefix), f"{shown(prefix)}-{name}-")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{0,120}", begin):
        return ""
    ports: dict[str, dict[str, object]] = {}
    for wire in wires:
        for node, port in wire:
            ports.setdefault(node, {})[port] = port
    return "\n".join(
        [
            f"# The containers of {one_line(file)}, as containerlab names them; for root on their machine.",
            "hosts:",
            *(
                f"  {node}: {flow({'ssh': f'netns://{begin}{node}', 'ports': flow(own)})}"
                for node, own in ports.items()
            ),
            "wires:",
            *(f"  - {one[0]}.{one[1]} - {other[0]}.{other[1]}" for one, other in wires),
            "",
        ]
    )
