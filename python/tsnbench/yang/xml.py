"""XML of YANG data: a namespace where it changes, identities with the prefixes that servers compare.

Some modules compare identities with a literal prefix, so prefixes are fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self
from xml.sax.saxutils import escape, quoteattr

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
INTERFACES = "urn:ietf:params:xml:ns:yang:ietf-interfaces"
IF_TYPE = "urn:ietf:params:xml:ns:yang:iana-if-type"
_Q = "urn:ieee:std:802.1Q:yang:ieee802-dot1q-"
BRIDGE = f"{_Q}bridge"
TYPES = f"{_Q}types"
SCHED = f"{_Q}sched"
SCHED_BRIDGE = f"{_Q}sched-bridge"
PREEMPTION_BRIDGE = f"{_Q}preemption-bridge"
CBSA_BRIDGE = f"{_Q}cbsa-bridge"
PSFP_BRIDGE = f"{_Q}psfp-bridge"
ATS_BRIDGE = f"{_Q}ats-bridge"
STREAM_GATES = f"{_Q}stream-filters-gates"
PSFP = f"{_Q}psfp"
STREAM_IDENTIFICATION = "urn:ieee:std:802.1Q:yang:ieee802-dot1cb-stream-identification"
FRER = "urn:ieee:std:802.1Q:yang:ieee802-dot1cb-frer"
PTP = "urn:ieee:std:1588:yang:ieee1588-ptp-tt"
GPTP = "urn:ieee:std:802.1AS:yang:ieee802-dot1as-gptp"


PREFIXES = {
    SCHED: "sched",
    PSFP: "psfp",
    BRIDGE: "dot1q",
    TYPES: "dot1q-types",
    IF_TYPE: "ianaift",
}
"""Prefixes that some servers compare literally."""


@dataclass
class Element:
    """A container, an entry of a list, or a leaf."""

    namespace: str
    name: str
    text: str = ""
    children: list[Self] = field(default_factory=list)
    identity: str | None = None
    """The namespace of the identity in the text."""

    def leaf(self, name: str, value: object, namespace: str = "") -> Self:
        """Adds a leaf; its namespace is by default that of this element."""
        self.add(name, namespace).text = str(value).lower() if isinstance(value, bool) else str(value)
        return self

    def leaf_identity(self, name: str, identity: str, value: str) -> Self:
        """Adds a leaf whose value is an identity of the namespace ``identity``."""
        leaf = self.add(name)
        leaf.text, leaf.identity = value, identity
        return self

    def empty(self, name: str) -> Self:
        """Adds an element without content."""
        self.add(name)
        return self

    def add(self, name: str, namespace: str = "") -> Self:
        """A new container or list entry; returns it."""
        child = type(self)(namespace or self.namespace, name)
        self.children.append(child)
        return child

    def lines(self, outer: str = "", operation: str | None = None, indent: int = 0) -> Iterator[str]:
        """The element as XML, line by line.

        Args:
            outer: the namespace around the element.
            operation: the operation of NETCONF on it.
            indent: levels of indentation.
        """
        space, head, text = "  " * indent, self.name, self.text
        if self.namespace != outer:
            head += f" xmlns={quoteattr(self.namespace)}"
        if operation:
            head += f' xmlns:nc="{BASE}" nc:operation="{operation}"'
        if self.identity:
            written, _, value = text.rpartition(":")
            prefix = PREFIXES.get(self.identity) or written or "i"
            if self.identity == self.namespace and self.identity not in PREFIXES:
                # RFC 7950, 9.10.3: without a prefix, an identity is of the module of the leaf.
                text = value
            else:
                head += f" xmlns:{prefix}={quoteattr(self.identity)}"
                text = f"{prefix}:{value}"
        if not self.children:
            yield f"{space}<{head}>{escape(text)}</{self.name}>" if text else f"{space}<{head}/>"
            return
        yield f"{space}<{head}>"
        for child in self.children:
            yield from child.lines(self.namespace, indent=indent + 1)
        yield f"{space}</{self.name}>"

    def document(self) -> str:
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *self.lines()]) + "\n"


def address(mac: str) -> str:
    """A MAC address as 802's modules spell it: upper case, with dashes."""
    return mac.replace(":", "-").upper()
