"""How long a class's gate stays open at a time, and how much of the cycle.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import groupby
from typing import Any


def gate_lists(gates: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A port's lists, the first one first; all others have ``at_ns``."""
    return [gates, *gates.get("changes", ())]


def open_windows(gates: Mapping[str, Any], traffic_class: int) -> list[int] | None:
    """The lengths of the windows in ns; None where the gate never closes.

    Neighbouring entries that are both open are one window, across the end of the cycle too.
    """
    entries = [(bool(entry["open"] >> traffic_class & 1), entry["interval_ns"]) for entry in gates["entries"]]
    if all(is_open for is_open, _ in entries):
        return None
    # Begin behind a closed entry, so that no window is cut in two.
    closed = next(place for place, (is_open, _) in enumerate(entries) if not is_open)
    turned = entries[closed:] + entries[:closed]
    return [
        sum(length for _, length in run)
        for is_open, run in groupby(turned, key=lambda entry: entry[0])
        if is_open
    ]


def open_ns(gates: Mapping[str, Any], traffic_class: int) -> int:
    """How much of a cycle the gate is open, in ns."""
    windows = open_windows(gates, traffic_class)
    return int(gates["cycle_ns"]) if windows is None else sum(windows)


def open_share(port: Mapping[str, Any], traffic_class: int) -> Fraction:
    """The share of time in which a class of a port may send; 1 without gates."""
    gates = port.get("gates")
    return Fraction(1) if gates is None else Fraction(open_ns(gates, traffic_class), gates["cycle_ns"])
