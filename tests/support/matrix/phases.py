"""Adversarial phases: the same scenario with other offsets, other draws and other clocks.

Number 0 is the scenario as it is written. Number 1 releases all streams at once. In every other one all
frames meet at a port: each stream is released so that its frame reaches the port at one instant if it waits
nowhere, and one stream a little later. Clocks drift by the most that the scenario allows, each in one of both
directions.
"""

from __future__ import annotations

import random
import re
from copy import deepcopy
from typing import Any

from tsnbench.plan.bounds.types import Bounds
from tsnbench.plan.types import PlanDocument

PERIOD = re.compile(r"(\d+) (us|ms)")


def phase(scenario: dict[str, Any], number: int, document: PlanDocument, found: Bounds) -> dict[str, Any]:
    """A scenario in one of its phases.

    Args:
        scenario: as it is written. number: of the phase. document, found: its Plan and its bounds.
    """
    whole = deepcopy(scenario)
    whole["seed"] = number + 1
    if number == 0:
        return whole
    draw = random.Random(f"{scenario['name']} {number}")
    moved = {name for name, one in whole["streams"].items() if "period" in one and "scheduled" not in one}
    offsets = dict.fromkeys(moved, 0) if number == 1 else _meeting(draw, document, found)
    for name in sorted(moved):
        period = _period(whole["streams"][name]["period"])
        whole["streams"][name]["offset"] = f"{offsets.get(name, draw.randrange(period)) % period} ns"
    _drift(whole, draw, document)
    return whole


def _period(text: str) -> int:
    ((number, unit),) = PERIOD.findall(text)
    return int(number) * {"us": 1_000, "ms": 1_000_000}[unit]


def _meeting(draw: random.Random, document: PlanDocument, found: Bounds) -> dict[str, int]:
    """Offsets in ns with which frames of all streams reach a port at one instant, and one a little later."""
    port = draw.choice(sorted({hop["port"] for flow in found["flows"] for hop in flow["hops"]}))
    ports = {one["name"]: one for one in document["ports"]}
    takes: dict[str, int] = {}
    for flow in found["flows"]:
        before_ps = 0
        for hop in flow["hops"]:
            if hop["port"] == port:
                takes[flow["group"]] = before_ps // 1_000
                break
            next_node = document["ports"][ports[hop["port"]]["peer"]]["node"]
            before_ps += hop["lower_ps"] + document["nodes"][next_node]["processing_ns"] * 1_000
    last, after = draw.choice(sorted(takes)), draw.choice([1, 500, 20_000])
    latest = max(takes.values())
    return {name: latest - took + after * (name == last) for name, took in takes.items()}


def _drift(whole: dict[str, Any], draw: random.Random, document: PlanDocument) -> None:
    clocks = whole.get("clocks", {})
    within = clocks.get("default", {}).pop("drift-within", None)
    if within is None:
        return
    number, _, unit = within.partition(" ")
    for node in document["nodes"]:
        clocks[node["name"]] = {"drift": f"{draw.choice([-1, 1]) * int(number)} {unit}"}
