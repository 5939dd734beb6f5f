"""A case of the twin suite: a scenario, and what it has to show, computed, simulated, and on a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench.plan.document import Plan as Planned
from tsnbench.runs import Run

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "twin"

Value = float | str
"""A number in the quantity's unit, or words that have to be the same."""
Plan = dict[str, Any]


@dataclass(frozen=True)
class Quantity:
    """One thing that is computed and seen."""

    what: str
    unit: str
    closed: Callable[[Plan], Value]
    """From the Plan alone, by arithmetic of this folder; never by the simulator."""
    seen: Callable[[Run], Value]
    simulator: float = 0.001
    """How far the simulator may be off; a ns unless said: stamps are rounded to it."""
    below: float = 0.0
    """How far a kernel may be below the closed form."""
    above: float = 0.0
    why: str = ""
    """Where the kernel's tolerance comes from."""
    paper: str = ""
    variant: str = ""
    """Of a sweep, the run it is about: its parameters' values."""

    def agrees(self, closed: Value, found: Value, *, kernel: bool) -> bool:
        """Within the tolerance; words have to be the same."""
        if isinstance(closed, str) or isinstance(found, str):
            return closed == found
        below, above = (self.below, self.above) if kernel else (self.simulator, self.simulator)
        return -below - 1e-9 <= found - closed <= above + 1e-9


@dataclass(frozen=True)
class Case:
    """One scenario of ``scenarios/twin`` and its quantities."""

    name: str
    quantities: tuple[Quantity, ...]
    words: str
    """What the kernel taught here: every disagreement, explained."""
    dilate: int = 10
    short: bool = False
    """Also part of the ordinary tests."""
    own: Callable[[Planned], Mapping[str, Value]] | None = None
    """Where the kernel's counterpart is not this Plan: an experiment in a guest of its own, which says by the
    names of the quantities what it found."""

    @property
    def path(self) -> Path:
        """The scenario's file."""
        return SCENARIOS / f"{self.name}.yaml"
