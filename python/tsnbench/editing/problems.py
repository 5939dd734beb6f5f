"""The problems and warnings of a text that may not be saved: those of ``tsnbench check``."""

from __future__ import annotations

from typing import TypedDict

from tsnbench.planning import PlanningErrors
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.loader import read_scenario
from tsnbench.scenario.model import Scenario


class Checked(TypedDict):
    """The answer of ``tsnbench check --json``."""

    ok: bool
    problems: list[dict[str, str | int]]
    warnings: list[dict[str, str]]


def checked(text: str, file: str) -> Checked:
    """Reads and plans a text that may not be saved, and lists all its mistakes.

    Args:
        text: the scenario.
        file: its path: tables beside it are read, and problems name it.
    """
    return checked_scenarios(text, file)[0]


def checked_scenarios(text: str, file: str) -> tuple[Checked, list[Scenario]]:
    """The answer of :func:`checked`, and the scenarios; no scenarios if the text cannot be read."""
    found: dict[str, dict[str, str | int]] = {}
    warnings: dict[str, dict[str, str]] = {}
    scenarios: list[Scenario] = []
    try:
        scenarios = read_scenario(text, file)
        for scenario in scenarios:
            try:
                made = make_plan(scenario).warnings
                warnings |= {str(warning): warning.as_dict() for warning in made}
            except PlanningErrors as errors:
                found |= {str(problem): problem.as_dict() for problem in errors.problems}
    except ScenarioErrors as errors:
        found = {str(problem): problem.as_dict() for problem in errors.problems}
    answer: Checked = {"ok": not found, "problems": list(found.values()), "warnings": list(warnings.values())}
    return answer, scenarios
