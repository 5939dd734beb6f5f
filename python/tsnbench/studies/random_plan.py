"""Whether a Plan's simulation depends on its seed.

The answer may be yes where no draw is made in the end; it is never no where one is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CERTAIN_FAULTS = {"link-down", "node-down"}
"""Faults without any chance."""


def what_varies(document: Mapping[str, Any]) -> list[str]:
    """Reasons why two seeds can give different results; empty where they cannot."""
    found = []
    for stream in document["streams"]:
        pattern, size = stream["pattern"], stream["size"]
        if pattern["kind"] == "poisson":
            found.append(f"{stream['name']} is a Poisson process")
        if pattern.get("jitter_ns"):
            found.append(f"releases of {stream['name']} have jitter")
        if size["kind"] == "units" and len(set(size["octets"])) > 1:
            found.append(f"sizes of {stream['name']} are drawn")
    if any(node.get("further") for node in document["nodes"]):
        found.append("processing times of nodes are drawn")
    if document.get("clocks"):
        found.append("nodes have clocks")
    if document.get("hosts") or any(node.get("host") for node in document["nodes"]):
        found.append("hosts have software that takes time")
    for fault in document.get("faults") or []:
        if fault["kind"] not in CERTAIN_FAULTS:
            found.append(f"a fault of the kind {fault['kind']}")
    return found
