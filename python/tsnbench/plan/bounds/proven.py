"""Bounds that the proof alone has, beside those of an earlier Plan, if no stream needs the analysis.

Without a margin, the proof says the time at which each frame arrives if all goes as planned. No bound is
lower than that, so the analysis of ports by network calculus adds nothing, and is left out. A flow keeps its
bounds if no port of its path has other frames or gates than before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, cast

from tsnbench.plan.bounds import Known, finish, lowered, release_tick

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds, ProvenDelays
    from tsnbench.plan.types import Stream


def proof_has_all(streams: Iterable[Stream]) -> bool:
    """Whether the proof of the schedule alone has the bounds of these streams.

    The Plan has no clocks, faults, filters and redundancy.
    """
    return all(map(_is_exact, streams))


def _is_exact(stream: Stream) -> bool:
    return (
        "scheduled" in stream
        and not stream["scheduled"].get("margin_ps")
        and "answers" not in stream
        and not stream.get("requirements", {}).get("survives")
    )


def bounds_beside(plan: Known, earlier: Known, known: Bounds, ports: AbstractSet[int]) -> Bounds | None:
    """The bounds of a Plan's flows, as ``bounds_of_read`` gives them without ``hops``.

    Args:
        plan: one with streams that :func:`proof_has_all` accepts. earlier: one that differs from it only at
            ``ports`` and in streams that pass one of them. known: its bounds, which stay as they are.
            ports: numbers.

    Returns:
        None if the stamps of all streams have another tick than before.
    """
    document, tick = plan.document, release_tick(plan.document)
    if tick != release_tick(earlier.document):
        return None
    made = json.loads(plan.read.proven_at(ports))
    found = cast("Bounds", {"format": known["format"], "plan": None, "flows": made.pop("flows"), "ports": []})
    lowered(found, cast("ProvenDelays", made), document)
    for flow in found["flows"]:
        finish(flow, tick)
    flows = {(flow["stream"], flow["listener"]): flow for flow in known["flows"]}
    flows.update(((flow["stream"], flow["listener"]), flow) for flow in found["flows"])
    nodes = document["nodes"]
    found["flows"] = [
        flows[stream["name"], nodes[listener["node"]]["name"]]
        for stream in document["streams"]
        for listener in stream["listeners"]
    ]
    return found
