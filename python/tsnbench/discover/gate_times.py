"""Gate control lists as functions of time: which gates are open when, however a list is written.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tsnbench import quantities

Span = tuple[int, frozenset[int]]
"""How long, in ns, and the open classes."""


@dataclass(frozen=True)
class GateTimes:
    """The open classes of one port over its cycle, from the instant 0 of its clock on.

    Equal neighbours are one span, and a list that repeats itself within its cycle is written once, so that
    two lists with the same gates at all times are equal.
    """

    cycle_ns: int
    spans: tuple[Span, ...]
    """In the order of time; the first one begins at a multiple of the cycle."""

    def at(self, phase_ns: int) -> frozenset[int]:
        """The open classes at a time of the cycle."""
        left = phase_ns % self.cycle_ns
        for length, classes in self.spans:
            if left < length:
                return classes
            left -= length
        raise AssertionError("spans fill the cycle")

    def edges(self) -> list[int]:
        """The times of the cycle at which a span begins."""
        found, at = [], 0
        for length, _ in self.spans:
            found.append(at)
            at += length
        return found

    def __str__(self) -> str:
        if len(self.spans) == 1:
            return f"{_named(self.spans[0][1])} at all times"
        parts = (f"{_named(classes)} for {quantities.exact(length)}" for length, classes in self.spans)
        return f"{'; '.join(parts)} (cycle {quantities.exact(self.cycle_ns)})"


def gate_times(base_ns: int, cycle_ns: int, entries: Iterable[Span]) -> GateTimes:
    """The function of time of a gate control list.

    Args:
        base_ns: when a cycle begins.
        cycle_ns: its length; 0: the sum of the entries. The states of the last entry remain until its end.
        entries: duration in ns and open classes of each entry.

    Raises:
        ValueError: there is no entry of a positive length.
    """
    spans = [(length, classes) for length, classes in entries if length > 0]
    cycle = cycle_ns or sum(length for length, _ in spans)
    if not spans or cycle <= 0:
        raise ValueError("a gate control list without entries")
    cut: list[Span] = []
    at = 0
    for length, classes in spans:
        if at < cycle:
            cut.append((min(length, cycle - at), classes))
        at += length
    if at < cycle:
        cut[-1] = (cut[-1][0] + cycle - at, cut[-1][1])
    return _shortest(_merged(_rotated(cut, base_ns % cycle)))


def _rotated(spans: list[Span], begin: int) -> list[Span]:
    """The spans from 0 on, of a cycle that begins at ``begin``."""
    left = sum(length for length, _ in spans) - begin
    for place, (length, classes) in enumerate(spans):
        if left < length:
            tail = [(length - left, classes), *spans[place + 1 :]] if begin else []
            return [*tail, *spans[:place], (left, classes)] if begin else spans
        left -= length
    return spans


def _merged(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for length, classes in spans:
        if not length:
            continue
        if found and found[-1][1] == classes:
            found[-1] = (found[-1][0] + length, classes)
        else:
            found.append((length, classes))
    return found


def _shortest(spans: list[Span]) -> GateTimes:
    """The shortest cycle whose repetition is the same function."""
    cycle = sum(length for length, _ in spans)
    if len(spans) == 1:
        # One state for ever has no cycle of its own.
        return GateTimes(1, ((1, spans[0][1]),))
    joined = spans[0][1] == spans[-1][1]
    changes = len(spans) - joined
    for times in range(changes, 1, -1):
        if changes % times == 0 and cycle % times == 0 and _repeats(spans, cycle // times):
            return GateTimes(cycle // times, tuple(_until(spans, cycle // times)))
    return GateTimes(cycle, tuple(spans))


def _repeats(spans: list[Span], cycle: int) -> bool:
    """Whether the function moved by ``cycle`` is the same one."""
    whole = sum(length for length, _ in spans)
    starts: dict[int, frozenset[int]] = {}
    at = 0
    for length, classes in spans:
        starts[at] = classes
        at += length
    if spans[0][1] == spans[-1][1]:
        del starts[0]
    return {(start + cycle) % whole: classes for start, classes in starts.items()} == starts


def _until(spans: list[Span], end: int) -> list[Span]:
    found, at = [], 0
    for length, classes in spans:
        if at >= end:
            break
        found.append((min(length, end - at), classes))
        at += length
    return found


def difference(meant: GateTimes, found: GateTimes) -> tuple[str, str]:
    """Two functions that differ, in words: as a whole, or their first span where the cycles are equal."""
    if meant.cycle_ns != found.cycle_ns:
        return str(meant), str(found)
    edges = sorted({*meant.edges(), *found.edges()})
    first = next(at for at in edges if meant.at(at) != found.at(at))
    end = next((at for at in edges if at > first), meant.cycle_ns)
    when = f"from {quantities.exact(first)} to {quantities.exact(end)} of each cycle"
    return f"{_named(meant.at(first))} {when}", _named(found.at(first))


def _named(classes: frozenset[int]) -> str:
    listed = ", ".join(map(str, sorted(classes)))
    return f"classes {listed} open" if classes else "no class open"
