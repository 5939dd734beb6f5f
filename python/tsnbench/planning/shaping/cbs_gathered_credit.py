"""The highest credit that a class gathers beside gates and unshaped classes, so that none of it is cut off.

A frame waits while credit rises: where it does not fit into the rest of a window, and while frames of higher
classes without a shaper leave, such as PTP's. EnGINE eq. 5 and 6 consider neither: their ``hiCredit`` cuts
this credit off, and the class then passes less than it reserves. IEEE 802.1Q-2022, 8.6.8.2 and 8.6.8.4;
``docs/concepts/bounds.md`` derives the gathered credit.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.plan.gates import gate_lists
from tsnbench.plan.streams.ptp_traffic import pcp_of
from tsnbench.planning.shaping.cbs_given import differing

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds
    from tsnbench.plan.types import PlanDocument
    from tsnbench.planning.draft import Port

_MOST = 1 << 40
"""bit; a ``hiCredit`` that cuts off nothing."""
Shaper = tuple[int, int]
"""Port and class."""


def gather_credit(document: PlanDocument, ports: Sequence[Port]) -> None:
    """Raises ``hi_credit_bits`` of shapers to the gathered credit, if that is known.

    This concerns shapers with gates, and those below a class without a shaper. A given ``hi_credit_bits``
    stays; beside gates it is compared with the gathered credit.

    Args:
        document: a Plan's document, otherwise finished.
        ports: the draft's ports.
    """
    shapers = list(_disturbed(document))
    if not shapers:
        return
    every = dict.fromkeys(shapers, 0)
    lists = max(len(gate_lists(port["gates"])) if "gates" in port else 1 for port in document["ports"])
    # Where clocks or software leave a bound open, the credit without them is the best that is known.
    plainly = (
        [False, True] if "clocks" in document or any("host" in one for one in document["nodes"]) else [True]
    )
    for place, plain in product(range(lists), plainly):
        asked = _undisturbed(document, shapers, place, plain)
        try:
            found = json.loads(_native.bounds(json.dumps(asked), False))
        except ValueError:
            # The Plan contradicts itself, which its check reports; or a port needs its node's clock or host.
            continue
        for one, gathered in _gathered(document, found):
            if one in every:
                every[one] = max(every[one], gathered)
    for (number, traffic_class), gathered in every.items():
        shaper = document["ports"][number]["classes"][traffic_class]["cbs"]
        own = ports[number].gated_cbs[traffic_class]
        gated = "gates" in document["ports"][number]
        if own.given.hi_credit is None:
            shaper["hi_credit_bits"] = max(shaper["hi_credit_bits"], gathered)
            if not gated:
                # Linux's shaper ignores gates, but not the frames of other classes.
                shaper["linux"]["hicredit"] = max(shaper["linux"]["hicredit"], -(-gathered // 8))
        elif not gated:
            continue
        elif differs := differing(own, gathered):
            shaper["follows"] = differs
        else:
            shaper.pop("follows", None)


def _disturbed(document: PlanDocument) -> Iterator[Shaper]:
    """The shapers with gates whose credit is frozen while they are closed, and those that may be below the
    frames of an unshaped class.

    A class that is always open waits for those above it, whose frames arrive together when their gate opens.
    """
    pcps = {stream["pcp"] for stream in document["streams"]} | {pcp_of(document) or 0}
    for number, port in enumerate(document["ports"]):
        shaped = {place for place, settings in enumerate(port["classes"]) if "cbs" in settings}
        used = (
            range(len(port["classes"]))
            if "policing" in document
            else [port["pcp_to_class"][pcp] for pcp in pcps]
        )
        highest = max((one for one in used if one not in shaped), default=-1)
        for traffic_class in sorted(shaped):
            if "runs_while_closed" in port["classes"][traffic_class]["cbs"]:
                continue
            if "gates" in port or traffic_class < highest:
                yield number, traffic_class


def _gathered(document: PlanDocument, found: Bounds) -> Iterator[tuple[Shaper, int]]:
    """The credit of the shapers with gates, and of those below traffic of an unshaped class."""
    numbers = {port["name"]: number for number, port in enumerate(document["ports"])}
    for one in found["ports"]:
        port = document["ports"][numbers[one["port"]]]
        unshaped = max(
            (own["class"] for own in one["classes"] if "cbs" not in port["classes"][own["class"]]), default=-1
        )
        for own in one["classes"]:
            if "credit_bits" in own and ("gates" in port or own["class"] < unshaped):
                yield (numbers[one["port"]], own["class"]), own["credit_bits"]


def _undisturbed(document: PlanDocument, shapers: Sequence[Shaper], place: int, plain: bool) -> PlanDocument:
    """The Plan with every port's ``place``-th list from the start, without limits of credit and without
    faults; if it is ``plain``, without clocks and software of hosts.

    Base times stay: when the frames of higher classes arrive depends on the gates before.
    """
    made = copy.deepcopy(document)
    made.pop("faults", None)
    if plain:
        made.pop("clocks", None)
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
