"""Quantities that may be negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsnbench.scenario.kinds.values import Schema, sweepable
from tsnbench.scenario.text.reading import BAD, Bad, Reading
from tsnbench.scenario.text.source import Value, shown
from tsnbench.scenario.units import Dimension, UnitError


@dataclass(frozen=True)
class Signed:
    """A number with a unit that may be negative, as an integer in the dimension's base unit."""

    dimension: Dimension
    most: int

    @property
    def expected(self) -> str:
        return self.dimension.expected

    def read(self, reading: Reading, value: Value, path: str) -> int | Bad:
        scalar = reading.scalar(value, path, self.expected)
        if isinstance(scalar, Bad):
            return BAD
        text = scalar.text.strip()
        sign = -1 if text.startswith("-") else 1
        try:
            number = sign * self.dimension.parse(text.removeprefix("-" if sign < 0 else "+"))
        except UnitError as error:
            return reading.problem(scalar.place, path, error.expected, shown(text), error.hint)
        if abs(number) > self.most:
            most = self.dimension.text(self.most)
            expected = f"{self.dimension.article} {self.dimension.name} from -{most} to {most}"
            return reading.problem(scalar.place, path, expected, shown(text))
        return number

    def schema(self) -> Schema:
        one: dict[str, Any] = self.dimension.schema()
        return sweepable({**one, "pattern": one["pattern"].replace(r"^\s*", r"^\s*[+-]?", 1)})
