"""Scenario to Plan: a scenario's every open question is decided here, in passes, one per file."""

from tsnbench.planning.document import Plan, PlanWarning
from tsnbench.planning.errors import PlanningErrors, PlanningProblem, PlanReadError
from tsnbench.planning.passes import plan

__all__ = ["Plan", "PlanReadError", "PlanWarning", "PlanningErrors", "PlanningProblem", "plan"]
