"""A number as a paper prints it: ``12.0 us``, ``52 to 53 us``, ``< 14 ns``, ``97.96 %``, ``YES*``.

Two numbers agree if ours, rounded as the paper rounds, is what it prints: ours is at most half a unit of the
last printed digit away. Where the paper itself states how far its number may be off, that counts instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

UNITS = {
    "": Fraction(1),
    "ns": Fraction(1),
    "us": Fraction(1_000),
    "ms": Fraction(1_000_000),
    "s": Fraction(1_000_000_000),
    "%": Fraction(1, 100),
    "bit/s": Fraction(1),
    "kbit/s": Fraction(1_000),
    "Mbit/s": Fraction(1_000_000),
    "B": Fraction(1),
}
_FIGURE = r"[+-]?\d+(?:\.\d+)?"
_NUMBER = re.compile(
    rf"(?P<relation><=|>=|<|>)? ?(?P<first>{_FIGURE})(?: to (?P<last>{_FIGURE}))? ?(?P<unit>[a-zA-Z/%]*)"
)


@dataclass(frozen=True)
class PrintedNumber:
    """From ``least`` to ``most`` as printed, in ns, bit/s or as a share; ours may be ``slack`` beyond."""

    text: str
    unit: str
    least: Fraction | None
    most: Fraction | None
    slack: Fraction
    strict: bool = False
    """``<`` or ``>``: the limit itself is not below it."""

    @property
    def is_bound(self) -> bool:
        """``< 14 ns``: nothing to round to."""
        return self.least is None or self.most is None

    def agrees(self, ours: float) -> bool:
        found = Fraction(ours)
        if self.strict:
            return (self.most is None or found < self.most) and (self.least is None or found > self.least)
        return (self.least is None or found >= self.least - self.slack) and (
            self.most is None or found <= self.most + self.slack
        )

    def written(self, ours: float) -> str:
        """Ours in the printed unit, with one digit more than the print."""
        places = max(len(found.partition(".")[2]) for found in re.findall(_FIGURE, self.text)) + 1
        if self.unit in ("ns", "") and places == 1 and ours == int(ours):
            places = 0
        return f"{float(Fraction(ours) / UNITS[self.unit]):.{places}f} {self.unit}".strip()


def number(text: str, tolerance: str | None = None) -> PrintedNumber | None:
    """What is printed; None where it is a word.

    Raises:
        ValueError: a number with a unit that is not known.
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    unit = found["unit"]
    if unit not in UNITS:
        raise ValueError(f"expected one of {', '.join(UNITS)}, found {text}")
    first, last = (Fraction(found[key] or found["first"]) * UNITS[unit] for key in ("first", "last"))
    places = len(found["first"].partition(".")[2])
    slack = Fraction(1, 2 * 10**places) * UNITS[unit]
    if tolerance is not None:
        stated = number(tolerance)
        if stated is None or stated.most is None:
            raise ValueError(f"expected a number, found {tolerance}")
        slack = stated.most
    relation = found["relation"] or ""
    least = None if relation.startswith("<") else first
    most = None if relation.startswith(">") else last
    if relation:
        slack = Fraction(0)
    return PrintedNumber(text, unit, least, most, slack, strict=relation in ("<", ">"))
