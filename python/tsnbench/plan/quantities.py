"""Quantities in the words of the scenario language, for tables and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

_RATES = (("Tbit/s", 10**12), ("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3), ("bit/s", 1))
_TIMES = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def rate(bps: Fraction | int) -> str:
    """``89.152 Mbit/s``: at most three decimals."""
    return _scaled(bps, _RATES)


def time(ns: Fraction | int) -> str:
    """``12.336 us``: at most three decimals."""
    return _scaled(ns, _TIMES)


def exact(ns: int) -> str:
    """``1.234567 ms``: every digit, for what is typed into a device."""
    unit, worth = next(((unit, worth) for unit, worth in _TIMES if abs(ns) >= worth), _TIMES[-1])
    whole, rest = divmod(abs(ns), worth)
    digits = f"{rest:0{len(str(worth)) - 1}d}".rstrip("0") if worth > 1 else ""
    return f"{'-' if ns < 0 else ''}{whole}{'.' + digits if digits else ''} {unit}"


def share(part: Fraction | int, whole: int) -> str:
    """``8.9 %``."""
    return f"{float(Fraction(part) * 100 / whole):.1f} %"


def some(names: list[str], most: int = 4) -> str:
    """``a, b and 3 more``."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


def ranges(numbers: Sequence[int]) -> str:
    """``0-3,7`` of ascending numbers."""
    grouped = groupby(enumerate(numbers), lambda each: each[1] - each[0])
    runs = [[number for _, number in run] for _, run in grouped]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _scaled(value: Fraction | int, units: tuple[tuple[str, int], ...]) -> str:
    exact = Fraction(value)
    unit, worth = next(((unit, worth) for unit, worth in units if abs(exact) >= worth), units[-1])
    text = f"{float(exact / worth):.3f}".rstrip("0").rstrip(".")
    return f"{text} {unit}"
