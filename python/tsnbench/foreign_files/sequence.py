"""What numbers of frames tell: frames that are missing between two that are there, repeated and late ones."""

from __future__ import annotations

from collections.abc import Sequence


def counts(numbers: Sequence[int]) -> dict[str, int | None]:
    """Received frames by their numbers, in the order of their arrival.

    ``lost`` are the numbers that are missing between the smallest and the largest: frames before the first
    and after the last leave no gap.
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
