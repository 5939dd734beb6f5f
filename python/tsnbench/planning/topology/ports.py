"""Nodes, and two ports per link; with all settings of the scenario for a port.

Nearer selectors override others, key by key: a port over a node, this over ``bridges``, this over ``*``.
Of equally near ones the later holds.
"""

from __future__ import annotations

from collections import Counter

from tsnbench.planning.draft import Draft, Port
from tsnbench.planning.select import select
from tsnbench.planning.selectors import by_nearness
from tsnbench.planning.topology.bridging import planned_node
from tsnbench.scenario import model
from tsnbench.scenario.part import Part, Values
from tsnbench.scenario.units import RATE, propagation_ps

RATES = (10**6, 10**12)
"""The highest rate of a Plan, bit/s."""


def name_ports(draft: Draft) -> None:
    """Fills ``nodes`` and ``ports``; parallel links are numbered from 1 in the order of the scenario."""
    network = draft.scenario.network
    draft.nodes = [planned_node(draft, name, node) for name, node in network.nodes.items()]
    numbers = draft.node_numbers
    total: Counter[frozenset[str]] = Counter(frozenset((link.a, link.b)) for link in network.links)
    seen: Counter[frozenset[str]] = Counter()
    for place, link in enumerate(network.links):
        unknown = [name for name in (link.a, link.b) if name not in numbers]
        if unknown or link.a == link.b:
            found = f"no node {unknown[0]!r}" if unknown else f"twice {link.a!r}"
            draft.problem(f"network.links[{place}]", "two different nodes", found)
            continue
        pair = frozenset((link.a, link.b))
        seen[pair] += 1
        copy = seen[pair]
        suffix = f" #{copy}" if total[pair] > 1 else ""
        back_rate = link.rate if link.back_rate is None else link.back_rate
        back_cable = link.cable if link.back_cable is None else link.back_cable
        for a, b, rate, cable in (
            (link.a, link.b, link.rate, link.cable),
            (link.b, link.a, back_rate, back_cable),
        ):
            number = len(draft.ports)
            draft.ports.append(
                Port(
                    number=number,
                    name=f"{a} -> {b}{suffix}",
                    node=numbers[a],
                    to=numbers[b],
                    copy=copy,
                    peer=number ^ 1,
                    rate_bps=rate,
                    propagation_ps=propagation_ps(cable),
                )
            )


def shape_ports(draft: Draft) -> None:
    """Gives every port the settings of its selectors, and its real rate."""
    queues = [_set_fields(draft.scenario.network.queues) for _ in draft.ports]
    shapers: list[Values] = [{} for _ in draft.ports]
    for text, shaper in by_nearness(draft.scenario.shapers):
        for port in select(draft, text, f"shapers.{text}"):
            given = {key: value for key, value in _set_fields(shaper).items() if value is not None}
            own = given.pop("queues", None)
            if own is not None:
                queues[port.number] |= _set_fields(own)
            shapers[port.number] |= given
    low, high = RATES
    for port in draft.ports:
        port.shaper = model.Shaper(queues=model.Queues(**queues[port.number]), **shapers[port.number])
        port.rate_bps = port.rate_bps if port.shaper.real_rate is None else port.shaper.real_rate
        if not low <= port.rate_bps <= high:
            draft.problem(f"{port.name}: rate", "1 Mbit/s to 1 Tbit/s", RATE.text(port.rate_bps))


def _set_fields(part: Part) -> Values:
    """The written fields without their defaults; parts stay parts."""
    return {name: getattr(part, name) for name in sorted(part.model_fields_set)}
