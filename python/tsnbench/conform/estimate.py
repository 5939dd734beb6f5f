"""Estimates from times of frames: pure functions of arrays, in ns.

All arrays are in order of time. A frame begins with the first bit of its preamble where it leaves the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.libraries import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    Times: TypeAlias = np.ndarray

GAP_OCTETS = 12
"""The inter-frame gap. IEEE 802.3-2022, 4.4.2."""
LEAST_SHARE = 0.25
"""Of the openings of a window, the least share that makes a group of times one of its openings."""
SEARCHED = 0.05
"""How far from the expected cycle a cycle is searched."""


@dataclass(frozen=True)
class Frames:
    """Frames of one stream where they leave the device."""

    begin: Times
    """int64: first bit of the preamble."""
    wire: Times
    """int64: time from there to the last bit of the FCS."""

    def since(self, ns: int) -> Frames:
        """The frames that began at this time or later."""
        first = int(np.searchsorted(self.begin, ns))
        return Frames(self.begin[first:], self.wire[first:])

    def __len__(self) -> int:
        return len(self.begin)


@dataclass(frozen=True)
class Cycle:
    """A period of a list."""

    ns: float
    share: float
    """Of the times that could have a partner one cycle later, those that have one."""
    times: int
    """Number of times that could have a partner."""
    cycles: int
    """The estimate is that of a difference over this many cycles."""


def after_idle(frames: Frames, gap_ns: float, slack_ns: float) -> Times:
    """Begins of frames that found the wire idle: only these show the opening of a gate.

    The first frame is left out: nothing is known of the wire before it.
    """
    ends = frames.begin[:-1] + frames.wire[:-1]
    waited: Times = frames.begin[1:][frames.begin[1:] - ends > gap_ns + slack_ns]
    return waited


def densest(values: Times, width: float) -> tuple[int, float]:
    """The largest number of values within ``width``, and their median; (0, 0) without values."""
    if not len(values):
        return 0, 0.0
    ordered = np.sort(values)
    counts = np.searchsorted(ordered, ordered + width, side="right") - np.arange(len(ordered))
    first = int(counts.argmax())
    return int(counts[first]), float(np.median(ordered[first : first + counts[first]]))


def _apart(times: Times, low: float, high: float) -> tuple[Times, Times]:
    """Differences of all pairs between ``low`` and ``high``, and the place of the earlier one of each."""
    first = np.searchsorted(times, times + low, side="left")
    last = np.searchsorted(times, times + high, side="right")
    counts = last - first
    earlier = np.repeat(np.arange(len(times)), counts)
    later = np.arange(len(earlier)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    return times[later] - times[earlier], earlier


def cycle_of(times: Times, expected_ns: float, width_ns: float) -> Cycle | None:
    """The period of times that repeat, near the expected one; None without two such times.

    Args:
        times: of openings.
        expected_ns: the cycle of the list; other cycles are searched within 5 %.
        width_ns: times of equal openings differ by at most this.
    """
    low, high = (1 - SEARCHED) * expected_ns, (1 + SEARCHED) * expected_ns
    apart, earlier = _apart(times, low, high)
    could = int(np.searchsorted(times, times[-1] - high, side="right")) if len(times) else 0
    if not len(apart) or not could:
        return None
    count, found = densest(apart, width_ns)
    near = np.abs(apart - found) <= width_ns
    have = len(np.unique(earlier[near & (earlier < could)]))
    cycles = 1
    while 2 * cycles * found <= times[-1] - times[0] and count:
        apart, _ = _apart(times, 2 * cycles * found - 3 * width_ns, 2 * cycles * found + 3 * width_ns)
        count, median = densest(apart, width_ns)
        if count < 3:
            break
        cycles *= 2
        found = median / cycles
    return Cycle(found, have / could, could, cycles)


@dataclass(frozen=True)
class Group:
    """Times of one opening, folded into one cycle."""

    at: float
    count: int
    spread: float
    """From the first to the last one."""


def groups(phases: Times, cycle_ns: float, width_ns: float, least: float) -> list[Group]:
    """Groups of phases in [0, cycle) whose neighbours are at most ``width_ns`` apart.

    A group of fewer than ``least`` phases is left out. A group across the end of the cycle is one group,
    whose middle is in [0, cycle).
    """
    if not len(phases):
        return []
    ordered = np.sort(phases.astype(float))
    breaks = np.flatnonzero(np.diff(ordered) > width_ns) + 1
    parts = np.split(ordered, breaks)
    if len(parts) > 1 and parts[0][0] + cycle_ns - parts[-1][-1] <= width_ns:
        parts = [*parts[1:-1], np.concatenate([parts[-1] - cycle_ns, parts[0]])]
    found = [
        Group(float(np.median(part)) % cycle_ns, len(part), float(part[-1] - part[0]))
        for part in parts
        if len(part) >= least
    ]
    return sorted(found, key=lambda one: one.at)


def nearest(value: float, cycle_ns: float) -> float:
    """A difference of two phases in [-cycle / 2, cycle / 2)."""
    return (value + cycle_ns / 2) % cycle_ns - cycle_ns / 2


def common_shift(
    found: Mapping[int, Sequence[float]],
    planned: Mapping[int, Sequence[float]],
    cycle_ns: float,
    width_ns: float,
) -> tuple[float, int]:
    """The shift of the whole list that most openings have, and how many have it; of equals, the smallest.

    Args:
        found: openings in the cycle by class.
        planned: those of the list by class.
        cycle_ns: the cycle.
        width_ns: shifts that differ by at most this are equal.
    """
    shifts = [
        nearest(one - other, cycle_ns)
        for own, times in found.items()
        for one in times
        for other in planned[own]
    ]
    best = (0.0, 0)
    for candidate in sorted(shifts, key=abs):
        agree = [
            one
            for own, others in planned.items()
            for other in others
            if abs(one := _closest(found[own], other + candidate, cycle_ns)) <= width_ns
        ]
        if len(agree) > best[1]:
            best = (nearest(candidate + float(np.median(agree)), cycle_ns), len(agree))
    return best


def _closest(times: Sequence[float], to: float, cycle_ns: float) -> float:
    """The smallest difference of one of the times from a time of the cycle."""
    return min((nearest(one - to, cycle_ns) for one in times), key=abs, default=cycle_ns)


def deviations(
    found: Sequence[float], planned: Sequence[float], cycle_ns: float, most_ns: float
) -> list[float] | None:
    """The difference of each planned opening; None unless each has one found within ``most_ns``, and none is
    left over."""
    if len(found) != len(planned):
        return None
    near = [_closest(found, one, cycle_ns) for one in planned]
    used = {round((one + off) % cycle_ns) for one, off in zip(planned, near, strict=True)}
    return near if len(used) == len(found) and all(abs(one) <= most_ns for one in near) else None


def last_ends(frames: Frames, openings: Sequence[float], origin_ns: float, cycle_ns: float) -> Times:
    """The latest end of a frame in each window, counted from the window's opening.

    Args:
        frames: of one class.
        openings: phases, ascending.
        origin_ns: where phases count from.
        cycle_ns: the cycle.
    """
    offsets, windows = _in_windows(frames, openings, origin_ns, cycle_ns)
    ends = np.full(len(openings), -np.inf)
    np.maximum.at(ends, windows, offsets + frames.wire)
    return ends


def beyond(
    frames: Frames, openings: Sequence[float], latest: Times, origin_ns: float, cycle_ns: float
) -> Times:
    """By how much each frame ends behind the latest permitted end of its window; arguments as above."""
    offsets, windows = _in_windows(frames, openings, origin_ns, cycle_ns)
    over: Times = offsets + frames.wire - latest[windows]
    return over


EARLY_NS = 1_000
"""A frame that begins up to this before an opening belongs to the window, as far as stamps are that wrong."""


def _in_windows(
    frames: Frames, openings: Sequence[float], origin_ns: float, cycle_ns: float
) -> tuple[Times, Times]:
    """The begin of each frame counted from the opening before it, and the number of that window."""
    starts = np.asarray(openings, dtype=float)
    early = min(EARLY_NS, cycle_ns / 100)
    phase = (frames.begin - origin_ns + early) % cycle_ns
    windows = np.searchsorted(starts, phase, side="right") - 1
    before = windows < 0
    offsets = phase - early - starts[windows] + np.where(before, cycle_ns, 0)
    return offsets, windows % len(starts)


def line(x: Times, y: Times) -> tuple[float, float, float]:
    """The line a + b x of least squares: a, b, and the greatest distance of a value from it."""
    b = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    a = float(y.mean() - b * x.mean())
    return a, b, float(np.abs(y - a - b * x).max())
