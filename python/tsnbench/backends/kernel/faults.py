"""Faults while a Plan runs on veth interfaces: links and nodes that fail, cables that lose, delay, double.

What a cable does is done on the wires: ports, their queues and captures notice nothing, as in the simulator.
tc-netem(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tsnbench.backends.kernel.shaping import hidden_tag
from tsnbench.backends.kernel.site import Abilities
from tsnbench.backends.kernel.topology import netem, redirect
from tsnbench.backends.kernel.wire import Wire

KINDS = ("link-down", "node-down", "loss", "delay", "duplicate")
"""What this room can do; of these :func:`refused` names what it cannot."""


@dataclass(frozen=True)
class Step:
    """A line for ``tc`` in the wires' namespace, at a moment of the Plan."""

    at_ns: int
    line: str


def present(plan: dict[str, Any]) -> bool:
    """Whether there is something to do at run time."""
    return any(fault["kind"] in KINDS for fault in plan.get("faults", ()))


def text(found: list[Step]) -> str:
    """One line per step, as the program that runs them reads it."""
    return "".join(f"{step.at_ns}\t{step.line}\n" for step in found)


def steps(plan: dict[str, Any], dilate: int, can: Abilities) -> list[Step]:
    """In the order of time.

    A wire's state follows from all faults that last at a moment: two that overlap do not undo each other.
    """
    edges = sorted({at for fault in plan.get("faults", ()) for at in (fault["from_ns"], fault["until_ns"])})
    cut: dict[int, bool] = {}
    wires: dict[int, str] = {}
    found: list[Step] = []
    end = plan["duration_ns"] + plan["drain_ns"]
    for at in (edge for edge in edges if edge < end):
        lasting = [fault for fault in plan.get("faults", ()) if fault["from_ns"] <= at < fault["until_ns"]]
        for number, port in enumerate(plan["ports"]):
            now = any(_cuts(plan, fault, number) for fault in lasting)
            if now != cut.setdefault(number, False):
                cut[number] = now
                # What comes into a wire then goes nowhere.
                line = f"filter del dev w{number} ingress" if now else redirect(number, port["peer"], can)
                found.append(Step(at, line))
            if can.wires:
                wire = _wire(plan, number, lasting, dilate)
                if wire != wires.setdefault(number, _wire(plan, number, [], dilate)):
                    wires[number] = wire
                    found.append(Step(at, wire))
    return found


def refused(plan: dict[str, Any], can: Abilities, wire: Wire = Wire.VETH) -> Iterator[str]:
    """What of a Plan's faults a kernel cannot do."""
    for number, fault in enumerate(plan.get("faults", ())):
        where, kind = f"fault {number + 1} ({fault['kind']})", fault["kind"]
        if kind not in KINDS:
            yield f"{where}: of faults there are {', '.join(KINDS)}"
            continue
        if wire is Wire.TSNPORT:
            continue
        if kind in ("loss", "delay", "duplicate"):
            if not can.wires:
                yield f"{where}: needs the qdisc netem"
            for other in plan["faults"][:number]:
                if (other["kind"], other.get("port")) == (kind, fault["port"]) and _meet(other, fault):
                    yield f"{where}: another one of its kind at the same port and time"
        if kind == "loss" and fault["model"]["kind"] not in ("bernoulli", "gilbert-elliott"):
            yield f"{where}: loss that depends on a frame's length"
        if kind == "delay" and fault["share_ppm"] != 1_000_000:
            yield f"{where}: a delay of some of the frames"
        if kind == "delay" and fault["least_ns"] != fault["most_ns"]:
            yield f"{where}: a delay that is drawn"
        if kind == "duplicate" and fault["after_ns"]:
            yield f"{where}: a duplicate that comes later than at once"


def _meet(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["from_ns"] < other["until_ns"] and other["from_ns"] < one["until_ns"])


def _cuts(plan: dict[str, Any], fault: dict[str, Any], port: int) -> bool:
    """Whether nothing that the port sends arrives."""
    peer = plan["ports"][port]["peer"]
    if fault["kind"] == "link-down":
        return fault["port"] in (port, peer)
    nodes = (plan["ports"][port]["node"], plan["ports"][peer]["node"])
    return fault["kind"] == "node-down" and fault["node"] in nodes


def _wire(plan: dict[str, Any], port: int, lasting: list[dict[str, Any]], dilate: int) -> str:
    """The wire behind a port, with all that is wrong with it."""
    mine = [fault for fault in lasting if fault.get("port") == port]
    later = sum(fault["least_ns"] for fault in mine if fault["kind"] == "delay")
    longer = plan["ports"][port]["propagation_ps"] + later * 1000
    wire = netem(plan["ports"][port] | {"propagation_ps": longer}, dilate, hidden_tag(plan, port))
    options = [wire, *map(_netem, mine)]
    return " ".join(["qdisc change dev", f"w{plan['ports'][port]['peer']} root", *filter(None, options)])


def _netem(fault: dict[str, Any]) -> str:
    """Options of netem beside its delay."""
    if fault["kind"] == "duplicate":
        return f"duplicate {_percent(fault['share_ppm'])}"
    if fault["kind"] != "loss":
        return ""
    model = fault["model"]
    if model["kind"] == "bernoulli":
        return f"loss random {_percent(model['loss_ppm'])}"
    chances = (model["to_bad_ppm"], model["to_good_ppm"], model["loss_bad_ppm"], model["loss_good_ppm"])
    return "loss gemodel " + " ".join(_percent(one) for one in chances)


def _percent(ppm: int) -> str:
    return f"{ppm / 10_000:.4f}%"
