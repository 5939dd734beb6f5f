"""Scenario to Plan: the passes, one per file, fully resolve a scenario."""

from tsnbench.plan.document import Plan, PlanReadError
from tsnbench.plan.warnings.doubt import PlanWarning
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.passes import plan

__all__ = ["Plan", "PlanReadError", "PlanWarning", "PlanningErrors", "PlanningProblem", "plan"]
