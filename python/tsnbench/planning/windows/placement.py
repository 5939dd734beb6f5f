"""Room for windows in a cycle: windows of several classes at one port must not overlap.

IEEE 802.1Q-2022, 8.6.8.4. All times are ps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.planning.windows.sizing import Arrival, Window, longest_wait, time_needed

MOST_PLACES = 48
"""Number of places that are tried for one window."""


@dataclass(frozen=True)
class Room:
    """A port's cycle, and its occupied spans."""

    cycle: int
    tick: int
    """Granularity of entries."""
    shortest: int
    """Shortest interval of an entry, also between two windows."""
    margin: int
    taken: tuple[Window, ...] = ()

    def free(self, opens: int, length: int) -> int | None:
        """The first instant from ``opens`` on at which a window has room; None if there is none."""
        at = self._up(opens)
        end = at + self.cycle
        for _ in range(2 * len(self.taken) + 2):
            later = max((self._behind(at, length, other) for other in self.taken), default=at)
            if later == at:
                return at
            at = self._up(later)
            if at >= end:
                return None
        return None

    def _behind(self, at: int, length: int, other: Window) -> int:
        """``at``, or the first instant after another window with room."""
        if length + other.length > self.cycle:
            return at + self.cycle
        # The last opening of the other window before this one closes.
        opens = other.opens + (at + length - other.opens) // self.cycle * self.cycle
        closes = opens + other.length
        if opens < at + length and at < closes:
            return closes
        if opens + self.cycle < at + length + self.shortest:
            return opens + self.cycle + other.length
        if closes < at < closes + self.shortest:
            return closes + self.shortest
        return at

    def _up(self, instant: int) -> int:
        return -(-instant // self.tick) * self.tick

    def long(self, span: int) -> int:
        """A window's length that is possible for entries."""
        return self._up(max(span, self.shortest))


def store_and_release(every: Sequence[Arrival], room: Room) -> Window | None:
    """A window that opens when all data units have arrived: waiting frames leave without a pause, in the
    shortest window."""
    places = sorted({arrival.unit.last % room.cycle for arrival in every if arrival.unit.known})
    places = places[:: max(1, len(places) // MOST_PLACES)] or [0]
    places += [other.closes % room.cycle for other in room.taken]
    found = [window for place in places if (window := _store_and_release(every, room, place)) is not None]
    shortest = min((window.length for window in found), default=0)
    best = [window for window in dict.fromkeys(found) if window.length == shortest]
    if len(best) < 2:
        return next(iter(best), None)
    return min(best, key=lambda window: longest_wait(every, window, room.cycle))


def _store_and_release(every: Sequence[Arrival], room: Room, place: int) -> Window | None:
    at = place
    for _ in range(4):
        length = room.long(time_needed(every, room._up(at), room.cycle) + room.margin)
        opens = room.free(at, length)
        if opens is None or length > room.cycle:
            return None
        long_enough = time_needed(every, opens, room.cycle) + room.margin
        if long_enough <= length:
            turn = opens // room.cycle * room.cycle
            return Window(opens - turn, opens - turn, opens - turn + length)
        at = opens
    return None


def pass_through(every: Sequence[Arrival], room: Room) -> Window | None:
    """A window that is open while data units arrive: they wait only for earlier ones."""
    if not all(arrival.unit.known for arrival in every):
        return None
    spans = sorted((c.unit.first % room.cycle, c.unit.last - c.unit.first) for c in every)
    # The window is closed in the longest pause without arrivals.
    reach, pause, opens = max(at + own for at, own in spans) - room.cycle, -1, spans[0][0]
    for first, length in spans:
        if first - reach > pause:
            pause, opens = first - reach, first
        reach = max(reach, first + length)
    if pause <= 0:
        return None
    cut = opens + room.cycle - pause
    begin = opens // room.tick * room.tick
    length = room.long(cut - begin + time_needed(every, cut, room.cycle) + room.margin)
    if length > room.cycle or room.free(begin, length) != begin:
        return None
    return Window(begin, cut, begin + length)
