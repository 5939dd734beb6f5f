"""The longest times that frames take in the software of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import Distribution, PlanDocument


def receiving_ns(document: PlanDocument, node: int) -> int:
    """From the reception of a frame by a node's hardware to that by its program, at most, in ns."""
    host = document["nodes"][node].get("host", {})
    return sum(_most(host[stage]) for stage in ("kernel_rx", "app_rx") if stage in host)


def _most(drawn: Distribution) -> int:
    """The greatest value of a distribution in ns."""
    if drawn["kind"] == "constant":
        return drawn["ns"]
    if drawn["kind"] == "uniform":
        return drawn["to_ns"]
    last = max(ns for ns, count in zip(drawn["ns"], drawn["counts"], strict=True) if count)
    return last + drawn.get("width_ns", 0)
