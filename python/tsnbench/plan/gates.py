"""Windows of traffic classes: the only code that converts a gate control list to windows.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench import foreign
    from tsnbench.plan.types import GateCycle, GateList, Gates, Port

Span = tuple[int, int]
"""Begin and end in ns."""
Entry = tuple[int, int]
"""Bit mask of open gates, and ns: one entry of a list."""


def gate_lists(gates: Gates) -> list[GateList]:
    """A port's gate control lists in order of time; all but the first one have ``at_ns``."""
    return [gates, *gates.get("changes", ())]


@dataclass(frozen=True)
class Period:
    """A time in which one list is in force; None: without a beginning, or without an end."""

    from_ns: int | None
    until_ns: int | None
    gates: GateCycle
    """The list; gates that keep their states are a list of one entry."""
    words: str = "list 1"


def in_turn(gates: Gates, in_force: Sequence[foreign.Json]) -> list[Period]:
    """The periods of a port's lists; before the first list, and in an extended cycle, the gate states do not
    change.

    Args:
        gates: all lists of the port.
        in_force: what a run has counted (``in_force`` of ``counters.json``); empty: the first list, always.
    """
    if not in_force:
        return [Period(None, None, gates)]
    found: list[Period] = []
    for place, one in enumerate(in_force):
        until = in_force[place + 1]["from_ns"] if place + 1 < len(in_force) else None
        number = one["list"] or 0
        own = gate_lists(gates)[number]
        entries = own["entries"]
        if one["schedule"] != "list":
            mask = gates["initial"] if one["schedule"] == "initial" else entries[-1]["open"]
            entries = [{"open": mask, "interval_ns": own["cycle_ns"]}]
        words = {"initial": "before any list", "extended": f"list {number + 1}, last cycle extended"}
        called = words.get(one["schedule"], f"list {number + 1}")
        cycle: GateCycle = {
            "base_time_ns": own["base_time_ns"],
            "cycle_ns": own["cycle_ns"],
            "entries": entries,
        }
        found.append(Period(one["from_ns"], until, cycle, called))
    return found


def requested_ns(gates: GateList) -> int | None:
    """The time in ns at which a later list is requested (``ConfigChange``); None for a port's first list."""
    if "at_ns" in gates:
        return gates["at_ns"]
    return None


def entries_of(gates: GateCycle) -> list[Entry]:
    """The entries of a Plan's list as pairs (mask, ns)."""
    return [(entry["open"], entry["interval_ns"]) for entry in gates["entries"]]


def spans_of_list(entries: Iterable[Entry], traffic_class: int) -> list[Span]:
    """The spans in which the gate is open, within one run of the list; adjacent open entries are one span."""
    spans: list[Span] = []
    at = 0
    for mask, interval in entries:
        if mask >> traffic_class & 1:
            begin = spans.pop()[0] if spans and spans[-1][1] == at else at
            spans.append((begin, at + interval))
        at += interval
    return spans


def open_spans(entries: Iterable[Entry], traffic_class: int) -> list[Span] | None:
    """The windows of a cycle, counted from its begin; None if the gate never closes.

    A window across the end of the cycle is one span, the last one, which ends after the cycle.
    """
    entries = list(entries)
    cycle = sum(interval for _, interval in entries)
    spans = spans_of_list(entries, traffic_class)
    if spans == [(0, cycle)]:
        return None
    if len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == cycle:
        (_, end), *spans = spans
        spans[-1] = (spans[-1][0], cycle + end)
    return spans


def entries_and_spans(gates: GateCycle, classes: int) -> tuple[list[Entry], list[list[Span] | None]]:
    """The entries of a Plan's list, and by traffic class the windows of :func:`open_spans`."""
    entries = entries_of(gates)
    return entries, [open_spans(entries, traffic_class) for traffic_class in range(classes)]


def clock_spans(gates: GateCycle, traffic_class: int) -> list[Span]:
    """The spans in which the gate is open, ascending, within a cycle that begins at a multiple of the cycle
    time.

    The base time is included. A window across the end of that cycle is two spans.
    """
    cycle = gates["cycle_ns"]
    base = gates["base_time_ns"] % cycle
    spans = spans_of_list(entries_of(gates), traffic_class)
    return joined(part for begin, end in spans for part in folded((base + begin, base + end), cycle))


def folded(span: Span, cycle: int) -> list[Span]:
    """A span with any begin, reduced to spans within [0, cycle)."""
    begin = span[0] % cycle
    end = begin + span[1] - span[0]
    return [(begin, end)] if end <= cycle else [(0, end - cycle), (begin, cycle)]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; adjacent and overlapping spans are joined."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and found[-1][1] >= begin:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def open_windows(gates: GateCycle, traffic_class: int) -> list[int] | None:
    """The lengths of the windows in ns; None if the gate never closes.

    They are the lengths of :func:`open_spans`, computed without the spans: a Plan of thousands of streams has
    gate lists of thousands of entries, and all its classes and streams ask.
    """
    lengths: list[int] = []
    run, closes = 0, False
    for entry in gates["entries"]:
        if entry["open"] >> traffic_class & 1:
            run += entry["interval_ns"]
        else:
            closes = True
            if run:
                lengths.append(run)
                run = 0
    if not closes:
        return None
    if run and lengths and gates["entries"][0]["open"] >> traffic_class & 1:
        # A window across the end of the cycle is one window, the last one.
        return [*lengths[1:], run + lengths[0]]
    return [*lengths, run] if run else lengths


def open_ns(gates: GateCycle, traffic_class: int) -> int:
    """The time in a cycle during which the gate is open, in ns."""
    return sum(end - begin for begin, end in spans_of_list(entries_of(gates), traffic_class))


def open_share(port: Port, traffic_class: int, gates: GateList | None = None) -> Fraction:
    """The share of time in which a class of a port may send, by its first list or the given one; 1 without
    gates."""
    gates = gates or port.get("gates")
    return Fraction(1) if gates is None else Fraction(open_ns(gates, traffic_class), gates["cycle_ns"])
