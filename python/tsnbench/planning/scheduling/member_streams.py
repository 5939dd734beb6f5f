"""Copies of a scheduled stream: the paths that a frame can come by, one by one, also where they have met.

IEEE 802.1CB-2017, 7. A frame goes on by whichever path is first; so the times of all of them are planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.plan.frames import R_TAG
from tsnbench.planning.draft import Flow, Hop

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import TreeEntry


@dataclass(frozen=True)
class Copies:
    """A tree with one path to every entry. ``entries``: which entry of the route each one is."""

    tree: list[Hop]
    entries: list[int]

    more_octets: list[int]
    """What a tag adds, by entry of the tree."""

    @property
    def most(self) -> int:
        """By how many paths an entry of the route is reached at most; at least 2."""
        return max(2, *(self.entries.count(entry) for entry in set(self.entries)))


def expanded(flow: Flow) -> Copies:
    """The route as a tree; behind a place where n paths meet, each entry comes n times, in their order."""
    sources = {merge["from"][0]: merge["from"] for merge in flow.redundancy.get("merges", ())}
    places: dict[int, list[int]] = {}
    made = Copies([], [], [])
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
            break
        waiting = later
    return made


def gathered(flow: Flow, starts_ps: Sequence[int]) -> list[list[int]]:
    """Times by entry of the tree as times by entry of the route."""
    times: list[list[int]] = [[] for _ in flow.route]
    for entry, start in zip(expanded(flow).entries, starts_ps, strict=True):
        times[entry].append(start)
    return times


def tree_of(hops: Sequence[Hop]) -> list[TreeEntry]:
    """Hops in the words of ``crates/schedule``."""
    entries: list[TreeEntry] = []
    for hop in hops:
        entries.append({"link": hop.port})
        if hop.parent is not None:
            entries[-1]["parent"] = hop.parent
    return entries
