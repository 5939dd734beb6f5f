"""A quantity that may be left to the planner: ``plan`` in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsnbench.scenario.grammar.values import Quantity
from tsnbench.scenario.reading import Bad, Reading
from tsnbench.scenario.source import Scalar


@dataclass(frozen=True)
class OrPlan:
    """The quantity, or None where it is to plan."""

    quantity: Quantity

    @property
    def expected(self) -> str:
        return f"{self.quantity.expected}, or plan"

    def read(self, reading: Reading, value: Any, path: str) -> int | Bad | None:
        scalar = reading.scalar(value, path, self.expected)
        if isinstance(scalar, Scalar) and scalar.text.strip() == "plan":
            return None
        return self.quantity.read(reading, value, path)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.quantity.schema(), {"const": "plan"}]}
