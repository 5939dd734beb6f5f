"""The ports that a stream's frames pass, from the talker to a listener."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.plan.frames import tag_octets_of

if TYPE_CHECKING:
    from tsnbench.plan.types import Redundancy, Route, Stream


def path_to(stream: Stream, listener: int) -> tuple[int, ...]:
    """The ports from the talker to the listener with this place in the stream's ``listeners``."""
    return ports_to(stream, stream["listeners"][listener]["route"])


def ports_to(stream: Stream, entry: int) -> tuple[int, ...]:
    """The ports from the talker to the end of one entry of the stream's ``route``."""
    route = stream["route"]
    found: list[int] = []
    place: int | None = entry
    while place is not None and len(found) <= len(route):
        hop = route[place]
        found.append(hop["port"])
        place = hop.get("parent")
    found.reverse()
    return tuple(found)


def parents_of(stream: Stream) -> list[int | None]:
    """The previous entry of each entry of the stream's ``route``; None at the talker."""
    return [hop.get("parent") for hop in stream["route"]]


def entries_to(parents: Sequence[int | None], entry: int) -> tuple[int, ...]:
    """The entries of a tree from its root to one entry; ``parents``: the previous entry of each entry."""
    found: list[int] = []
    place: int | None = entry
    while place is not None and len(found) <= len(parents):
        found.append(place)
        place = parents[place]
    return tuple(reversed(found))


def paths_to(stream: Stream, listener: int) -> list[list[tuple[int, int]]]:
    """Every path to the listener: (port, octets that an R-TAG adds there)."""
    redundancy = stream.get("redundancy")
    return paths_to_entry(stream["route"], redundancy or {}, stream["listeners"][listener]["route"])


def paths_to_entry(route: Sequence[Route], redundancy: Redundancy, place: int) -> list[list[tuple[int, int]]]:
    """Every path that ends with this entry of a stream's ``route``."""
    merges = [merge["from"] for merge in redundancy.get("merges", ())]
    if not merges:
        # Almost all streams have one path.
        parents = [hop.get("parent") for hop in route]
        passed = entries_to(parents, place)
        return [[(route[at]["port"], tag_octets_of(redundancy, at) if redundancy else 0) for at in passed]]

    def back(place: int | None, passed: frozenset[int]) -> list[list[tuple[int, int]]]:
        if place is None:
            return [[]]
        together = next((ends for ends in merges if place in ends), [place])
        found: list[list[tuple[int, int]]] = []
        # Merging paths can form a circle, in which no entry comes first. So no entry is passed twice.
        for end in together if not passed & set(together) else ():
            hop = route[end]
            here = (hop["port"], tag_octets_of(redundancy, end))
            found += [[*before, here] for before in back(hop.get("parent"), passed | set(together))]
        return found

    return back(place, frozenset())
