"""The fewest links that leave every demand a path, by branch and bound.

A link costs once, however many demands and units of flow take it. The lower bound shares its cost: a unit on
a link that does not fail pays the share of one unit, and a demand leaves to the next ones what it does not
need to pay (the dual of its flow).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from heapq import heappop, heappush

from tsnbench.planning.routing.survivable.flow import Demand, Flow

PRICE = 60
"""Of a link: divided by 1 to 5 units of flow without a rest."""
MOST_STEPS = 1_000
"""After so many steps the best solution is taken, although fewer links might do."""


@dataclass(frozen=True)
class _Found:
    """A relaxation: its bound in links times :data:`PRICE`, its links, and the price of each that the flows
    pay."""

    bound: int
    links: frozenset[int]
    paid: dict[int, int]


def fewest_links(demands: list[Demand]) -> frozenset[int]:
    """Links that leave each demand a path. No cut prevents a demand."""
    none: frozenset[int] = frozenset()
    root = _relaxed(demands, none, none)
    assert root is not None
    best = _trimmed(demands, root.links)
    left: list[tuple[int, int, frozenset[int], frozenset[int], _Found]] = []
    heappush(left, (root.bound, 0, none, none, root))
    steps = 0
    while left and steps < MOST_STEPS:
        bound, _, taken, without, found = heappop(left)
        if bound > (len(best) - 1) * PRICE:
            break
        # If each link were paid in full, the bound would be the number of links.
        link = min(found.links - taken, key=lambda link: (found.paid[link], link))
        for more, fewer in ((taken | {link}, without), (taken, without | {link})):
            steps += 1
            child = _relaxed(demands, more, fewer)
            if child is None:
                continue
            if len(child.links) < len(best):
                best = _trimmed(demands, child.links)
            if child.bound <= (len(best) - 1) * PRICE:
                heappush(left, (child.bound, steps, more, fewer, child))
    return best


def routed(demands: list[Demand], links: Set[int]) -> list[Flow]:
    """A flow for each demand over these links alone, with the fewest hops."""
    others = set(range(len(demands[0].links))) - links
    flows = []
    for demand in demands:
        flow = demand.cheapest([int(arc.link is not None) for arc in demand.arcs], others)
        assert flow is not None  # these links leave each demand a path
        flows.append(flow)
    return flows


def _relaxed(demands: list[Demand], taken: frozenset[int], without: frozenset[int]) -> _Found | None:
    """The lower bound if some links are ``taken`` and others are not; None if there is no solution."""
    rest = [0 if link in taken else PRICE for link in range(len(demands[0].links))]
    paid: dict[int, int] = dict.fromkeys(taken, PRICE)
    for demand in demands:
        shares = [1 if arc.part is not None else demand.units for arc in demand.arcs]
        costs = [
            0 if arc.link is None else rest[arc.link] // share
            for arc, share in zip(demand.arcs, shares, strict=True)
        ]
        flow = demand.cheapest(costs, without)
        if flow is None:
            return None
        for arc, share, cost, units in zip(demand.arcs, shares, costs, flow.units, strict=True):
            if arc.link is not None:
                needed = flow.potentials[arc.end] - flow.potentials[arc.begin]
                rest[arc.link] -= share * min(max(needed, 0), cost)
                if units:
                    paid[arc.link] = paid.get(arc.link, 0) + units * cost
    return _Found(sum(paid.values()), frozenset(paid), paid)


def _trimmed(demands: list[Demand], links: frozenset[int]) -> frozenset[int]:
    """Without links that no demand needs, one after the other."""
    every = set(range(len(demands[0].links)))
    for link in sorted(links):
        others = every - links | {link}
        if all(demand.cut(others) is None for demand in demands):
            links -= {link}
    return links
