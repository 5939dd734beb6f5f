"""An axis of a panel: its range, where values are on it, and its marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tsnbench.report.figures.writers import ticks

MARGIN = 0.05
"""The share of an axis that is free beyond the data, at each end; as in matplotlib."""
AROUND = 0.055
"""The free share of a single value at each side of it; as in matplotlib."""
TICK = 3.5
"""Points."""
Place = Callable[[float], float]
"""A value's place on an axis in points."""


@dataclass
class Axis:
    """One axis: its range, its marks and its label."""

    scale: Literal["linear", "log"] = "linear"
    low: float | None = None
    high: float | None = None
    least: float = math.inf
    """Of the data."""
    greatest: float = -math.inf
    least_above_0: float = math.inf
    """Where a logarithmic axis can begin."""
    begins_at_data: bool = False
    """Whether there is no room below the least value: bars stand on the axis."""
    given: list[tuple[float, str]] | None = None
    """Marks with their texts."""
    parts: Sequence[int] = (1,)
    """Of each decade, which multiples have a label."""
    most: int | None = None
    """Most marks."""
    whole: bool = False
    minor: bool = True
    label: str = ""
    grid: bool = True
    length: float = TICK
    format: Callable[[float, float], str] | None = None

    def see(self, values: Iterable[float]) -> None:
        """The range of the data includes these values."""
        for value in values:
            self.least, self.greatest = min(self.least, value), max(self.greatest, value)
            if value > 0:
                self.least_above_0 = min(self.least_above_0, value)

    def limits(self) -> tuple[float, float]:
        """The range of the axis: as set, or that of the data with room beyond it."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        least, greatest = (self.least, self.greatest) if self.least <= self.greatest else (0.0, 1.0)
        if self.scale == "log":
            least, greatest = (self.least_above_0, greatest) if self.least_above_0 < math.inf else (0.1, 1.0)
            a, b = math.log10(least), math.log10(greatest)
            room = (b - a) * MARGIN or 0.05
            low, high = 10 ** (a - room), 10 ** (b + room)
        else:
            room = (greatest - least) * MARGIN or (abs(greatest) or 1.0) * AROUND
            low, high = least - (0 if self.begins_at_data else room), greatest + room
        return low if self.low is None else self.low, high if self.high is None else self.high

    def place(self, begin: float, end: float) -> Place:
        """Where values are between two places in points."""
        low, high = self.limits()
        if self.scale == "log":
            a, b = math.log10(low), math.log10(high)
            return lambda value: (
                begin + (end - begin) * (math.log10(value) - a) / (b - a) if value > 0 else 2 * begin - end
            )
        span = (end - begin) / ((high - low) or 1.0)
        return lambda value: begin + span * (value - low)

    def marks(self, length: float, room: float) -> list[tuple[float, str]]:
        """The marks within the range, with their texts, for an axis of so many points.

        ``room``: points that a mark needs.
        """
        low, high = self.limits()
        least, greatest = min(low, high), max(low, high)
        if self.given is not None:
            return [(at, text) for at, text in self.given if least <= at <= greatest]
        if self.scale == "log":
            found = ticks.decades(least, greatest, self.parts)
        else:
            most = self.most or max(2, min(9, int(length / room)))
            found = ticks.linear(least, greatest, most, self.whole)
        return [(at, self.text(at)) for at in found]

    def text(self, at: float) -> str:
        """The text of a mark."""
        at = float(f"{at:.10g}")
        return self.format(at, 0) if self.format else f"{at:.10g}".replace("-", "\N{MINUS SIGN}")

    def minors(self) -> list[float]:
        """Marks without texts."""
        if self.scale != "log" or not self.minor or self.given is not None:
            return []
        return ticks.decades(*self.limits(), (2, 3, 4, 5, 6, 7, 8, 9))

    # matplotlib's names.
    def set_major_formatter(self, format: Callable[[float, float], str]) -> None:
        """The texts of the marks."""
        self.format = format

    def set_label_text(self, text: str) -> None:
        """The label of the axis."""
        self.label = text
