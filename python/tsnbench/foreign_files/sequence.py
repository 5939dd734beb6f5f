"""Counts from sequence numbers of frames: missing, repeated and late frames."""

from __future__ import annotations

from collections.abc import Sequence


def counts(numbers: Sequence[int]) -> dict[str, int | None]:
    """Counts of received frames by their numbers, in the order of arrival.

    ``lost`` are the numbers that are missing between the smallest and the largest: a loss before the first or
    after the last frame leaves no gap.
    """
    seen = set(numbers)
    highest: int | None = None
    reordered = 0
    once: set[int] = set()
    for number in numbers:
        if number in once:
            continue
        once.add(number)
        if highest is not None and number < highest:
            reordered += 1
        else:
            highest = number
    lost = max(seen) - min(seen) + 1 - len(seen) if seen else None
    return {
        "received": len(numbers),
        "lost": lost,
        "duplicate": len(numbers) - len(seen),
        "reordered": reordered,
    }


def unwrapped(numbers: Sequence[int], bits: int) -> list[int]:
    """Numbers of some bits, continued after their greatest: each is the nearest to the one before."""
    whole = 1 << bits
    found: list[int] = []
    for number in numbers:
        before = found[-1] if found else number
        found.append(before + (number - before + whole // 2) % whole - whole // 2)
    return found
