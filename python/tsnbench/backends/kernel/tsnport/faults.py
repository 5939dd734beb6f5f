"""Faults for the guest's own device: it gets them before the run, so that no moment is missed.

It draws as the simulator draws: if the same frames pass in the same order, the same ones are lost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Write
from tsnbench.backends.kernel.shell import Shell, on_wall

if TYPE_CHECKING:
    from tsnbench.plan.types import Fault, LossModel, PlanDocument

MOST = 64
"""Most lines of a port."""
_AFTER_NS = 1_000_000_000
"""A time after the end of the run, at which faults without an end are ended."""


def fnv1a(name: str) -> int:
    """The number of a random stream: FNV-1a of its name, 64 bits."""
    found = 0xCBF29CE484222325
    for octet in name.encode():
        found = (found ^ octet) * 0x100000001B3 % (1 << 64)
    return found


def writes(plan: PlanDocument, dilation: int) -> Iterator[Write]:
    """Lines for the device, each for one port."""
    end = plan["duration_ns"] + plan["drain_ns"] + _AFTER_NS * dilation
    places: Counter[tuple[int, str]] = Counter()
    for number, fault in enumerate(plan.get("faults", ())):
        first, last = (on_wall(min(at, end)) for at in (fault["from_ns"], fault["until_ns"]))
        for port, kind, words in _commands(plan, fault, dilation):
            stream = 0
            if kind not in ("cut", "down"):
                what = {"delay": "delay/", "double": "duplicate/"}.get(kind, "")
                stream = fnv1a(f"fault/{plan['ports'][port]['name']}/{what}{places[port, what]}")
                places[port, what] += 1
            line = " ".join(map(str, [number, kind, first, last, plan["seed"], stream, *words]))
            yield Write(Shell(f'"{line}"'), f"p{port}/faults", f"faults of port {port}")


def unsupported(plan: PlanDocument) -> Iterator[str]:
    """The faults that exceed the device's limits."""
    count = Counter(
        port for fault in plan.get("faults", ()) for port, _, _ in _commands(plan, fault, dilation=1)
    )
    for port, lines in count.items():
        if lines > MOST:
            name = plan["ports"][port]["name"]
            yield f"port {name}: {lines} faults (a port of the device has {MOST} at most)"


def _commands(plan: PlanDocument, fault: Fault, dilation: int) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Port, command of the device, and its numbers (see ``impairment.c``)."""
    if fault["kind"] == "node-down":
        for number, port in enumerate(plan["ports"]):
            if port["node"] == fault["node"]:
                yield number, "down", ()
                yield port["peer"], "cut", ()
    elif fault["kind"] == "link-down":
        yield fault["port"], "cut", ()
        yield plan["ports"][fault["port"]]["peer"], "cut", ()
    elif fault["kind"] == "loss":
        yield fault["port"], *_loss(fault["model"])
    elif fault["kind"] == "delay":
        # The device needs the values without dilation: it draws as the simulator does, and then dilates the
        # result.
        least, most = fault["least_ns"] // dilation, fault["most_ns"] // dilation
        order = int(fault["keeps_order"])
        yield fault["port"], "delay", (least, max(0, most - least), fault["share_ppm"], order, dilation)
    elif fault["kind"] == "duplicate":
        yield fault["port"], "double", (fault["share_ppm"], fault["after_ns"])


def _loss(model: LossModel) -> tuple[str, tuple[int, ...]]:
    if model["kind"] == "bernoulli":
        return "loss", (model["loss_ppm"],)
    if model["kind"] == "bit-errors":
        spared = (
            math.exp(8 * math.log1p(-model["per_petabit"] / 1e15)) if model["per_petabit"] < 10**15 else 0
        )
        return "bits", (min(int(spared * 2**64), 2**64 - 1),)
    chances = (model["to_bad_ppm"], model["to_good_ppm"], model["loss_good_ppm"], model["loss_bad_ppm"])
    return "bursts", chances
