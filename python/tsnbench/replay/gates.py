"""The gates of a port at each instant of a run: the list in force, and the wrong one while a fault lasts.

IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9. The counters of the run have the instants at which lists change. Lists
are in the time of their node's clock; :class:`PortGates` answers in true time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.plan.gates import Period, Span, clock_spans, in_turn
from tsnbench.replay.clocks import UNIT_BITS, NodeClock

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import GateEntry, Gates, PlanDocument

OPEN_NS = 1
"""The cycle of gates that never change."""


@dataclass(frozen=True)
class Stretch:
    """A time with one repeating list; None: without a begin, or without an end."""

    from_ns: int | None
    until_ns: int | None
    cycle_ns: int
    spans: Sequence[Sequence[Span]] | None
    """The spans of each class in a cycle that begins at a multiple of the cycle time; None: not known."""


class Lists:
    """Lists that replace each other as planned: a port knows beforehand when its gates close."""

    def __init__(self, periods: Sequence[Period], classes: int) -> None:
        self.stretches = [
            Stretch(
                one.from_ns,
                one.until_ns,
                one.gates["cycle_ns"],
                [clock_spans(one.gates, number) for number in range(classes)],
            )
            for one in periods
        ]
        self._begins = [one.from_ns for one in self.stretches[1:] if one.from_ns is not None]

    def shuts(self, traffic_class: int, at: int) -> int | None:
        """The instant at which the open gate closes; ``at`` if it is closed; None if it never closes."""
        number = bisect_right(self._begins, at)
        now = at
        # Windows that touch where one list replaces another one are one window.
        while number < len(self.stretches):
            one = self.stretches[number]
            end = _end(one, traffic_class, now)
            if end is not None and (one.until_ns is None or end < one.until_ns):
                return end
            if one.until_ns is None:
                return None
            now = one.until_ns
            number += 1
        return None

    def edges(self, traffic_class: int, begin: int, end: int) -> Iterator[int]:
        """The instants between ``begin`` and ``end`` at which the gate may open or close."""
        first, last = bisect_right(self._begins, begin), bisect_right(self._begins, end)
        for one in self.stretches[first : last + 1]:
            low = begin if one.from_ns is None else max(begin, one.from_ns)
            high = end if one.until_ns is None else min(end, one.until_ns)
            yield from (low, high)
            spans = _spans(one, traffic_class)
            if not spans or spans == [(0, one.cycle_ns)]:
                continue
            for turn in range(low - low % one.cycle_ns, high, one.cycle_ns):
                yield from (turn + edge for span in spans for edge in span if low <= turn + edge <= high)


@dataclass(frozen=True)
class Wrong:
    """The gates of a port while a fault lasts; the port does not expect its begin and its end."""

    from_ns: int
    until_ns: int
    lists: Lists | None
    """None: not known."""


class PortGates:
    """The gates of one port, in true time; ``clock``: that of its node, None if it shows true time."""

    def __init__(self, own: Lists | None, wrong: Sequence[Wrong], clock: NodeClock | None = None) -> None:
        self.own = own
        self.wrong = wrong
        self.clock = clock

    def known(self, at: int) -> Lists | None:
        """The lists that the port follows at an instant; None if they are not known."""
        return next((one.lists for one in self.wrong if one.from_ns <= at < one.until_ns), self.own)

    def shuts(self, traffic_class: int, at: int) -> int | None:
        """When the open gate closes, by the lists that the port has at ``at``; ``at`` if it is closed.

        None if it never closes, and where the lists are not known.
        """
        if (lists := self.known(at)) is None:
            return None
        if self.clock is None:
            return lists.shuts(traffic_class, at)
        line = self.clock.at(at)
        shown = line.shows(at)
        shuts = lists.shuts(traffic_class, shown)
        return shuts if shuts is None else at if shuts <= shown else line.when(shuts)

    def edges(self, traffic_class: int, begin: int, end: int) -> Iterator[int]:
        """The instants at which the state of a gate may change."""
        for one in (self.own, *(one.lists for one in self.wrong)):
            if one is None:
                continue
            if self.clock is None:
                yield from one.edges(traffic_class, begin, end)
                continue
            for low, high, line in self.clock.pieces(begin, end):
                # A change of the clock may open or close a gate.
                yield low
                for edge in one.edges(traffic_class, line.shows(low), line.shows(high)):
                    yield line.when(edge)
        for fault in self.wrong:
            yield from (fault.from_ns, fault.until_ns)

    def drawn(self, begin: int, end: int) -> list[Json]:
        """The lists with the times in which they are in force, as a page draws them.

        With a clock, of a window: ``ahead`` is the clock's lead at ``from`` in ns, ``rate`` what a second
        adds to it in seconds.
        """
        stretches = self.stretches()
        if self.clock is None:
            return [
                {"from": one.from_ns, "until": one.until_ns, "cycle": one.cycle_ns, "spans": one.spans}
                for one in stretches
            ]
        found = []
        for low, high, line in self.clock.pieces(begin, end):
            for one in stretches:
                first = low if one.from_ns is None else max(low, line.when(one.from_ns))
                last = high if one.until_ns is None else min(high, line.when(one.until_ns))
                if first < last:
                    found.append(
                        {"from": first, "until": last, "cycle": one.cycle_ns, "spans": one.spans}
                        | {"ahead": line.shows(first) - first, "rate": line.frequency / (1 << UNIT_BITS)}
                    )
        return found

    def stretches(self) -> list[Stretch]:
        """All stretches of the run; the ends of faults are in true time, all others in the clock's."""
        unknown = [Stretch(None, None, OPEN_NS, None)]
        own = self.own.stretches if self.own else unknown
        found: list[Stretch] = []
        begin: int | None = None
        for fault in self.wrong:
            wrong = fault.lists.stretches if fault.lists else unknown
            found += _clipped(own, begin, fault.from_ns) + _clipped(wrong, fault.from_ns, fault.until_ns)
            begin = fault.until_ns
        return found + _clipped(own, begin, None)


def port_gates(
    document: PlanDocument, counted: Json | None, clocks: Mapping[int, NodeClock]
) -> list[PortGates | None]:
    """The gates of all ports; None for ports that have none and get none by a fault.

    Args:
        document: the Plan.
        counted: the counters of the run; None: lists that change are not known.
        clocks: the clock of each node that does not show true time.
    """
    in_force = {
        one["port"]: (one.get("gates") or {}).get("in_force") for one in (counted or {}).get("ports", ())
    }
    found: list[PortGates | None] = []
    for number, port in enumerate(document["ports"]):
        classes = len(port["classes"])
        gates = port.get("gates")
        faults = sorted(
            (one["from_ns"], one["until_ns"], one.get("gates"))
            for one in document.get("faults", ())
            if one["kind"] == "schedule" and one["port"] == number
        )
        if gates is None and not faults:
            found.append(None)
            continue
        own = _lists(gates, in_force.get(port.get("name", "")), classes)
        wrong: list[Wrong] = []
        for begin, end, other in faults:
            if wrong and begin < wrong[-1].until_ns:
                # The end of one fault ends both.
                wrong[-1] = Wrong(wrong[-1].from_ns, max(end, wrong[-1].until_ns), None)
            else:
                wrong.append(Wrong(begin, end, _lists(other, None, classes)))
        found.append(PortGates(own, wrong, clocks.get(port["node"])))
    return found


def _lists(gates: Gates | None, in_force: Sequence[Json] | None, classes: int) -> Lists | None:
    """The lists of a port, all open without gates; None if it is not known when lists change."""
    if gates is None:
        always = [Period(None, None, {"base_time_ns": 0, "cycle_ns": OPEN_NS, "entries": [_OPEN]})]
        return Lists(always, classes)
    if in_force is None and ("initial" in gates or gates.get("changes")):
        return None
    return Lists(in_turn(gates, in_force or ()), classes)


_OPEN: GateEntry = {"open": 255, "interval_ns": OPEN_NS}


def _clipped(stretches: Sequence[Stretch], begin: int | None, end: int | None) -> list[Stretch]:
    """The stretches between two instants."""
    found = []
    for one in stretches:
        low = max((time for time in (begin, one.from_ns) if time is not None), default=None)
        high = min((time for time in (end, one.until_ns) if time is not None), default=None)
        if low is None or high is None or low < high:
            found.append(Stretch(low, high, one.cycle_ns, one.spans))
    return found


def _spans(one: Stretch, traffic_class: int) -> Sequence[Span]:
    assert one.spans is not None
    return one.spans[traffic_class]


def _end(one: Stretch, traffic_class: int, at: int) -> int | None:
    """When the gate closes if the list stays in force; ``at`` if it is closed; None: never."""
    cycle, spans = one.cycle_ns, _spans(one, traffic_class)
    if spans == [(0, cycle)]:
        return None
    turn = at - at % cycle
    for begin, end in spans:
        if begin <= at - turn < end:
            if end == cycle and spans[0][0] == 0:
                end += spans[0][1]
            return turn + end
    return at
