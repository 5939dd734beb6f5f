"""Member streams of a scheduled stream: the paths by which a frame can arrive, one by one, also after merge
points.

IEEE 802.1CB-2017, 7. A frame continues by the path that is first; so the times of all paths are planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.plan.frames import R_TAG
from tsnbench.planning.draft import Flow, Hop

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import TreeEntry


@dataclass(frozen=True)
class Copies:
    """A tree with one path to every entry. ``entries``: the entry of the route for each of its entries."""

    tree: list[Hop]
    entries: list[int]

    more_octets: list[int]
    """Octets of a tag, by entry of the tree."""

    circle: list[int]
    """Entries of the route that the tree lacks: they begin at merge points that wait for each other."""

    @property
    def most(self) -> int:
        """The greatest number of paths that reach an entry of the route; at least 2."""
        return max(2, *(self.entries.count(entry) for entry in set(self.entries)))


def expanded(flow: Flow) -> Copies:
    """The route as a tree; after a merge point of n paths, each entry occurs n times, in their order."""
    sources = {merge["from"][0]: merge["from"] for merge in flow.redundancy.get("merges", ())}
    places: dict[int, list[int]] = {}
    made = Copies([], [], [], [])
    waiting = list(range(len(flow.route)))
    while waiting:
        later = []
        for entry in waiting:
            parent = flow.route[entry].parent
            before = [] if parent is None else sources.get(parent, [parent])
            if not all(each in places for each in before):
                later.append(entry)
                continue
            parents: list[int | None] = [place for each in before for place in places[each]] or [None]
            places[entry] = list(range(len(made.tree), len(made.tree) + len(parents)))
            for place in parents:
                made.tree.append(Hop(flow.route[entry].port, place))
                made.entries.append(entry)
                made.more_octets.append(R_TAG if flow.copy(entry) else 0)
        if len(later) == len(waiting):
            made.circle.extend(entry for entry in waiting if flow.route[entry].parent in sources)
            break
        waiting = later
    return made


def by_route_entry(flow: Flow, starts_ps: Sequence[int]) -> list[list[int]]:
    """Times by entry of the tree as times by entry of the route."""
    times: list[list[int]] = [[] for _ in flow.route]
    for entry, start in zip(expanded(flow).entries, starts_ps, strict=True):
        times[entry].append(start)
    return times


def tree_of(hops: Iterable[tuple[int, int | None]]) -> list[TreeEntry]:
    """Hops in the form of ``crates/schedule``."""
    return [{"link": port} if parent is None else {"link": port, "parent": parent} for port, parent in hops]


def entries_of(tree: Sequence[TreeEntry | int]) -> list[TreeEntry]:
    """A path of a problem; the entries of a chain of links get their parents."""
    numbers = (None, *range(len(tree)))
    return [
        one if isinstance(one, dict) else tree_of([(one, parent)])[0]
        for one, parent in zip(tree, numbers, strict=False)
    ]
