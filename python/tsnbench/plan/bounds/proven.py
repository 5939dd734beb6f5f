"""Bounds beside those of an earlier Plan: of what changed, and of streams that need the analysis.

Without a margin, the proof of a schedule says the time at which each frame arrives if all goes as planned. No
bound is lower than that, so the analysis of ports by network calculus adds nothing. Such a stream keeps its
bounds if its delays are the same, and its frames fit the gates as before. All others are analysed, with a
memory.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, cast

from tsnbench.plan.bounds import Known, by_windows, finish, lowered

if TYPE_CHECKING:
    from tsnbench._native import BoundsMemory
    from tsnbench.plan.bounds.types import Bounds, FlowBounds, ProvenDelays


def without_hash(found: Bounds) -> Bounds:
    """Bounds without the hash of their Plan."""
    return {**found, "plan": None}


class Beside(NamedTuple):
    """The bounds of a Plan beside those of an earlier one."""

    bounds: Bounds
    was: list[FlowBounds]
    """Bounds of the earlier Plan that this one has not."""
    now: list[FlowBounds]
    """Bounds that the earlier one has not."""


def bounds_beside(plan: Known, known: Bounds, memory: BoundsMemory, tick: int) -> Beside | None:
    """The bounds of a Plan's flows, as ``bounds_of_read`` gives them without ``hops`` and hash.

    Args:
        plan: one without clocks, faults, filters and redundancy, which was read beside an earlier one.
        known: the bounds of that one, with the same tick of stamps; they stay as they are.
        memory: what is known from the analysis of earlier Plans. tick: of stamps at the release.

    Returns:
        None if only the analysis of everything can tell, because streams answer others.
    """
    text = plan.read.bounds_beside(memory)
    if text is None:
        return None
    made = json.loads(text)
    flows: list[FlowBounds] = [*made["flows"], *made["analysed"]]
    found = cast("Bounds", {**known, "plan": None, "flows": flows, "ports": made["ports"]})
    lowered(found, cast("ProvenDelays", made), plan.document)
    if made["windows"]:
        by_windows(found, made["windows"], plan.document)
    for flow in flows:
        finish(flow, tick)
    found["flows"] = all_flows = list(known["flows"])
    was = [all_flows.pop(place) for place in reversed(made["gone"])]
    joined = {*made["joined"]}
    for place, flow in sorted(zip(made["places"], flows, strict=True), key=itemgetter(0)):
        if place in joined:
            all_flows.insert(place, flow)
        else:
            was.append(all_flows[place])
            all_flows[place] = flow
    return Beside(found, was, flows)
