"""``tsnbench check``: every mistake of scenarios at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tsnbench.cli.console.completing import scenario_files
from tsnbench.cli.console.options import Strict, argument, json_of, option
from tsnbench.cli.console.output import (
    Exit,
    fail,
    print_json,
    print_json_text,
    print_line,
    print_message,
    print_more,
    user_errors,
)
from tsnbench.cli.planning.sarif import log_of
from tsnbench.messages import code_of_warning
from tsnbench.planning import Plan, PlanningErrors, PlanWarning
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import ScenarioErrors, load_variants


@dataclass(frozen=True)
class Checked:
    """What was found in one file."""

    problems: dict[str, dict[str, Any]]
    """Every mistake once, by its text."""
    plans: list[Plan]
    warnings: list[PlanWarning]
    """Every warning once."""


def check(
    files: Annotated[list[Path], argument("FILE...", "Scenario files.", autocompletion=scenario_files)],
    as_json: Annotated[bool, json_of("Problems and warnings")] = False,
    formats: Annotated[str | None, option("FORMATS", "sarif: on stdout, for code review.", "--as")] = None,
    strict: Strict = False,
) -> None:
    """Read and plan scenarios, and report every mistake at once."""
    if formats not in (None, "sarif") or (formats and as_json):
        fail(Exit.INPUT_WRONG, f"--as: expected sarif, and no --json with it, found {formats}")
    problems: list[dict[str, Any]] = []
    warnings: list[dict[str, str]] = []
    wrong = False
    for file in files:
        with user_errors():
            found = _checked(file)
        problems += found.problems.values()
        warnings += [one.as_dict() | {"code": code_of_warning(one.kind)} for one in found.warnings]
        wrong = wrong or bool(found.problems) or (strict and bool(found.warnings))
        if not (as_json or formats):
            _tell(file, found, strict)
    if formats:
        print_json_text(json.dumps(log_of(problems, warnings)))
    elif as_json:
        print_json("check", {"ok": not wrong, "problems": problems, "warnings": warnings})
    if wrong:
        raise typer.Exit(Exit.INPUT_WRONG)


def _checked(file: Path) -> Checked:
    """The mistakes and the Plans of a file."""
    try:
        scenarios = load_variants(file)
    except ScenarioErrors as errors:
        return Checked({str(problem): problem.as_dict() for problem in errors.problems}, [], [])
    problems: dict[str, dict[str, Any]] = {}
    plans = []
    for scenario in scenarios:
        try:
            plans.append(make_plan(scenario))
        except PlanningErrors as errors:
            problems |= {str(problem): problem.as_dict() for problem in errors.problems}
    warnings = list(dict.fromkeys(warning for plan in plans for warning in plan.warnings))
    return Checked(problems, plans, warnings)


def _tell(file: Path, found: Checked, strict: bool) -> None:
    for text in found.problems:
        print_message(text)
    if codes := sorted({str(one["code"]) for one in found.problems.values()}):
        print_more(codes)
    if found.problems or not found.plans:
        return
    runs = "1 run" if len(found.plans) == 1 else f"{len(found.plans)} runs"
    flows = len(found.plans[0].document["streams"])
    print_line(f"{file}: ok: {runs}, {flows} flow{'' if flows == 1 else 's'}")
    for warning in found.warnings:
        print_message(str(warning))
    if strict and found.warnings:
        print_message(f"{file}: --strict: a warning counts as an error")
