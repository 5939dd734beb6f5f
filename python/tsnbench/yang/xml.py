"""XML of YANG data: a namespace where it changes, identities with exactly the requested prefix.

Some modules compare identities with a literal prefix, so a prefix is no matter of taste.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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


@dataclass
class Element:
    """One element: a leaf with text, or a container."""

    name: str
    text: str | None = None
    children: list[Element] = field(default_factory=list)
    namespace: str | None = None
    prefix: tuple[str, str] | None = None
    """A prefix and its namespace, for the identity in the text."""

    def leaf(self, name: str, value: object, namespace: str | None = None) -> Element:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        self.children.append(Element(name, text, namespace=namespace))
        return self

    def identity(self, name: str, prefix: str, namespace: str, value: str) -> Element:
        self.children.append(Element(name, f"{prefix}:{value}", prefix=(prefix, namespace)))
        return self

    def empty(self, name: str) -> Element:
        self.children.append(Element(name))
        return self

    def add(self, name: str, namespace: str | None = None) -> Element:
        """A new container or list entry; returns it."""
        child = Element(name, namespace=namespace)
        self.children.append(child)
        return child

    def lines(self, indent: int = 0) -> Iterator[str]:
        space = "  " * indent
        head = self.name
        if self.namespace is not None:
            head += f" xmlns={quoteattr(self.namespace)}"
        if self.prefix is not None:
            head += f" xmlns:{self.prefix[0]}={quoteattr(self.prefix[1])}"
        if self.text is not None:
            yield f"{space}<{head}>{escape(self.text)}</{self.name}>"
        elif not self.children:
            yield f"{space}<{head}/>"
        else:
            yield f"{space}<{head}>"
            for child in self.children:
                yield from child.lines(indent + 1)
            yield f"{space}</{self.name}>"

    def document(self) -> str:
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *self.lines()]) + "\n"


def address(mac: str) -> str:
    """A MAC address as 802's modules spell it: upper case, with dashes."""
    return mac.replace(":", "-").upper()
