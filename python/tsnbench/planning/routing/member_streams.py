"""The route of a stream with member streams: they split wherever paths part, and merge wherever paths meet.

IEEE 802.1CB-2017, 7.4 and Annex C (ladder redundancy).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from tsnbench.planning.draft import Draft, Hop

Key = tuple[int | None, tuple[int, ...]]
"""The last merge point (None: the talker), and the ports passed since."""


@dataclass
class MergedRoute:
    """A route with its merge points. ``copies``: 0 for frames without a tag."""

    route: list[Hop] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    merges: list[list[int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """The last entry of each listener."""


def meetings(draft: Draft, paths: Sequence[Sequence[Sequence[int]]], at: Sequence[int]) -> list[int] | None:
    """The merge points of the paths to each listener; None if paths have none.

    Without ``at``: for every listener the first node from which all of its paths are equal.
    """
    found = list(dict.fromkeys(at))
    for own in paths:
        after = shared([path[::-1] for path in own])
        ends = [draft.ports[own[0][-1 - count]].to for count in range(after + 1) if count < len(own[0])]
        if len(own) > 1 and not set(ends) & set(found):
            if at and not _join(draft, own, at):
                return None
            found.append(ends[-1])
    return list(dict.fromkeys(found))


def shared(paths: Iterable[Sequence[int]]) -> int:
    """The number of ports with which all paths begin."""
    return sum(1 for _ in takewhile(lambda ports: len(set(ports)) == 1, zip(*paths, strict=False)))


def _join(draft: Draft, paths: Sequence[Sequence[int]], at: Sequence[int]) -> bool:
    """Whether these paths merge at some of the nodes."""
    passed = [{draft.ports[port].to for port in path} & set(at) for path in paths]
    return all(passed)


def split_and_merge(
    draft: Draft, paths: Sequence[Sequence[Sequence[int]]], nodes: Sequence[int]
) -> MergedRoute:
    """One entry for every port and every path by which frames arrive there without an earlier merge.

    Args:
        draft: the draft with its ports.
        paths: per listener, ports from the talker on.
        nodes: the merge points.
    """
    merged_route = MergedRoute()
    places: dict[Key, int] = {}
    arriving: dict[int, list[int]] = {node: [] for node in nodes}
    parts = [(number, _parts(draft, path, arriving)) for own in paths for number, path in enumerate(own, 1)]
    # All entries into a merge point come before the entries after it, which refer to the first of them.
    for level in range(max(len(part) for _, part in parts)):
        for number, part in parts:
            if level < len(part):
                _add(draft, merged_route, places, arriving, part[level], number)
    merged_route.merges = [entries for entries in arriving.values() if len(entries) > 1]
    for own in paths:
        start, passed = _parts(draft, own[0], arriving)[-1]
        end = places[start, passed]
        meeting = next((entries for entries in merged_route.merges if end in entries), [end])
        merged_route.ends.append(meeting[0])
    _untag(merged_route, paths, places)
    return merged_route


def _parts(draft: Draft, path: Sequence[int], arriving: Mapping[int, object]) -> list[Key]:
    """A path, cut after every merge point."""
    found: list[Key] = []
    start: int | None = None
    passed: list[int] = []
    for port in path:
        passed.append(port)
        to = draft.ports[port].to
        if to in arriving:
            found.append((start, tuple(passed)))
            start, passed = to, []
    return [*found, (start, tuple(passed))] if passed else found


def _add(
    draft: Draft,
    merged_route: MergedRoute,
    places: dict[Key, int],
    arriving: Mapping[int, list[int]],
    part: Key,
    number: int,
) -> None:
    start, ports = part
    parent = None if start is None else arriving[start][0]
    for count, port in enumerate(ports, 1):
        key = start, ports[:count]
        if key not in places:
            places[key] = len(merged_route.route)
            merged_route.route.append(Hop(port, parent))
            merged_route.copies.append(number)
            to = draft.ports[port].to
            if to in arriving:
                arriving[to].append(places[key])
        parent = places[key]


def _untag(
    merged_route: MergedRoute, paths: Sequence[Sequence[Sequence[int]]], places: Mapping[Key, int]
) -> None:
    """Frames carry their sequence number from where paths part until the last merge point."""
    all_paths = [path for own in paths for path in own]
    for count in range(1, shared(all_paths) + 1):
        place = places.get((None, tuple(all_paths[0][:count])))
        if place is not None:
            merged_route.copies[place] = 0
    ahead: set[int] = set()
    for entries in merged_route.merges:
        for entry in entries:
            place = entry
            while place is not None:
                ahead.add(place)
                place = merged_route.route[place].parent
    for place in range(len(merged_route.route)):
        if place not in ahead:
            merged_route.copies[place] = 0
