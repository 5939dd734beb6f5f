"""The reading of a node's clock at each instant of a run, and the instant of a reading."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

UNIT_BITS = 60
"""Frequencies are in units of 2^-60."""
PS = 1_000


@dataclass(frozen=True)
class ClockLine:
    """A clock between two changes: a linear function of true time."""

    from_ps: int
    shows_ps: int
    frequency: int
    """How much faster than true time the clock runs, in 2^-60."""

    def shows(self, at_ns: int) -> int:
        """The time that the clock shows at a true instant, to the nearest ns."""
        span = at_ns * PS - self.from_ps
        return (self.shows_ps + span + (span * self.frequency >> UNIT_BITS) + PS // 2) // PS

    def when(self, clock_ns: int) -> int:
        """The true instant, to the nearest ns, at which the clock shows this time."""
        span = (clock_ns * PS - self.shows_ps) << UNIT_BITS
        return (self.from_ps + span // ((1 << UNIT_BITS) + self.frequency) + PS // 2) // PS


class NodeClock:
    """The clock of one node; ``lines``: from_ps, shows_ps and frequency of each, in the order of time."""

    def __init__(self, lines: Sequence[tuple[int, int, int]]) -> None:
        # Of several changes at one instant the last one counts.
        last = {one[0]: ClockLine(*one) for one in lines}
        self.lines = list(last.values())
        self._begins = [-(-one.from_ps // PS) for one in self.lines]

    def at(self, at_ns: int) -> ClockLine:
        """The line in force at a true instant."""
        return self.lines[max(0, bisect_right(self._begins, at_ns) - 1)]

    def shows(self, at_ns: int) -> int:
        """The time that the clock shows at a true instant, to the nearest ns."""
        return self.at(at_ns).shows(at_ns)

    def pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, ClockLine]]:
        """The parts of a span of true time in which the clock is one line: begin, end and line."""
        first = max(0, bisect_right(self._begins, begin) - 1)
        for number in range(first, len(self.lines)):
            low = begin if number == first else self._begins[number]
            following = self._begins[number + 1] if number + 1 < len(self.lines) else end
            yield low, min(end, following), self.lines[number]
            if following >= end:
                return
