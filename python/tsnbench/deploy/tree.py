"""YANG data as a tree: read from XML, and searched by keys.

RFC 7950, 7.8.5 (keys of lists), 9.10.3 (identities in XML).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from xml.parsers import expat

from tsnbench.yang import xml

KEYS = {
    "interface": ("name",),
    "bridge": ("name",),
    "component": ("name",),
    "vlan": ("vid",),
    "filtering-entry": ("database-id", "vids", "address"),
    "vlan-registration-entry": ("database-id", "vids"),
    "port-map": ("port-ref",),
    "transmission-selection-algorithm-map": ("traffic-class",),
    "queue-max-sdu-table": ("traffic-class",),
    "gate-control-entry": ("index",),
    "cbsa-parameter-table": ("traffic-class",),
    "stream-gate-instance-table": ("stream-gate-instance-id",),
    "stream-filter-instance-table": ("stream-filter-instance-id",),
    "flow-meter-instance-table": ("flow-meter-instance-id",),
    "scheduler-instance-table": ("scheduler-instance-id",),
    "scheduler-group-instance-table": ("scheduler-group-instance-id",),
    "stream-identity": ("index",),
    "sequence-generation": ("index",),
    "sequence-recovery": ("index",),
    "sequence-identification": ("port", "direction-out-facing"),
    "instance": ("instance-index",),
    "port": ("port-index",),
}
"""Lists of the modules that are written, and their keys."""
LEAF_LISTS = {"input-port", "port", "stream"}
"""Leaves of which there can be several: each is known by its value."""
MOST_ELEMENTS = 200_000
"""Elements of a device's reply."""
DEEPEST = 200
"""Levels of nesting; the modules that are written have some twenty."""
_ADDRESS = re.compile(r"[0-9A-Fa-f]{2}([-:][0-9A-Fa-f]{2}){5}")

Step = tuple[str, str, tuple[tuple[str, str], ...]]
"""One level of a path: namespace, name, and keys with their values."""
Path = tuple[Step, ...]


class UnreadableXmlError(Exception):
    """The text of a server is not XML, or not XML of the expected kind."""


@dataclass
class Node(xml.Element):
    """An element that a device has, or shall have."""

    @property
    def value(self) -> str:
        """The text in a canonical form, so that two spellings of one value are equal."""
        if self.identity is not None:
            return self.text.rpartition(":")[2]
        return self.text.upper().replace(":", "-") if _ADDRESS.fullmatch(self.text) else self.text

    @property
    def step(self) -> Step:
        own = {one.name: one.value for one in self.children if not one.children}
        keys = tuple((key, own[key]) for key in KEYS.get(self.name, ()) if key in own)
        if not self.children and self.name in LEAF_LISTS:
            keys = ((".", self.value),)
        return self.namespace, self.name, keys

    def find(self, step: Step) -> Node | None:
        return next((one for one in self.children if one.name == step[1] and one.step == step), None)

    def at(self, path: Path) -> Node | None:
        here: Node | None = self
        for step in path:
            here = here.find(step) if here else None
        return here

    def namespaces(self) -> set[str]:
        """The namespaces of this element and all below it, including those of identities."""
        found = {self.namespace} | ({self.identity} if self.identity else set())
        return found.union(*(one.namespaces() for one in self.children))

    def same(self, other: Node) -> bool:
        """Whether two leaves are equal; an identity without a prefix belongs to the leaf's module."""
        named = {self.identity, other.identity} - {None}
        return self.value == other.value and len(named) < 2

    def text_of(self) -> str:
        return "\n".join(self.lines())


def read(text: str) -> Node:
    """The root of a document.

    Raises:
        UnreadableXmlError: the text is no XML, is nested too deeply or too long, or declares entities.
    """
    root = Node("", "")
    stack, scopes, declared = [root], [dict[str, str]()], dict[str, str]()
    opened = count()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def declares(prefix: str | None, uri: str) -> None:
        declared[prefix or ""] = uri

    def opens(name: str, _attributes: dict[str, str]) -> None:
        if len(stack) > DEEPEST:
            raise UnreadableXmlError(f"it has more than {DEEPEST} levels of nesting")
        if next(opened) >= MOST_ELEMENTS:
            raise UnreadableXmlError(f"it has more than {MOST_ELEMENTS:,} elements")
        scopes.append(scopes[-1] | declared)
        declared.clear()
        namespace, _blank, local = name.rpartition(" ")
        node = Node(namespace, local)
        stack[-1].children.append(node)
        stack.append(node)

    def says(text: str) -> None:
        stack[-1].text += text

    def closes(_: str) -> None:
        node, scope = stack.pop(), scopes.pop()
        node.text = "" if node.children else node.text.strip()
        prefix, colon, _ = node.text.partition(":")
        if colon and prefix in scope:
            node.identity = scope[prefix]

    def refuse(*_: object) -> None:
        raise UnreadableXmlError("it declares a document type")

    parser.StartNamespaceDeclHandler = declares
    parser.StartElementHandler = opens
    parser.EndElementHandler = closes
    parser.CharacterDataHandler = says
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.encode("utf-8"), True)
    except UnicodeEncodeError:
        raise UnreadableXmlError("it is no text in UTF-8") from None
    except expat.ExpatError as error:
        raise UnreadableXmlError(str(error)) from None
    return root.children[0]
