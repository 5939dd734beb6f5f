"""A network in GraphML, as yEd, NetworkX and the Internet Topology Zoo write it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import ContentError
from tsnbench.exports.lists.drawings.drawing import (
    LEAST_BPS,
    MOST_BPS,
    MOST_MM,
    Drawing,
    Link,
    Node,
)
from tsnbench.exports.scenario_text import one_line
from tsnbench.foreign import local, parse_xml

LARGEST_FILE = 1 << 24
_LABELS = ("label", "name", "hostname")
_ROLES = ("kind", "role", "type", "device", "devicetype", "nodetype")
_RATES = {
    **dict.fromkeys(("linkspeedraw", "ratebps", "bandwidthbps", "capacitybps", "speedbps"), 1),
    **dict.fromkeys(("ratekbps", "bandwidthkbps", "capacitykbps", "speedkbps"), 10**3),
    **dict.fromkeys(("ratembps", "bandwidthmbps", "capacitymbps", "speedmbps"), 10**6),
    **dict.fromkeys(("rategbps", "bandwidthgbps", "capacitygbps", "speedgbps"), 10**9),
}
"""Attributes of edges that are numbers of this many bit/s."""
_LENGTHS = {"lengthm": 1000, "distancem": 1000, "cablem": 1000, "lengthkm": 10**6, "distancekm": 10**6}
"""Attributes of edges that are numbers of this many mm."""
_TEXTS = (
    "label",
    "name",
    "rate",
    "bandwidth",
    "speed",
    "capacity",
    "datarate",
    "linklabel",
    "length",
    "cable",
)
_DEFAULTS = {*_LABELS, *_ROLES, *_RATES, *_LENGTHS, *_TEXTS}
"""Attributes whose default values are used."""
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,2})?")
_PORTS = ("sourceport", "targetport")
_SHAPES = ("Shape", "GenericNode", "SVGContent", "ImageNode")


def read(path: Path) -> Drawing:
    """The network of a file.

    Raises:
        InputError: it is no GraphML.
        OSError: it cannot be read.
    """
    root = parse_xml(path.name, foreign.read_bytes(path, LARGEST_FILE))
    if local(root.tag) != "graphml":
        raise ContentError(f"{path.name}: expected <graphml>, found <{local(root.tag)[:40]}>")
    keys = _Keys(root)
    drawing = Drawing(f"From {one_line(path.name)} in GraphML.", path.name)
    all_nodes = {key: node for element in root.iter() for key, node in _nodes(element, keys)}
    joined = 0
    linked: dict[tuple[str, str], list[Link]] = {}
    for graph in (one for one in root.iter() if local(one.tag) == "graph"):
        for edge in graph:
            if local(edge.tag) == "edge":
                joined += _edge(edge, keys, all_nodes, drawing, linked, graph.get("edgedefault", ""))
            elif local(edge.tag) == "hyperedge":
                drawing.lost.append("a hyperedge")
    for key, node in all_nodes.items():
        if key not in drawing.nodes:
            drawing.lost.append(f"a node without a link: {node.label}")
    if joined:
        drawing.decided.append(
            f"{joined} directed edges have one back; both are one link, as the first has it"
        )
    return drawing


class _Keys:
    """The names of attributes, and the values of those that a node or an edge does not have."""

    def __init__(self, root: ET.Element) -> None:
        self.names: dict[str, str] = {}
        self._defaults: dict[str, dict[str, tuple[str, ET.Element]]] = {"node": {}, "edge": {}}
        for one in (one for one in root if local(one.tag) == "key"):
            name = one.get("attr.name") or one.get("yfiles.type") or one.get("id") or ""
            plain = name.lower().replace("_", "").replace(" ", "").replace("-", "")
            self.names[one.get("id", "")] = plain
            text = next((inner.text or "" for inner in one if local(inner.tag) == "default"), "").strip()
            for kind, of_kind in self._defaults.items():
                if text and plain in _DEFAULTS and one.get("for", "all") in (kind, "all"):
                    of_kind[plain] = text, one

    def data(self, element: ET.Element) -> Iterator[tuple[str, str, ET.Element]]:
        """Name and text of each attribute of a node or an edge, and its element."""
        own = set()
        for one in element:
            if local(one.tag) == "data":
                name = self.names.get(one.get("key", ""), "")
                own.add(name)
                yield name, (one.text or "").strip(), one
        for name, (text, one) in self._defaults.get(local(element.tag), {}).items():
            if name not in own:
                yield name, text, one


def _nodes(element: ET.Element, keys: _Keys) -> Iterator[tuple[str, Node]]:
    if local(element.tag) != "node":
        return
    key = element.get("id", "")
    node = Node("")
    for name, text, data in keys.data(element):
        if name in _LABELS and text:
            node.label = node.label or text
        elif name in _ROLES:
            node.told = f"{node.told} {text}"[:200]
        for inner in data.iter():
            kind = local(inner.tag)
            if kind == "NodeLabel" and (inner.text or "").strip() and not node.label:
                node.label = (inner.text or "").strip()
            elif kind in _SHAPES:
                node.shape = f"{node.shape} {inner.get('configuration') or inner.get('type') or ''}"[:200]
    node.label = one_line(node.label or key)[:200]
    yield key, node


def _edge(
    edge: ET.Element,
    keys: _Keys,
    nodes: Mapping[str, Node],
    drawing: Drawing,
    linked: dict[tuple[str, str], list[Link]],
    usual: str,
) -> bool:
    """Adds a link. Of directed edges, a -> b and b -> a are one link; whether this is the second one."""
    ends = (edge.get("source", ""), edge.get("target", ""))
    if missing := [one for one in ends if one not in nodes]:
        drawing.lost.append(f"an edge to a node that is not there: {missing[0][:80]}")
        return False
    back = linked.get(ends[::-1], [])
    directed = edge.get("directed", "true" if usual == "directed" else "") == "true"
    if directed and back and ends[0] != ends[1]:
        back.pop()
        return True
    for key in ends:
        if key not in drawing.nodes:
            drawing.add_node(key, nodes[key])
    link = Link(ends, [text for one in _PORTS if (text := edge.get(one, "").strip())])
    for name, text, data in keys.data(edge):
        _attribute(link, name, text, drawing, nodes)
        link.texts += [
            (one.text or "").strip()
            for one in data.iter()
            if local(one.tag) == "EdgeLabel" and (one.text or "").strip()
        ]
    link.texts = list(dict.fromkeys(link.texts))
    if directed:
        linked.setdefault(ends, []).append(link)
    drawing.add_link(link)
    return False


def _attribute(link: Link, name: str, text: str, drawing: Drawing, nodes: Mapping[str, Node]) -> None:
    if not text:
        return
    if name in _RATES and (bps := _number(text, _RATES[name], LEAST_BPS, MOST_BPS)):
        link.rate_bps = bps
    elif name in _LENGTHS and (mm := _number(text, _LENGTHS[name], 0, MOST_MM)):
        link.cable_mm = mm
    elif name in _TEXTS:
        link.texts.append(text)
    elif name not in ("id", "key", "linkspeed", "linkspeedunits", "edgegraphics"):
        names = " -- ".join(nodes[one].label for one in link.ends)
        drawing.lost.append(f"{name} of the link {names}: {text[:60]}")


def _number(text: str, factor: int, least: int, most: int) -> int | None:
    if not _NUMBER.fullmatch(text):
        return None
    found = round(Fraction(text) * factor)
    return found if least <= found <= most else None
