"""One class at one port: the place of its window, and when arriving data units have left through it.

IEEE 802.1Q-2022, 8.6.8.4. A window is long enough if it empties the queue of all arrivals since the previous
window, whatever their times; so no frame waits for more than one. docs/concepts/windows.md derives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.planning.windows.demand import Unit, Wire


@dataclass(frozen=True)
class Window:
    """Open in [``opens``, ``closes``) of every cycle; data units that have arrived until ``cut`` leave
    through it."""

    opens: int
    cut: int
    closes: int

    @property
    def length(self) -> int:
        return self.closes - self.opens


@dataclass(frozen=True)
class Departure:
    """A data unit after a window: when its first frame starts and its last bit is out."""

    starts: int
    ends: int
    waits: int
    """Greatest delay from the queue to the last bit."""


@dataclass(frozen=True)
class Arrival:
    """A data unit and its time at the port."""

    unit: Unit
    wire: Wire


def turns(arrival: Arrival, cut: int, cycle: int) -> int:
    """Greatest number of repetitions of a data unit between two cuts."""
    unit = arrival.unit
    if not unit.known:
        return unit.count
    return unit.count * (1 + _up(unit.last - cut, cycle) - _up(unit.first - cut, cycle))


def time_needed(every: Sequence[Arrival], cut: int, cycle: int) -> int:
    """The port's time for all arrivals between two cuts, gaps included."""
    return sum(turns(arrival, cut, cycle) * arrival.wire.whole for arrival in every)


def departures(every: Sequence[Arrival], window: Window, cycle: int) -> list[Departure]:
    """The earliest and the latest departure of each data unit.

    The gap after an earlier frame may extend into the window; the gap after the last frame may be outside of
    it.
    """
    passage = _Passage(every, window, cycle)
    latest = (passage.latest(number) for number in range(len(every)))
    return [Departure(passage.starts(number), *found) for number, found in enumerate(latest)]


def longest_wait(every: Sequence[Arrival], window: Window, cycle: int) -> int:
    """The greatest of the waits of all departures."""
    passage = _Passage(every, window, cycle)
    return max(passage.latest(number)[1] for number in range(len(every)))


class _Passage:
    """The arrivals at a window, with what each pair of them is compared by."""

    def __init__(self, every: Sequence[Arrival], window: Window, cycle: int) -> None:
        self.every = every
        self.window = window
        self.cycle = cycle
        self.turns = [turns(arrival, window.cut, cycle) for arrival in every]
        self.closings = [_up(arrival.unit.last - window.cut, cycle) for arrival in every]
        self.whole = sum(count * arrival.wire.whole for count, arrival in zip(self.turns, every, strict=True))

    def latest(self, number: int) -> tuple[int, int]:
        """When a data unit's last bit is out at the latest, and its greatest delay from the queue to then."""
        unit, window, cycle = self.every[number].unit, self.window, self.cycle
        if not unit.known:
            return window.cut + self.whole, cycle - (window.cut - window.opens) + self.whole
        turn = self.closings[number]
        opens = window.opens + turn * cycle
        if self.turns[number] > unit.count:
            # It may arrive on either side of a cut.
            late = max(unit.last, opens) + self.whole
            worst = max(window.opens + (turn - 1) * cycle - unit.first, cycle - (window.cut - window.opens))
            return late, worst + self.whole
        before = window.cut + (turn - 1) * cycle
        rank = (-turn, unit.turn)
        own = unit.count * self.every[number].wire.whole
        for place, other in enumerate(self.every):
            if place == number:
                continue
            if self._in_turn(place, unit):
                # Later ones of its own flow are after it, whatever they waited for.
                count = other.unit.count * ((-self.closings[place], other.unit.turn) < rank)
            else:
                count = min(_between(other.unit, before, unit.last, cycle), self.turns[place])
            own += count * other.wire.whole
        return max(unit.last, opens) + own, max(opens - unit.first, 0) + own

    def starts(self, number: int) -> int:
        """The earliest start of a data unit's first frame."""
        unit, window, cycle = self.every[number].unit, self.window, self.cycle
        if not unit.known:
            return window.opens
        last = (unit.first - window.opens) // cycle
        closed = window.closes + last * cycle
        if unit.first < closed:
            return unit.first
        # Data units that certainly arrived since the previous window closed leave first, if before this one.
        ahead = 0
        for place, other in enumerate(self.every):
            if place == number or not other.unit.known or not _accompanies(other.unit, unit):
                continue
            if self._in_turn(place, unit):
                mine = self.turns[number] == unit.count
                together = self.closings[number] == self.closings[place]
                # A data unit of an earlier cycle is ahead, too, but the first cycle has none.
                if mine and together and other.unit.turn < unit.turn and other.unit.first >= closed:
                    ahead += other.unit.count * other.wire.least
                continue
            turn = (unit.first - 1 - other.unit.last) // cycle
            # There is none before its first one.
            if turn >= 0 and other.unit.first + turn * cycle >= closed:
                ahead += other.unit.count * other.wire.least
        return window.opens + (last + 1) * cycle + ahead

    def _in_turn(self, place: int, unit: Unit) -> bool:
        """Whether a data unit there is of the same flow, in order, and always on one side of the cut."""
        other = self.every[place].unit
        return _keeps_order(other, unit) and self.turns[place] == other.count


def _between(unit: Unit, before: int, until: int, cycle: int) -> int:
    """Number of repetitions that may arrive after one instant and until another."""
    if not unit.known:
        return unit.count
    return unit.count * max(0, (until - unit.first) // cycle - (before - unit.last) // cycle)


def _accompanies(other: Unit, unit: Unit) -> bool:
    """Whether there is one of a kind in every cycle with another one."""
    if other.until is None:
        return False
    return other.flow == unit.flow or (unit.until is not None and unit.until <= other.until)


def _keeps_order(other: Unit, unit: Unit) -> bool:
    same = other.flow == unit.flow and other.hop == unit.hop
    return same and other.known and unit.known and other.in_order and unit.in_order


def _up(span: int, cycle: int) -> int:
    return -(-span // cycle)
