"""Scenario to Plan: the passes decide every open question of a scenario, one per file."""

from tsnbench.plan.document import Plan, PlanReadError
from tsnbench.plan.warnings.doubt import PlanWarning
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.passes import plan

__all__ = ["Plan", "PlanReadError", "PlanWarning", "PlanningErrors", "PlanningProblem", "plan"]
