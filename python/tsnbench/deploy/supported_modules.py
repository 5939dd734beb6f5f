"""The part of a configuration that a device's modules can express."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from tsnbench.deploy.changes import words
from tsnbench.deploy.tree import Node, Path
from tsnbench.quantities import some
from tsnbench.yang import xml
from tsnbench.yang.ports import INGRESS_FILTERING

UNKNOWN = "unknown-element"
"""The tag of an error about an element that a device does not know (RFC 6241, appendix A)."""

MODULES = {
    xml.INTERFACES: "ietf-interfaces",
    xml.IF_TYPE: "iana-if-type",
    xml.BRIDGE: "ieee802-dot1q-bridge",
    xml.TYPES: "ieee802-dot1q-types",
    xml.SCHED: "ieee802-dot1q-sched",
    xml.SCHED_BRIDGE: "ieee802-dot1q-sched-bridge",
    xml.PREEMPTION_BRIDGE: "ieee802-dot1q-preemption-bridge",
    xml.CBSA_BRIDGE: "ieee802-dot1q-cbsa-bridge",
    xml.PSFP_BRIDGE: "ieee802-dot1q-psfp-bridge",
    xml.ATS_BRIDGE: "ieee802-dot1q-ats-bridge",
    xml.STREAM_GATES: "ieee802-dot1q-stream-filters-gates",
    xml.PSFP: "ieee802-dot1q-psfp",
    xml.STREAM_IDENTIFICATION: "ieee802-dot1cb-stream-identification",
    xml.FRER: "ieee802-dot1cb-frer",
    xml.PTP: "ieee1588-ptp-tt",
    xml.GPTP: "ieee802-dot1as-gptp",
}
"""Names of what is written; a test compares them with the published modules."""


@dataclass
class Missing:
    """Modules that a device lacks, and the configuration that needs them."""

    modules: dict[str, list[str]] = field(default_factory=dict)

    def words(self) -> list[str]:
        return [f"{name}: {some(places, 3)}" for name, places in self.modules.items()]

    def __str__(self) -> str:
        lines = [f"it lacks {len(self.modules)} of the modules that the Plan needs"]
        lines += [f"  {name}, for {some(places, 3)}" for name, places in self.modules.items()]
        return "\n".join(lines)


def restricted_to(intended: Node, has: set[str]) -> tuple[Node, Missing]:
    """The configuration without the parts of modules that a device has not announced."""
    missing = Missing()
    kept = _kept(intended, has | {xml.BASE}, (), missing)
    return kept or Node(xml.BASE, "config"), missing


OPTIONAL = frozenset({INGRESS_FILTERING})
"""Leaves that a device may lack although it has their module (a deviation, RFC 7950, 5.6.3)."""


def unknown_leaves(refusal: str) -> frozenset[str]:
    """The optional leaves that a device does not know, by its refusal of an edit."""
    return frozenset(one for one in OPTIONAL if one in refusal) if UNKNOWN in refusal else frozenset()


def without(node: Node, names: Collection[str]) -> Node:
    """The configuration without the leaves of these names."""
    children = [without(one, names) for one in node.children if one.name not in names]
    return Node(node.namespace, node.name, node.text, children, node.identity)


def _kept(node: Node, has: set[str], path: Path, missing: Missing) -> Node | None:
    place = (*path, node.step) if path or node.name != "config" else path
    if node.namespace not in has:
        missing.modules.setdefault(MODULES.get(node.namespace, node.namespace), []).append(words(place))
        return None
    children = [one for child in node.children if (one := _kept(child, has, place, missing)) is not None]
    return Node(node.namespace, node.name, node.text, children, node.identity)
