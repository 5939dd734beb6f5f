"""A time axis that is to scale where frames are sent, and that shortens the pauses between them.

Frames take microseconds in cycles of milliseconds: drawn to one scale they would be thinner than a line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PAUSE = 0.035
"""The share of the axis that one pause has."""
PAUSES = 0.35
"""The greatest share of the axis for all pauses together."""


@dataclass(frozen=True)
class Axis:
    """Stretches of time, and the pauses between them; positions are from 0 to 1."""

    stretches: tuple[tuple[float, float], ...]
    """(begin, end), ascending."""
    places: tuple[tuple[float, float], ...]
    """Begin and end of each stretch on the axis."""
    marks: tuple[tuple[float, float], ...]
    """The begin and end of what a stretch shows, without the margin around it."""

    def at(self, time: float) -> float:
        """The position of a time; within a pause, in proportion."""
        begins = [begin for begin, _ in self.stretches]
        number = max(0, bisect_right(begins, time) - 1)
        (begin, end), (left, right) = self.stretches[number], self.places[number]
        if time <= end or number + 1 == len(self.stretches):
            share = min(1.0, max(0.0, (time - begin) / max(end - begin, 1e-9)))
            return left + share * (right - left)
        far, (there, _) = self.stretches[number + 1][0], self.places[number + 1]
        return right + (time - end) / max(far - end, 1e-9) * (there - right)

    @property
    def pauses(self) -> list[tuple[float, float, float]]:
        """(left, right, how long) of every pause."""
        ends = zip(self.stretches, self.stretches[1:], strict=False)
        there = zip(self.places, self.places[1:], strict=False)
        return [
            (before[1], after[0], later[0] - earlier[1])
            for (earlier, later), (before, after) in zip(ends, there, strict=True)
        ]

    def within(self, begin: float, end: float) -> list[tuple[float, float]]:
        """The position of a span on the axis, without its parts beyond the ends."""
        begin, end = max(begin, self.stretches[0][0]), min(end, self.stretches[-1][1])
        return [(self.at(begin), self.at(end))] if begin < end else []


def axis(spans: Iterable[tuple[float, float]], cycle: float, most: int) -> tuple[Axis, int]:
    """The axis for (begin, end) spans, and the number of later stretches that are left out, beyond
    ``most``."""
    ordered = sorted((max(0.0, begin), min(cycle, end)) for begin, end in spans)
    busy = sum(end - begin for begin, end in ordered)
    # A pause is drawn to scale if it is not much longer than the spans beside it.
    short = max(busy / 3, cycle / 200)
    stretches: list[list[float]] = []
    for begin, end in ordered:
        if stretches and begin - stretches[-1][1] <= short:
            stretches[-1][1] = max(stretches[-1][1], end)
        else:
            stretches.append([begin, end])
    if not stretches:
        stretches = [[0.0, cycle]]
    marks = tuple((begin, end) for begin, end in stretches[:most])
    kept = _widened(marks, cycle)
    pause = min(PAUSE, PAUSES / max(1, len(kept) - 1)) if len(kept) > 1 else 0.0
    room = 1 - pause * (len(kept) - 1)
    whole = sum(end - begin for begin, end in kept)
    places, left = [], 0.0
    for begin, end in kept:
        right = left + room * (end - begin) / whole
        places.append((left, right))
        left = right + pause
    shown = Axis(tuple((begin, end) for begin, end in kept), tuple(places), marks)
    return shown, len(stretches) - len(kept)


def _widened(stretches: Sequence[Sequence[float]], cycle: float) -> list[list[float]]:
    """Adds a margin to every stretch, as far as it does not overlap another one."""
    more = 0.08 * sum(end - begin for begin, end in stretches) / len(stretches)
    found: list[list[float]] = []
    for number, (begin, end) in enumerate(stretches):
        before = stretches[number - 1][1] if number else 0.0
        after = stretches[number + 1][0] if number + 1 < len(stretches) else cycle
        found.append(
            [max(begin - more, (before + begin) / 2 if number else 0.0), min(end + more, (end + after) / 2)]
        )
    return found
