"""Faults as the guest's own device is told them: beforehand, so that no moment is missed.

It draws as the simulator draws: where the same frames pass in the same order, the same ones are lost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

KINDS = ("link-down", "node-down", "loss", "delay", "duplicate")
"""What the device does. Babbling is a talker's, wrong gates are a queueing discipline's."""
MOST = 64
"""Lines that a port takes."""
_AFTER_NS = 1_000_000_000
"""Longer than the run; what lasts for ever ends then."""


def fnv1a(name: str) -> int:
    """The number of a random stream: FNV-1a of its name, 64 bits."""
    found = 0xCBF29CE484222325
    for octet in name.encode():
        found = (found ^ octet) * 0x100000001B3 % (1 << 64)
    return found


def lines(plan: dict[str, Any], dilate: int) -> Iterator[tuple[int, str]]:
    """Port, and what is written to its file ``faults``; ``WALL+n`` stands for a moment of the Plan, in ns."""
    end = plan["duration_ns"] + plan["drain_ns"] + _AFTER_NS
    places: dict[tuple[int, str], int] = {}
    for number, fault in enumerate(plan.get("faults", ())):
        first, last = (min(fault[key], end) * dilate for key in ("from_ns", "until_ns"))
        for port, kind, words in _meant(plan, fault, dilate):
            stream = 0
            if kind not in ("cut", "down"):
                what = {"delay": "delay/", "double": "duplicate/"}.get(kind, "")
                place = places.get((port, what), 0)
                places[port, what] = place + 1
                stream = fnv1a(f"fault/{plan['ports'][port]['name']}/{what}{place}")
            told = [number, kind, f"WALL+{first}", f"WALL+{last}", plan["seed"], stream, *words]
            yield port, " ".join(map(str, told))


def refused(plan: dict[str, Any]) -> Iterator[str]:
    """What is too much for the device."""
    told = Counter(port for port, _ in lines(plan, 1))
    for port, count in told.items():
        if count > MOST:
            name = plan["ports"][port]["name"]
            yield f"port {name}: {count} faults (a port of the device has {MOST} at most)"


def _meant(
    plan: dict[str, Any], fault: dict[str, Any], dilate: int
) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Port, the device's word, and its numbers (see ``harm.c``)."""
    kind = fault["kind"]
    if kind == "node-down":
        for number, port in enumerate(plan["ports"]):
            if port["node"] == fault["node"]:
                yield number, "down", ()
                yield port["peer"], "cut", ()
    elif kind == "link-down":
        yield fault["port"], "cut", ()
        yield plan["ports"][fault["port"]]["peer"], "cut", ()
    elif kind == "loss":
        yield fault["port"], *_loss(fault["model"])
    elif kind == "delay":
        more, order = fault["most_ns"] - fault["least_ns"], int(fault["keeps_order"])
        yield fault["port"], "delay", (fault["least_ns"], max(0, more), fault["share_ppm"], order, dilate)
    elif kind == "duplicate":
        yield fault["port"], "double", (fault["share_ppm"], fault["after_ns"] * dilate)


def _loss(model: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    if model["kind"] == "bernoulli":
        return "loss", (model["loss_ppm"],)
    if model["kind"] == "bit-errors":
        spared = (
            math.exp(8 * math.log1p(-model["per_petabit"] / 1e15)) if model["per_petabit"] < 10**15 else 0
        )
        return "bits", (min(int(spared * 2**64), 2**64 - 1),)
    names = ("to_bad_ppm", "to_good_ppm", "loss_good_ppm", "loss_bad_ppm")
    return "bursts", tuple(model[name] for name in names)


def struck(plan: dict[str, Any], said: dict[int, str]) -> tuple[list[int], dict[int, int]]:
    """From each port's file: in the way of how many frames each fault was; frames that each port lost."""
    faults, lost = [0] * len(plan.get("faults", ())), {}
    for port, text in said.items():
        first, *rest = text.splitlines() or ["0"]
        lost[port] = int(first)
        for line in rest:
            number, frames = map(int, line.split())
            faults[number] += frames
    return faults, lost
