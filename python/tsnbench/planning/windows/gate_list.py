"""Windows of several classes as one gate control list; classes without a window share the rest of the cycle.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsnbench.planning.windows.sizing import Window


def spans_of_rest(windows: Sequence[Window], cycle: int) -> list[tuple[int, int]]:
    """(begin, length) of every span of a cycle in which no window is open."""
    order = sorted(windows, key=lambda window: window.opens)
    spans = []
    for place, window in enumerate(order):
        after = order[place + 1].opens if place + 1 < len(order) else order[0].opens + cycle
        if after > window.closes:
            spans.append((window.closes, after - window.closes))
    return spans


def entries_of(
    windows: Mapping[int, Window], rest: int, cycle_ns: int, guard_ns: int, shortest_ns: int
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Base time in ns, and (bit mask of open classes, ns) from there on; with a guard at the end of every
    other span."""
    order = sorted(windows.items(), key=lambda item: item[1].opens)
    base = order[0][1].opens // 1_000
    entries: list[tuple[int, int]] = []
    for place, (number, window) in enumerate(order):
        after = order[place + 1][1].opens if place + 1 < len(order) else base * 1_000 + cycle_ns * 1_000
        entries.append((1 << number, window.length // 1_000))
        left = (after - window.closes) // 1_000
        if left <= 0:
            continue
        guard = min(left, max(guard_ns, shortest_ns)) if guard_ns else 0
        if left - guard < shortest_ns:
            guard = left
        if left - guard:
            entries.append((rest, left - guard))
        if guard:
            entries.append((0, guard))
    return base, tuple(entries)
