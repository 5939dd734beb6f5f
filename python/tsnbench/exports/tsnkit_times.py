"""First bits of frames on tsnkit's grid.

tsnkit counts in slots of 100 ns, rounds every duration up to whole slots, and evaluates the network only at
their boundaries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

GRID_PS = 100_000
ROUNDS = 200
"""Number of rounds in which frames are moved before the search is given up."""


@dataclass(frozen=True)
class Hop:
    """A frame on one link of its path."""

    port: int
    parent: int | None
    """The previous hop of the frame; None at the talker."""
    planned_ps: int
    """First bit out in the Plan."""
    wire_ps: int
    """Time of the frame on the link, with preamble and inter-frame gap."""
    ready_ps: int
    """Time from its end on this link until it can be forwarded at the next node."""


@dataclass(frozen=True)
class Frame:
    """One periodic frame; its path is a tree whose parents come first."""

    period_ps: int
    hops: Sequence[Hop]


def up(at_ps: int) -> int:
    """The next instant of the grid."""
    return -(-at_ps // GRID_PS) * GRID_PS


def on_grid(frames: Sequence[Frame]) -> list[list[int]] | None:
    """First bits on the grid, per frame and hop: none is earlier than planned, and the order on every link is
    kept.

    None: frames so close to each other find no place within ``ROUNDS`` rounds.
    """
    found = [[up(hop.planned_ps) for hop in frame.hops] for frame in frames]
    users: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, frame in enumerate(frames):
        for place, hop in enumerate(frame.hops):
            users[hop.port].append((number, place))
    moved = set(range(len(frames)))
    for _ in range(ROUNDS):
        if not moved:
            return found
        for number in moved:
            _follow(frames[number], found[number])
        moved = {number for on_link in users.values() for number in _make_room(frames, found, on_link, moved)}
    return None


def _follow(frame: Frame, found: list[int]) -> None:
    """A hop begins only when the frame has arrived."""
    for place, hop in enumerate(frame.hops):
        if hop.parent is not None:
            before = frame.hops[hop.parent]
            found[place] = max(found[place], up(found[hop.parent] + before.wire_ps + before.ready_ps))


def _make_room(
    frames: Sequence[Frame], found: list[list[int]], users: Sequence[tuple[int, int]], moved: set[int]
) -> list[int]:
    """If two frames overlap on a link, the second one waits until the first has left."""
    pushed = []
    for at, (one, hop) in enumerate(users):
        for other, place in users[at + 1 :]:
            if one not in moved and other not in moved:
                continue
            every = gcd(frames[one].period_ps, frames[other].period_ps)
            ahead = (found[other][place] - found[one][hop]) % every
            if ahead < (taken := frames[one].hops[hop].wire_ps):
                found[other][place] += up(taken - ahead)
                pushed.append(other)
            elif every - ahead < (taken := frames[other].hops[place].wire_ps):
                found[one][hop] += up(taken - (every - ahead))
                pushed.append(one)
    return pushed
