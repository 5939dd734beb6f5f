"""Bisection on an exact grid: the first or the greatest value that meets all requirements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """The result of a search on a grid of values."""

    place: int | None
    """The first value that meets, by its place; none if no evaluated value meets."""
    evaluated: dict[int, bool]
    """Every evaluated place, and whether it meets."""
    certain: bool
    """Whether the answer holds for every grid, also for one where meeting comes and goes."""
    back: int | None = None
    """A place beyond the answer that does not meet: the grid is not monotone."""


def first(count: int, meets: Callable[[int], bool], every: bool = False) -> Found:
    """The first of ``count`` places that meets all requirements.

    Bisection assumes that every place after one that meets also meets. The place before the answer is always
    evaluated, and so is the one after it: if it does not meet, ``back`` says so.

    Args:
        count: number of places.
        meets: evaluates a place.
        every: evaluate every place, with no assumption.
    """
    known: dict[int, bool] = {}

    def ask(place: int) -> bool:
        if place not in known:
            known[place] = meets(place)
        return known[place]

    if every:
        met = [place for place in range(count) if ask(place)]
        answer: int | None = met[0] if met else None
        return Found(answer, known, True, _back(known, answer))
    low, high = 0, count - 1
    if ask(low):
        answer = low
    elif not ask(high):
        return Found(None, known, count <= 2)
    else:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if ask(middle) else (middle, high)
        answer = high
    if answer + 1 < count:
        ask(answer + 1)
    return Found(
        answer, known, answer == 0 or all(place in known for place in range(answer)), _back(known, answer)
    )


def greatest(begin: int, most: int, meets: Callable[[int], bool]) -> Found:
    """The greatest number from 1 to ``most`` that meets all requirements; ``begin`` is tried first.

    It is assumed that every number before one that meets also meets. The number after the answer is always
    evaluated. No number is evaluated that is twice the answer, or twice ``begin``, or greater.
    """
    known: dict[int, bool] = {}

    def ask(number: int) -> bool:
        if number not in known:
            known[number] = meets(number)
        return known[number]

    low, step = begin, 1
    if ask(begin):
        high = begin + 1
        while high <= most and ask(high):
            low, step = high, 2 * step
            high = min(low + step, most) if low < most else most + 1
    elif begin > 1 and ask(1):
        low, high = 1, begin
    else:
        return Found(None, known, most == 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ask(middle) else (low, middle)
    return Found(low, known, low == most)


def _back(known: dict[int, bool], answer: int | None) -> int | None:
    """The first evaluated place beyond the answer that does not meet."""
    if answer is None:
        return None
    return min((place for place, met in known.items() if place > answer and not met), default=None)
