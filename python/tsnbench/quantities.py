"""Quantities in words: the one place that decides on units and digits, for terminals, pages and messages.

Two rules: :func:`exact` keeps every nanosecond, for values that are typed into a device or judged against a
limit; everything else is rounded for reading, to at most three decimals. Pages set these words in their own
type.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

UNKNOWN = "\u2013"
"""What is printed for a number that is not known."""
_Units = tuple[tuple[str, int], ...]
_RATES: _Units = (
    ("Tbit/s", 10**12), ("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3), ("bit/s", 1)
)  # fmt: skip
_TIMES: _Units = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))
_SIZES: _Units = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6))


def time(ns: Fraction | float, digits: int = 3) -> str:
    """``12.336 us``: rounded for reading, to at most three decimals."""
    return _scaled(ns, _TIMES, digits)


def exact(ns: float) -> str:
    """``1.234567 ms``: to the nanosecond, and a mean below 1 us to a tenth of it."""
    if not float(ns).is_integer() and abs(ns) < 1_000:
        return f"{trimmed(f'{ns:.1f}')} ns"
    count = round(ns)
    unit, worth = _unit(count, _TIMES)
    whole, rest = divmod(abs(count), worth)
    digits = f"{rest:0{len(str(worth)) - 1}d}".rstrip("0") if worth > 1 else ""
    return f"{'-' if count < 0 else ''}{whole}{'.' + digits if digits else ''} {unit}"


def micros(ns: float | None, digits: int = 3) -> str:
    """``1,234.567``: us with the ns in the decimals, for a column whose head names the unit."""
    return UNKNOWN if ns is None else f"{ns / 1_000:,.{digits}f}"


def rate(bps: Fraction | float) -> str:
    """``89.152 Mbit/s``: at most three decimals."""
    return _scaled(bps, _RATES)


def size(octets: float) -> str:
    """``3.4 GB``: three digits, for sizes on a disk."""
    unit, worth = _unit(octets, _SIZES)
    return f"{octets / worth:.3g} {unit}" if octets >= worth else f"{octets:.0f} B"


def share(part: Fraction | float, whole: Fraction | float = 1) -> str:
    """``8.9 %``."""
    return f"{float(Fraction(part) * 100 / Fraction(whole)):.1f} %"


def share_of(part: float | None) -> str:
    """``8.9 %`` of a limit; ``beyond`` of a limit of zero."""
    return "beyond" if part is None else share(part)


def count(number: int | None) -> str:
    """``1,234,567``."""
    return UNKNOWN if number is None else f"{number:,}"


def quantity(value: float | None, unit: str) -> str:
    """A limit, a finding or a margin in its own unit: durations exact, large shares in percent."""
    if value is None:
        return UNKNOWN
    if unit == "ns":
        return exact(value)
    if unit == "bit/s":
        return rate(value)
    if unit == "ppm" and (not value or abs(value) >= 10_000):
        value, unit = value / 10_000, "%"
    return f"{value:,.6g} {unit}"


def some(names: Sequence[str], most: int = 4) -> str:
    """``a, b and 3 more``: one name less than ``most`` where there are more."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


def ranges(numbers: Sequence[int]) -> str:
    """``0-3,7`` of ascending numbers."""
    grouped = groupby(enumerate(numbers), lambda each: each[1] - each[0])
    runs = [[number for _, number in run] for _, run in grouped]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def trimmed(text: str) -> str:
    """Without the zeros at the end of a decimal fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _unit(value: Fraction | float, units: _Units) -> tuple[str, int]:
    """The largest unit of which there is one."""
    size = abs(Fraction(value))
    return next(((unit, worth) for unit, worth in units if size >= worth), units[-1])


def _scaled(value: Fraction | float, units: _Units, digits: int = 3) -> str:
    unit, worth = _unit(value, units)
    return f"{trimmed(f'{float(Fraction(value) / worth):.{digits}f}')} {unit}"
