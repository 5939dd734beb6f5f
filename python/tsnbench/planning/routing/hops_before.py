"""The hops of a route before one of them: several paths where member streams merge.

IEEE 802.1CB-2017, 7.4.
"""

from __future__ import annotations

from tsnbench.planning.draft import Flow


def parents(flow: Flow, hop: int) -> tuple[int, ...]:
    """The hops right before a hop: several behind a merge, none at the talker."""
    parent = flow.route[hop].parent
    if parent is None:
        return ()
    return next((own for own in _merges(flow) if own[0] == parent), (parent,))


def end(flow: Flow, hop: int) -> int | None:
    """The entry of ``flow.ends`` for a hop that ends at a listener, where paths may merge; None elsewhere."""
    if hop in flow.ends:
        return hop
    return next((own[0] for own in _merges(flow) if hop in own and own[0] in flow.ends), None)


def last_hops(flow: Flow, at: int) -> tuple[int, ...]:
    """The hops that end where an entry of ``flow.ends`` does."""
    return next((own for own in _merges(flow) if own[0] == at), (at,))


def ancestors(flow: Flow, *hops: int) -> list[int]:
    """These hops and all before them, each one behind its parents."""
    found: dict[int, None] = {}
    left = [*hops]
    while left:
        before = [hop for hop in parents(flow, left[-1]) if hop not in found]
        if before:
            left += before
        else:
            found[left.pop()] = None
    return [*found]


def longest(flow: Flow, hop: int) -> int:
    """The number of hops before a hop, by the path with the most."""
    count: dict[int, int] = {}
    for at in ancestors(flow, hop):
        count[at] = max((count[before] + 1 for before in parents(flow, at)), default=0)
    return count[hop]


def _merges(flow: Flow) -> list[tuple[int, ...]]:
    return [tuple(merge["from"]) for merge in flow.redundancy.get("merges", ())]
