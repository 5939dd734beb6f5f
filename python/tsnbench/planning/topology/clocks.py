"""Clocks of all nodes, and the tree along which gPTP forwards time, in the form of ``crates/plan``.

Every node that can be reached from the grandmaster over nodes that forward follows it, by the fewest hops. Of
several such paths, it takes the one whose nodes the scenario names first. An elected grandmaster also elects
the paths.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft
from tsnbench.planning.parts import without_none
from tsnbench.planning.topology.ptp import clock_faults, gptp_document
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Clocks, NodeClock


def clocks_document(draft: Draft) -> Clocks | None:
    """The clocks; None if the scenario has none: then all nodes have the same exact time."""
    clocks = draft.scenario.clocks
    if clocks is None:
        return None
    nodes = [_clock(draft, node.name, clocks.own.get(node.name, clocks.default)) for node in draft.nodes]
    return without_none(
        {
            "nodes": nodes,
            "record_ns": clocks.record,
            "within_ns": clocks.within,
            "gptp": None if clocks.gptp is None else gptp_document(draft, clocks.gptp),
            "faults": clock_faults(draft, clocks) or None,
        }
    )


def _clock(draft: Draft, name: str, clock: model.Clock) -> NodeClock:
    drift = clock.drift
    if clock.drift_within:
        drift = _drawn(f"{draft.scenario.seed}/clock/{name}/drift", clock.drift_within)
    wander = clock.wander
    device = draft.scenario.network.nodes[name].device
    stamps = model.Stamps() if device is None else device.timestamps
    return without_none(
        {
            "offset_ns": clock.offset,
            "deviation_ppt": drift,
            "granularity_ns": _own(clock, "granularity", stamps.granularity),
            "jitter_ns": _own(clock, "jitter", stamps.jitter),
            "changes": [{"at_ns": it.at, "deviation_ppt": it.drift} for it in clock.changes] or None,
            "wander": wander and {"most_ppt": wander.step, "every_ns": wander.every},
        }
    )


def _own(clock: model.Clock, key: str, device: int | None) -> int:
    """A value of the scenario's clock; where it does not say, that of the node's hardware."""
    value: int = getattr(clock, key)
    return value if device is None or key in clock.model_fields_set else device


def _drawn(address: str, within: int) -> int:
    """Uniform between minus and plus ``within``; it depends on the address alone."""
    digest = int.from_bytes(hashlib.sha256(address.encode()).digest()[:8], "big")
    return digest * (2 * within + 1) // (1 << 64) - within
