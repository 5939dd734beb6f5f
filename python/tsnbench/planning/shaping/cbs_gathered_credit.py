"""The highest credit that a class gathers with gates, so that none of it is cut off.

A frame that does not fit into the rest of a window waits while credit rises. EnGINE eq. 5 and 6, which do not
consider gates, give a ``hiCredit`` that cuts this credit off, and the class then passes less than it
reserved. IEEE 802.1Q-2022, 8.6.8.2 and 8.6.8.4; ``docs/concepts/bounds.md`` derives the gathered credit.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.plan.gates import gate_lists
from tsnbench.planning.shaping.cbs_given import differing

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument
    from tsnbench.planning.draft import Port

_MOST = 1 << 40
"""bit; a ``hiCredit`` that cuts off nothing."""


def gather_credit(document: PlanDocument, ports: Sequence[Port]) -> None:
    """Raises ``hi_credit_bits`` of shapers with gates to the gathered credit, if that is known.

    A given one stays, and is compared with the gathered credit.

    Args:
        document: a Plan's document, otherwise finished.
        ports: the draft's ports.
    """
    shapers = list(_gated(document))
    if not shapers:
        return
    every = dict.fromkeys(shapers, 0)
    lists = max(len(gate_lists(document["ports"][number]["gates"])) for number, _ in shapers)
    for place in range(lists):
        asked = _undisturbed(document, shapers, place)
        try:
            found = json.loads(_native.bounds(json.dumps(asked), False))
        except ValueError:
            # The Plan contradicts itself; its check reports the place.
            return
        most = {
            (port["port"], one["class"]): one["credit_bits"]
            for port in found["ports"]
            for one in port["classes"]
            if "credit_bits" in one
        }
        for number, traffic_class in shapers:
            gathered = most.get((document["ports"][number]["name"], traffic_class), 0)
            every[number, traffic_class] = max(every[number, traffic_class], gathered)
    for (number, traffic_class), gathered in every.items():
        shaper = document["ports"][number]["classes"][traffic_class]["cbs"]
        own = ports[number].gated_cbs[traffic_class]
        if own.given.hi_credit is None:
            shaper["hi_credit_bits"] = max(shaper["hi_credit_bits"], gathered)
        elif differs := differing(own, gathered):
            shaper["follows"] = differs
        else:
            shaper.pop("follows", None)


def _gated(document: PlanDocument) -> Iterator[tuple[int, int]]:
    """Port and class of every shaper with gates whose credit is frozen while they are closed.

    A class that is always open waits for those above it, whose frames arrive together when their gate opens.
    """
    for number, port in enumerate(document["ports"]):
        if "gates" not in port:
            continue
        for traffic_class, settings in enumerate(port["classes"]):
            if "cbs" not in settings or "runs_while_closed" in settings["cbs"]:
                continue
            yield number, traffic_class


def _undisturbed(document: PlanDocument, shapers: list[tuple[int, int]], place: int) -> PlanDocument:
    """The Plan with every port's ``place``-th list from the start, without limits of credit and without
    faults.

    Base times stay: when the frames of higher classes arrive depends on the gates before.
    """
    made = copy.deepcopy(document)
    made.pop("clocks", None)
    made.pop("faults", None)
    for node in made["nodes"]:
        node.pop("host", None)
    for port in made["ports"]:
        if "gates" not in port:
            continue
        lists = gate_lists(port["gates"])
        one = lists[min(place, len(lists) - 1)]
        port["gates"] = {
            "base_time_ns": one["base_time_ns"],
            "cycle_ns": one["cycle_ns"],
            "entries": one["entries"],
        }
        if "at_ns" not in one:
            continue
        for slope in one.get("idle_slopes", []):
            shaper = port["classes"][slope["class"]]["cbs"]
            shaper["send_slope_bps"] += slope["bps"] - shaper["idle_slope_bps"]
            shaper["idle_slope_bps"] = slope["bps"]
    for number, traffic_class in shapers:
        made["ports"][number]["classes"][traffic_class]["cbs"]["hi_credit_bits"] = _MOST
    return made
