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
    whole = time_needed(every, window.cut, cycle)
    return [_departure(number, every, window, cycle, whole) for number in range(len(every))]


def _departure(number: int, every: Sequence[Arrival], window: Window, cycle: int, whole: int) -> Departure:
    unit, wire = every[number].unit, every[number].wire
    if not unit.known:
        waits = cycle - (window.cut - window.opens) + whole
        return Departure(window.opens, window.cut + whole, waits)
    starts = _starts(number, every, window, cycle)
    turn = _up(unit.last - window.cut, cycle)
    opens = window.opens + turn * cycle
    if turns(every[number], window.cut, cycle) > unit.count:
        # It may arrive on either side of a cut.
        late = max(unit.last, opens) + whole
        worst = max(window.opens + (turn - 1) * cycle - unit.first, cycle - (window.cut - window.opens))
        return Departure(starts, late, worst + whole)
    before = window.cut + (turn - 1) * cycle
    ahead = 0
    for place, other in enumerate(every):
        if place == number:
            continue
        if _keeps_order(other.unit, unit) and turns(other, window.cut, cycle) == other.unit.count:
            # Later ones of its own flow are after it, whatever they waited for.
            count = other.unit.count * (_rank(other.unit, window, cycle) < _rank(unit, window, cycle))
        else:
            count = min(_between(other, before, unit.last, cycle), turns(other, window.cut, cycle))
        ahead += count * other.wire.whole
    own = ahead + unit.count * wire.whole
    return Departure(starts, max(unit.last, opens) + own, max(opens - unit.first, 0) + own)


def _between(other: Arrival, before: int, until: int, cycle: int) -> int:
    """Number of repetitions that may arrive after one instant and until another."""
    unit = other.unit
    if not unit.known:
        return unit.count
    return unit.count * max(0, (until - unit.first) // cycle - (before - unit.last) // cycle)


def _starts(number: int, every: Sequence[Arrival], window: Window, cycle: int) -> int:
    """The earliest start of a data unit's first frame."""
    unit = every[number].unit
    last = (unit.first - window.opens) // cycle
    closed = window.closes + last * cycle
    if unit.first < closed:
        return unit.first
    opens = window.opens + (last + 1) * cycle
    # Data units that certainly arrived since the previous window closed, and before this one, leave first.
    ahead = 0
    for place, other in enumerate(every):
        if place == number or not other.unit.known or not _accompanies(other.unit, unit):
            continue
        if _keeps_order(other.unit, unit) and turns(other, window.cut, cycle) == other.unit.count:
            mine = turns(every[number], window.cut, cycle) == unit.count
            together = _up(unit.last - window.cut, cycle) == _up(other.unit.last - window.cut, cycle)
            # A data unit of an earlier cycle is ahead, too, but the first cycle has none.
            if mine and together and other.unit.turn < unit.turn and other.unit.first >= closed:
                ahead += other.unit.count * other.wire.least
            continue
        turn = (unit.first - 1 - other.unit.last) // cycle
        # There is none before its first one.
        if turn >= 0 and other.unit.first + turn * cycle >= closed:
            ahead += other.unit.count * other.wire.least
    return opens + ahead


def _accompanies(other: Unit, unit: Unit) -> bool:
    """Whether there is one of a kind in every cycle with another one."""
    if other.until is None:
        return False
    return other.flow == unit.flow or (unit.until is not None and unit.until <= other.until)


def _keeps_order(other: Unit, unit: Unit) -> bool:
    same = other.flow == unit.flow and other.hop == unit.hop
    return same and other.known and unit.known and other.in_order and unit.in_order


def _rank(unit: Unit, window: Window, cycle: int) -> tuple[int, int]:
    """The order of a flow's data units in one window: those of earlier cycles first."""
    return -_up(unit.last - window.cut, cycle), unit.turn


def _up(span: int, cycle: int) -> int:
    return -(-span // cycle)
