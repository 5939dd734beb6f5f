"""Bounds beside those of an earlier Plan: of what changed, and of streams that need the analysis.

Without a margin, the proof of a schedule says the time at which each frame arrives if all goes as planned. No
bound is lower than that, so the analysis of ports by network calculus adds nothing. Such a stream keeps its
bounds if no port of its path has other frames or gates than before. All others are analysed, with a memory.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, cast

from tsnbench.plan.bounds import Known, finish, lowered, release_tick, with_windows

if TYPE_CHECKING:
    from tsnbench._native import BoundsMemory
    from tsnbench.plan.bounds.types import Bounds, FlowBounds, ProvenDelays


def bounds_beside(
    plan: Known, known: Bounds, ports: AbstractSet[int], left: Collection[str], memory: BoundsMemory
) -> Bounds | None:
    """The bounds of a Plan's flows, as ``bounds_of_read`` gives them without ``hops``.

    Args:
        plan: one without clocks, faults, filters and redundancy. known: the bounds of an earlier Plan, with
            the same tick of stamps, that differs from it only at ``ports`` and in streams that pass one of
            them; they stay as they are. ports: numbers.
        left: scenario streams of the earlier Plan that left, or were replaced. All others have their order,
            and those that joined follow them.
        memory: what is known from the analysis of earlier Plans.

    Returns:
        None if only the analysis of everything can tell, because streams answer others.
    """
    document, tick = plan.document, release_tick(plan.document)
    text = plan.read.bounds_beside(ports, memory)
    if text is None:
        return None
    made = json.loads(text)
    flows: list[FlowBounds] = [*made["flows"], *made["analysed"]]
    found = cast("Bounds", {**known, "plan": None, "flows": flows, "ports": made["ports"]})
    lowered(found, cast("ProvenDelays", made), document)
    if made["analysed"]:
        with_windows(found, plan)
    for flow in flows:
        finish(flow, tick)
    own = {(flow["stream"], flow["listener"]): flow for flow in flows}
    changed = {flow["stream"] for flow in flows}
    stay = [flow for flow in known["flows"] if flow["group"] not in left]
    found["flows"] = [
        own.pop((flow["stream"], flow["listener"])) if flow["stream"] in changed else flow for flow in stay
    ]
    nodes = document["nodes"]
    groups = {flow["group"] for flow in own.values()}
    found["flows"] += [
        own[stream["name"], nodes[listener["node"]]["name"]]
        for stream in document["streams"]
        if stream["group"] in groups
        for listener in stream["listeners"]
    ]
    return found
