"""The promise of a scenario about its clocks against what a run shows: ``clocks: {within: 1 us}``.

Bounds that rely on the promise hold if the run kept it. If the run broke it, they say nothing of its frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench import quantities

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds, ClockPromise, FlowBounds


def promised(within_ns: int) -> str:
    """The condition of bounds that rely on the promise of the scenario."""
    return f"clocks differ by no more than {quantities.time(within_ns)}"


def broken(promise: ClockPromise | None) -> str:
    """``clocks differed by 15.8 us at 0.31 s (cam ahead of screen), promised 1 us``; empty if the promise was
    kept."""
    if promise is None or promise["kept"]:
        return ""
    apart, at = quantities.time(promise["apart_ns"]), quantities.time(promise["at_ns"])
    who = f"{promise['ahead']} ahead of {promise['behind']}"
    return f"clocks differed by {apart} at {at} ({who}), promised {quantities.time(promise['within_ns'])}"


def after_promise(bounds: Bounds, promise: ClockPromise | None) -> Bounds:
    """The bounds that hold for a run: without the condition if the run met it, and none if it broke it."""
    if promise is None:
        return bounds
    condition = f", if {promised(promise['within_ns'])}"
    why = broken(promise)
    flows = [
        _after(flow, condition, why) if condition in flow.get("source", "") else flow
        for flow in bounds["flows"]
    ]
    return {**bounds, "flows": flows}


def _after(flow: FlowBounds, condition: str, why: str) -> FlowBounds:
    if not why:
        return {**flow, "source": flow["source"].replace(condition, "")}
    if "survives" in flow:
        flow = {**flow, "survives": [{**one, "reason": why} for one in flow["survives"]]}
    return {
        **flow,
        "upper_ns": None,
        "upper_ps": None,
        "release_upper_ps": None,
        "jitter_ns": None,
        "reason": why,
        "release_reason": why,
        "loss_reason": why,
    }
