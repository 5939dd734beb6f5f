"""Faults of a run on veth interfaces: links and nodes that fail, cables that lose, delay or duplicate frames.

Effects of cables are applied on the wires: ports, their queues and captures are not affected, as in the
simulator. tc-netem(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Step
from tsnbench.backends.kernel.veth.cables import Wire, redirect
from tsnbench.linux.faults import loss, percent

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.linux.qdiscs import Options
    from tsnbench.plan.types import Fault, PlanDocument


def steps(plan: PlanDocument, wires: list[Wire], can: Capabilities) -> list[Step]:
    """The steps in the order of time; ``wires`` are those of the ports.

    A wire's state follows from all faults that are active at a moment: overlapping faults do not undo each
    other.
    """
    faults = plan.get("faults", [])
    edges = sorted({at for fault in faults for at in (fault["from_ns"], fault["until_ns"])})
    cut = [False] * len(wires)
    now = list(wires)
    found: list[Step] = []
    end = plan["duration_ns"] + plan["drain_ns"]
    for at in (edge for edge in edges if edge < end):
        lasting = [fault for fault in faults if fault["from_ns"] <= at < fault["until_ns"]]
        for number, wire in enumerate(wires):
            cuts = any(_cuts(plan, fault, number) for fault in lasting)
            if cuts != cut[number]:
                cut[number] = cuts
                # Without its filter the wire forwards no frame: frames that enter it are lost.
                line = f"filter del dev w{number} ingress" if cuts else redirect(number, wire.device, can)
                found.append(Step(at, line))
            impaired = _impaired(wire, [fault for fault in lasting if fault.get("port") == number])
            if can.wires and impaired != now[number]:
                now[number] = impaired
                found.append(Step(at, impaired.qdisc().line(wire.device, "change")))
    return found


def unsupported(plan: PlanDocument, can: Capabilities) -> Iterator[str]:
    """The parts of a Plan's faults that netem does not support."""
    faults = plan.get("faults", [])
    for number, fault in enumerate(faults):
        where = f"fault {number + 1} ({fault['kind']})"
        if fault["kind"] in ("loss", "delay", "duplicate"):
            if not can.wires:
                yield f"{where}: needs the qdisc netem"
            for other in faults[:number]:
                if (other["kind"], other.get("port")) == (fault["kind"], fault.get("port")) and _meet(
                    other, fault
                ):
                    yield f"{where}: another one of its kind at the same port and time"
        if fault["kind"] == "loss" and fault["model"]["kind"] not in ("bernoulli", "gilbert-elliott"):
            yield f"{where}: loss that depends on a frame's length"
        if fault["kind"] == "delay" and fault["share_ppm"] != 1_000_000:
            yield f"{where}: a delay of some of the frames"
        if fault["kind"] == "delay" and fault["least_ns"] != fault["most_ns"]:
            yield f"{where}: a delay that is drawn"
        if fault["kind"] == "duplicate" and fault["after_ns"]:
            yield f"{where}: a duplicate that comes later than at once"


def _meet(one: Fault, other: Fault) -> bool:
    return one["from_ns"] < other["until_ns"] and other["from_ns"] < one["until_ns"]


def _cuts(plan: PlanDocument, fault: Fault, port: int) -> bool:
    """Whether a fault cuts the link, so that no frame of the port arrives."""
    peer = plan["ports"][port]["peer"]
    if fault["kind"] == "link-down":
        return fault["port"] in (port, peer)
    nodes = (plan["ports"][port]["node"], plan["ports"][peer]["node"])
    return fault["kind"] == "node-down" and fault["node"] in nodes


def _impaired(wire: Wire, mine: list[Fault]) -> Wire:
    """A wire with all its impairments."""
    later = sum(fault["least_ns"] for fault in mine if fault["kind"] == "delay")
    return replace(
        wire,
        delay_ps=wire.delay_ps + later * 1000,
        impairments=tuple(option for fault in mine for option in _options(fault)),
    )


def _options(fault: Fault) -> Options:
    """The options of netem for a fault, without its delay."""
    if fault["kind"] == "duplicate":
        return (("duplicate", percent(fault["share_ppm"])),)
    found = loss(fault["model"]) if fault["kind"] == "loss" else None
    return (("loss", found),) if found else ()
