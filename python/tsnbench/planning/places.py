"""Where in a scenario's file the parts of its Plan were written."""

from __future__ import annotations

from dataclasses import dataclass

from tsnbench.plan.warnings.doubt import Doubt, PlanWarning
from tsnbench.planning.selectors import shaper_path
from tsnbench.scenario.model import Scenario


@dataclass(frozen=True)
class ScenarioPlaces:
    """The scenario that a Plan was made from."""

    scenario: Scenario

    def path_of(self, doubt: Doubt) -> str:
        """The part of the scenario that a doubt is about, as the file says it."""
        if doubt.port:
            return shaper_path(self.scenario, doubt.port, doubt.path)
        return doubt.path

    def where(self, path: str) -> str:
        """``file:line:column``; empty where no file was read."""
        return self.scenario.where(path) if path else ""

    @property
    def cautions(self) -> list[PlanWarning]:
        """What was doubtful while the file was read."""
        return [
            PlanWarning(one.kind, one.path, one.text, one.path, one.where, one.hint)
            for one in self.scenario.cautions
        ]
