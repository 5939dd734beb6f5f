"""The time of the exact engine, counted in its work, so that a problem always has the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from tsnbench.libraries import cp_model


class Answer(Enum):
    FOUND = "found"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


@dataclass
class Budget:
    """Deterministic seconds."""

    left: float

    def solve(self, model: Any, most: float | None = None) -> tuple[Answer, Any]:
        """Solves a model within the rest of the budget, at most ``most`` of it; returns the solver with its
        values."""
        solver: Any = cp_model.CpSolver()
        limits = solver.parameters
        limits.num_workers = 1
        limits.random_seed = 1
        limits.max_deterministic_time = max(0.0, self.left if most is None else min(most, self.left))
        status = solver.solve(model)
        self.left -= solver.deterministic_time
        if status == cp_model.INFEASIBLE:
            return Answer.IMPOSSIBLE, solver
        found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        return (Answer.FOUND if found else Answer.UNKNOWN), solver
