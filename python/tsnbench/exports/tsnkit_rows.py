"""Rows of tsnkit's gate control lists: one queue is open at a time, and no row crosses a cycle's end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tsnbench.plan.gates import Span, folded, joined


@dataclass
class Link:
    """The open queues of one link during a cycle, in ns."""

    cycle_ns: int
    frames: list[tuple[int, Span]] = field(default_factory=list)
    """Queue, and when a planned frame occupies the link; it may extend beyond the cycle."""
    windows: list[tuple[int, list[Span]]] = field(default_factory=list)
    """Queue, and when its gate is open otherwise; the queue that is served first comes first."""


def without(spans: Iterable[Span], taken: Sequence[Span]) -> Iterator[Span]:
    """The rest of spans after others (joined, in order) are removed."""
    for begin, end in spans:
        at = begin
        for place in range(max(0, bisect_right(taken, (begin, begin)) - 1), len(taken)):
            first, last = taken[place]
            if first >= end:
                break
            if first > at:
                yield at, first
            at = max(at, last)
        if at < end:
            yield at, end


def first_instant(links: Iterable[Link], grid: int, within: int) -> int | None:
    """The first instant of the grid without a planned frame on any link; None: there is none.

    As instant 0 it keeps every row within its cycle.
    """
    taken = []
    for link in links:
        if link.frames:
            spans = sorted((begin % link.cycle_ns, end - begin) for _, (begin, end) in link.frames)
            taken.append((link.cycle_ns, spans))
    at = 0
    while at < within:
        later = at
        for cycle, spans in taken:
            # Frames of a link do not overlap: only the last one that began can still occupy it.
            begin, length = spans[bisect_right(spans, (later % cycle, within)) - 1]
            if 0 < (gone := (later - begin) % cycle) < length:
                later += length - gone
        later = -(-later // grid) * grid
        if later == at:
            return at
        at = later
    return None


def rows(link: Link, origin: int) -> tuple[list[tuple[int, Span]], list[int]]:
    """Queue, begin and end of every row, counted from an origin; and the queues that lost time.

    Time is lost to other queues' windows. Every frame has a row of its own, as in tsnkit's own schedules.
    """
    found: list[tuple[int, Span]] = []
    for queue, (begin, end) in link.frames:
        found += [(queue, part) for part in folded((begin - origin, end - origin), link.cycle_ns)]
    frames = taken = joined(span for _, span in found)
    less = []
    for queue, spans in link.windows:
        moved = joined(
            part for begin, end in spans for part in folded((begin - origin, end - origin), link.cycle_ns)
        )
        free = list(without(moved, frames))
        left = list(without(free, taken))
        if left != free:
            less.append(queue)
        found += [(queue, span) for span in left]
        taken = joined([*taken, *left])
    found.sort(key=lambda row: row[1])
    assert all(one[1][1] <= other[1][0] for one, other in pairwise(found))
    return found, less
