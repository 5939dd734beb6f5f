"""A quantity that may be left to the planner: ``plan`` in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsnbench.scenario.kinds.values import Quantity
from tsnbench.scenario.text.reading import Bad, Reading
from tsnbench.scenario.text.source import Scalar


@dataclass(frozen=True)
class OrPlan:
    """The quantity, or ``planned`` where it is to plan."""

    quantity: Quantity
    planned: int | None = None

    @property
    def expected(self) -> str:
        return f"{self.quantity.expected}, or plan"

    def read(self, reading: Reading, value: Any, path: str) -> int | Bad | None:
        scalar = reading.scalar(value, path, self.expected)
        if isinstance(scalar, Scalar) and scalar.text.strip() == "plan":
            return self.planned
        return self.quantity.read(reading, value, path)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.quantity.schema(), {"const": "plan"}]}
