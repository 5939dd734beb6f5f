"""A case of the twin suite: a scenario and its quantities: computed, simulated, and on a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.guest_batch import Script
from tsnbench.plan.document import Plan as Planned
from tsnbench.runs import Run

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "twin"

Value = float | str
"""A number in the quantity's unit, or words that must be equal."""
Plan = dict[str, Any]


@dataclass(frozen=True)
class Quantity:
    """One quantity that is computed and observed."""

    what: str
    unit: str
    closed: Callable[[Plan], Value]
    """The value from the Plan alone, by arithmetic of this folder; never from the simulator."""
    seen: Callable[[Run], Value]
    simulator: float = 0.001
    """The tolerance of the simulator; by default a ns, to which stamps are rounded."""
    below: float = 0.0
    """The tolerance of a kernel below the closed form."""
    above: float = 0.0
    why: str = ""
    """The reason for the kernel's tolerance."""
    paper: str = ""
    variant: str = ""
    """The run of a sweep, by the values of its parameters."""

    def agrees(self, closed: Value, found: Value, *, kernel: bool) -> bool:
        """Whether a value is within the tolerance; words must be equal."""
        if isinstance(closed, str) or isinstance(found, str):
            return closed == found
        below, above = (self.below, self.above) if kernel else (self.simulator, self.simulator)
        return -below - 1e-9 <= found - closed <= above + 1e-9


def frames(
    what: str,
    closed: Callable[[Plan], Value],
    seen: Callable[[Run], Value],
    below: float = 0.0,
    above: float = 0.0,
    why: str = "",
) -> Quantity:
    """A number of frames, which the simulator has exactly."""
    return Quantity(what, "frames", closed, seen, simulator=0.0, below=below, above=above, why=why)


@dataclass(frozen=True)
class Own:
    """An experiment in the guest that is not the Plan itself."""

    script: Callable[[Planned], Script]
    figures: Callable[[Planned, Mapping[str, bytes]], Mapping[str, Value]]
    """The results of the script, by the names of the quantities."""


@dataclass(frozen=True)
class Case:
    """One scenario of ``scenarios/twin`` and its quantities."""

    name: str
    quantities: tuple[Quantity, ...]
    words: str
    """The explanation of every disagreement on the kernel."""
    dilate: int = 10
    short: bool = False
    """Whether the ordinary tests run the case, too."""
    own: Own | None = None
    """Another experiment, if the kernel's counterpart is not this Plan."""

    @property
    def path(self) -> Path:
        """The scenario's file."""
        return SCENARIOS / f"{self.name}.yaml"
