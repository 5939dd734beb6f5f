"""A Plan dilated in time for a kernel: longer spans, lower rates."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

from tsnbench.plan.gates import gate_lists

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import CbsChildQdisc, CbsLinux, GateCycle, PlanDocument, Policing, Port


def dilated(plan: PlanDocument, dilation: int) -> PlanDocument:
    """The network of a Plan that runs slower by ``dilation``: its ports, filters, faults and duration.

    Streams and clocks are unchanged: talkers read the Plan itself, and clocks cannot be dilated.
    """
    slower = copy.deepcopy(plan)
    slower["duration_ns"] *= dilation
    slower["drain_ns"] *= dilation
    for port in slower["ports"]:
        _port(port, dilation)
    for policing in slower.get("policing", ()):
        _policing(policing, dilation)
    for fault in slower.get("faults", ()):
        _scale(cast("Json", fault), dilation)
    return slower


def _port(port: Port, dilation: int) -> None:
    port["rate_bps"] //= dilation
    port["propagation_ps"] *= dilation
    for own in port["classes"]:
        if "cbs" in own:
            cbs = own["cbs"]
            drain = (cbs["idle_slope_bps"] - cbs["send_slope_bps"]) // dilation
            cbs["idle_slope_bps"] //= dilation
            cbs["send_slope_bps"] = cbs["idle_slope_bps"] - drain
            _slopes(own["cbs"]["linux"], dilation)
    if gates := port.get("gates"):
        for one in gate_lists(gates):
            _entries(one, dilation)
            if "cycle_extension_ns" in one:
                one["cycle_extension_ns"] *= dilation
        for change in gates.get("changes", ()):
            change["at_ns"] *= dilation
    if qdisc := port.get("qdisc"):
        for child in qdisc["children"]:
            if child["kind"] == "cbs":
                _slopes(child, dilation)
            _scale(cast("Json", child), dilation)
        if taprio := qdisc.get("taprio"):
            _entries(taprio, dilation)
            if "txtime_delay_ns" in taprio:
                taprio["txtime_delay_ns"] *= dilation


def _policing(policing: Policing, dilation: int) -> None:
    for gate in policing.get("gates", ()):
        gate["base_time_ns"] *= dilation
        gate["cycle_ns"] *= dilation
        for entry in gate["entries"]:
            entry["interval_ns"] *= dilation
    for meter in policing.get("meters", ()):
        meter["cir_bps"] //= dilation
        meter["eir_bps"] //= dilation


def _scale(values: Json, dilation: int) -> None:
    """Every duration, instant and rate of an object, by the units in their names."""
    for key in values:
        if key.endswith("_ns"):
            values[key] *= dilation
        elif key.endswith("_bps"):
            values[key] //= dilation


def _entries(gates: GateCycle, dilation: int) -> None:
    gates["base_time_ns"] *= dilation
    gates["cycle_ns"] *= dilation
    for entry in gates["entries"]:
        entry["interval_ns"] *= dilation


def _slopes(slopes: CbsLinux | CbsChildQdisc, dilation: int) -> None:
    """Rounds towards zero, but not to zero."""
    slopes["idleslope"] = int(slopes["idleslope"] / dilation) or (1 if slopes["idleslope"] > 0 else -1)
    slopes["sendslope"] = int(slopes["sendslope"] / dilation) or (1 if slopes["sendslope"] > 0 else -1)
