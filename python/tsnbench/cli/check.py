"""``tsnbench check``, ``schema`` and ``catalogue``: what can be said without planning."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tsnbench.cli.console.options import argument
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_message, user_errors
from tsnbench.cli.console.strict import HELP

if TYPE_CHECKING:
    from tsnbench.planning import Plan


def check(
    files: Annotated[list[Path], argument("FILE", "Scenario files.")],
    as_json: Annotated[bool, typer.Option("--json", help="Problems and warnings as JSON on stdout.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help=HELP)] = False,
) -> None:
    """Check scenarios: read and plan them, and report every mistake at once."""
    from tsnbench.planning import PlanningErrors
    from tsnbench.planning import plan as make_plan
    from tsnbench.scenario import ScenarioErrors, load_variants

    problems: list[dict[str, Any]] = []
    doubtful: list[dict[str, str]] = []
    wrong = False
    for file in files:
        with user_errors():
            plans: list[Plan] = []
            found: dict[str, dict[str, Any]] = {}
            try:
                scenarios = load_variants(file)
            except ScenarioErrors as errors:
                found = {str(problem): problem.as_dict() for problem in errors.problems}
            else:
                for scenario in scenarios:
                    try:
                        plans.append(make_plan(scenario))
                    except PlanningErrors as errors:
                        found |= {str(problem): problem.as_dict() for problem in errors.problems}
        warnings = list(dict.fromkeys(warning for plan in plans for warning in plan.warnings))
        problems += found.values()
        doubtful += [warning.as_dict() for warning in warnings]
        wrong = wrong or bool(found) or (strict and bool(warnings))
        if not as_json:
            for text in found:
                print_message(text)
        if not as_json and plans and not found:
            runs = "1 run" if len(plans) == 1 else f"{len(plans)} runs"
            flows = len(plans[0].document["streams"])
            print_line(f"{file}: ok: {runs}, {flows} flow{'' if flows == 1 else 's'}")
            for warning in warnings:
                print_message(str(warning))
            if strict and warnings:
                print_message(f"{file}: --strict: a warning counts as an error")
    if as_json:
        print_json({"ok": not wrong, "problems": problems, "warnings": doubtful})
    if wrong:
        raise typer.Exit(Exit.INPUT_WRONG)


class Subject(StrEnum):
    """The kinds of input files."""

    SCENARIO = "scenario"
    INVENTORY = "inventory"


def schema(
    of: Annotated[Subject, typer.Option(help="The kind of file.")] = Subject.SCENARIO,
) -> None:
    """Print the JSON Schema of scenario files, or of inventories, for editors."""
    if of is Subject.INVENTORY:
        from tsnbench.hosts.inventory.grammar import json_schema
    else:
        from tsnbench.scenario.schema import json_schema

    # Only programs read the schema: without indentation it has less than half the size.
    print_line(json.dumps(json_schema(), separators=(",", ":"), ensure_ascii=False))


def catalogue(
    prefix: Annotated[str, argument("PREFIX", "Only names with this prefix: engine/, flextest/gcl.")] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Names and their meaning as JSON on stdout.")
    ] = False,
) -> None:
    """List the names that a scenario can use in place of numbers: patterns, classes, gate control lists."""
    from tsnbench.scenario.catalogue.listing import entries

    found = [(name, text) for name, text in entries() if name.startswith(prefix)]
    if not found:
        fail(
            Exit.INPUT_WRONG, f"{prefix}: no name begins like this\nhint: tsnbench catalogue lists all names"
        )
    if as_json:
        print_json(dict(found))
    else:
        for name, text in found:
            print_line(f"{name:32} {text}")
