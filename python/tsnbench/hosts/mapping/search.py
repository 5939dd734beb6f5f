"""Finds machines for unnamed nodes: the Plan's links are matched against the lab's wires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tsnbench.hosts.mapping.lab import Sides

MOST_STEPS = 200_000
"""Number of trials after which a search ends; a lab of 20 machines whose wires fit needs some hundred."""


@dataclass
class Search:
    """The outcome of a search.

    ``first``: the first match, in the order of the inventory; None if there is none.
    """

    first: dict[int, str] | None = None
    second: dict[int, str] | None = None
    ended: bool = False
    """Whether the search took too long: then there may be more matches."""
    stuck: int | None = None
    """Without a match: the node at which the longest partial match ended."""
    partial: dict[int, str] = field(default_factory=dict)
    """That partial match."""


def search(sides: Sides, placed: Mapping[int, str], free: list[int]) -> Search:
    """Places nodes on machines that no other node has.

    Args:
        sides: the Plan and the lab.
        placed: nodes that already have machines.
        free: the nodes that are left.
    """
    outcome = Search()
    order = list(_order(sides, placed, free))
    if not order:
        outcome.first = dict(placed)
        return outcome
    fitting = {
        node: [machine for machine in sides.machines if not sides.unfit(node, machine)] for node in order
    }
    here = dict(placed)
    taken = set(here.values())
    # There is one iterator per level instead of a recursion, whose depth is limited.
    levels: list[Iterator[str]] = [iter(fitting[order[0]])]
    steps = 0
    while levels:
        node = order[len(levels) - 1]
        if node in here:
            taken.discard(here.pop(node))
        machine = next(levels[-1], None)
        if machine is None:
            levels.pop()
            continue
        steps += 1
        if steps > MOST_STEPS:
            outcome.ended = True
            break
        if machine in taken or sides.torn(node, machine, here) is not None:
            if outcome.stuck is None or len(here) > len(outcome.partial):
                outcome.stuck, outcome.partial = node, dict(here)
            continue
        here[node] = machine
        taken.add(machine)
        if len(levels) < len(order):
            levels.append(iter(fitting[order[len(levels)]]))
        elif outcome.first is None:
            outcome.first = dict(here)
        else:
            outcome.second = dict(here)
            break
    return outcome


def _order(sides: Sides, placed: Mapping[int, str], free: list[int]) -> Iterator[int]:
    """Nodes beside placed ones come first, so that each trial is checked against as many wires as possible.

    Of several, the one with most links to placed ones comes first, then the one with most links, then the
    first in the Plan.
    """
    known = set(placed)
    left = list(free)
    while left:
        node = min(
            left,
            key=lambda one: (
                -sum(neighbour in known for neighbour in sides.between[one]),
                -sides.linked(one),
                one,
            ),
        )
        left.remove(node)
        known.add(node)
        yield node
