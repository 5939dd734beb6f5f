"""Scenario to Plan: a scenario's every open question is decided here, in passes, one per file."""

from tsnbench.plan.document import Plan, PlanReadError
from tsnbench.plan.warnings.doubt import PlanWarning
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.passes import plan

__all__ = ["Plan", "PlanReadError", "PlanWarning", "PlanningErrors", "PlanningProblem", "plan"]
