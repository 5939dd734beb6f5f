"""Quantities as Saihu writes them: 10, "10us", "2 kB", "4Mbps". All are exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

Dimension = Literal["time", "data", "rate"]
"""Seconds, bits, bits per second."""
BASE: dict[Dimension, str] = {"time": "s", "data": "b", "rate": "bps"}
"""The units of numbers where a file names none."""
EXAMPLES: dict[Dimension, str] = {"time": "10us", "data": "50B", "rate": "4Mbps"}
_MULTIPLIERS = {letter: Fraction(1000) ** power for power, letter in enumerate("afpnum", -6)}
_MULTIPLIERS |= {letter: Fraction(1000) ** power for power, letter in enumerate("kMGTPE", 1)}
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_BITS = {"b": 1, "B": 8}
_UNITS: dict[Dimension, dict[str, Fraction]] = {
    "time": {unit: Fraction(worth) for unit, worth in _SECONDS.items()},
    "data": {unit: Fraction(worth) for unit, worth in _BITS.items()},
    "rate": {
        f"{data}p{time}": Fraction(bits, seconds)
        for data, bits in _BITS.items()
        for time, seconds in _SECONDS.items()
    },
}
_WRITTEN = re.compile(
    r"(?P<number>[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))(?:[eE](?P<power>[+-]?[0-9]{1,2}))?"
    r" *(?P<unit>[A-Za-z]{0,4})"
)


def unit_worth(unit: str, dimension: Dimension) -> Fraction | None:
    """The worth of a unit such as ``us`` or ``Mbps`` in the base unit; None if there is no such unit."""
    units = _UNITS[dimension]
    if unit in units:
        return units[unit]
    multiplier, rest = _MULTIPLIERS.get(unit[:1]), units.get(unit[1:])
    return None if multiplier is None or rest is None else multiplier * rest


def quantity(written: object, dimension: Dimension, unit: str | None) -> Fraction | None:
    """A number with its unit, in the base unit; None: it is none.

    Args:
        written: the text of a number, with or without a unit.
        dimension: what it counts.
        unit: the unit of a number without one; None: it has to have one.
    """
    found = _WRITTEN.fullmatch(written.strip()) if isinstance(written, str) else None
    if found is None:
        return None
    own = found["unit"] or unit
    worth = None if own is None else unit_worth(own, dimension)
    if worth is None:
        return None
    return Fraction(found["number"]) * Fraction(10) ** int(found["power"] or 0) * worth
