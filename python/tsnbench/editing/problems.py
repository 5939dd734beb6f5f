"""The problems and warnings of a text that may not be saved: those of ``tsnbench check``."""

from __future__ import annotations

from typing import TypedDict

from tsnbench.messages import code_of_warning
from tsnbench.planning import Plan, PlanningErrors
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
    answer, runs = checked_plans(text, file)
    return answer, [scenario for scenario, _ in runs]


def checked_plans(text: str, file: str) -> tuple[Checked, list[tuple[Scenario, Plan | None]]]:
    """The answer of :func:`checked`, and every run of the text: its scenario, and the first one's Plan."""
    found: dict[str, dict[str, str | int]] = {}
    warnings: dict[str, dict[str, str]] = {}
    runs: list[tuple[Scenario, Plan | None]] = []
    try:
        for scenario in read_scenario(text, file):
            runs.append((scenario, None))
            try:
                plan = make_plan(scenario)
                warnings |= {
                    str(one): one.as_dict() | {"code": code_of_warning(one.kind)} for one in plan.warnings
                }
                # Only the first Plan is kept: those of a large sweep need too much memory.
                runs[-1] = (scenario, plan if len(runs) == 1 else None)
            except PlanningErrors as errors:
                found |= {str(problem): problem.as_dict() for problem in errors.problems}
    except ScenarioErrors as errors:
        found = {str(problem): problem.as_dict() for problem in errors.problems}
    answer: Checked = {"ok": not found, "problems": list(found.values()), "warnings": list(warnings.values())}
    return answer, runs
