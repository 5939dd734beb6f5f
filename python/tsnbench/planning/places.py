"""The places in a scenario's file of the parts of its Plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.plan.warnings.doubt import Doubt, PlanWarning
from tsnbench.planning.selectors import shaper_path
from tsnbench.scenario.model import Scenario


@dataclass(frozen=True)
class ScenarioPlaces:
    """The scenario of a Plan."""

    scenario: Scenario
    doubts: Sequence[PlanWarning] = ()
    """Warnings of the passes."""

    def path_of(self, doubt: Doubt) -> str:
        """The part of the scenario that a doubt concerns, as the file spells it."""
        if doubt.port:
            return shaper_path(self.scenario, doubt.port, doubt.path)
        return doubt.path

    def where(self, path: str) -> str:
        """``file:line:column``; empty if no file was read."""
        return self.scenario.where(path) if path else ""

    def text(self) -> str:
        """What was read; empty if this is not what was planned."""
        return self.scenario.text()

    @property
    def cautions(self) -> list[PlanWarning]:
        """Warnings from the reading of the file and from planning."""
        read = self.scenario.cautions
        return [
            *(PlanWarning(one.kind, one.path, one.text, one.path, one.where, one.hint) for one in read),
            *self.doubts,
        ]
