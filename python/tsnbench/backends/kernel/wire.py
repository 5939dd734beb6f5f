"""What joins two ports on a kernel, and a Plan stretched in time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from enum import StrEnum
from typing import Any


class Wire(StrEnum):
    """Which interfaces stand for the Plan's ports."""

    VETH = "veth"
    """Any kernel has them: an HTB class stands for the MAC, netem for the wire (see :mod:`shaping`)."""
    TSNPORT = "tsnport"
    """The guest's own device: true rates, a PTP hardware clock per node, own gates and launch times."""


def dilated(plan: dict[str, Any], dilate: int) -> dict[str, Any]:
    """What is told to a kernel of a Plan that runs so many times slower: longer spans, lower rates."""
    plan = copy.deepcopy(plan)
    for port in plan["ports"]:
        port["rate_bps"] //= dilate
        port["propagation_ps"] *= dilate
        for own in port["classes"]:
            if "cbs" in own:
                _slower(own["cbs"]["linux"], dilate)
        for child in (port.get("qdisc") or {}).get("children", ()):
            if child["kind"] == "cbs":
                _slower(child, dilate)
            if "delta_ns" in child:
                child["delta_ns"] *= dilate
    for gates in _lists(plan):
        for name in ("base_time_ns", "cycle_ns", "cycle_extension_ns", "txtime_delay_ns", "at_ns"):
            if name in gates:
                gates[name] *= dilate
        for entry in gates["entries"]:
            entry["interval_ns"] *= dilate
    for node in plan.get("policing", ()):
        for meter in node.get("meters", ()):
            meter["cir_bps"] //= dilate
            meter["eir_bps"] //= dilate
    return plan


def _lists(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Whatever has a base time and entries."""
    for port in plan["ports"]:
        if gates := port.get("gates"):
            yield gates
            yield from gates.get("changes", ())
        if taprio := (port.get("qdisc") or {}).get("taprio"):
            yield taprio
    for node in plan.get("policing", ()):
        yield from node.get("gates", ())


def _slower(slopes: dict[str, Any], dilate: int) -> None:
    for name in ("idleslope", "sendslope"):
        # Towards zero, and never to it.
        slopes[name] = int(slopes[name] / dilate) or (1 if slopes[name] > 0 else -1)
