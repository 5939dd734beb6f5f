"""``tsnbench tune``: the smallest or greatest value of one parameter that keeps every requirement."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_message, user_errors

if TYPE_CHECKING:
    from tsnbench.tuning.question import Answer, Evaluation


def tune(
    file: Annotated[Path, argument("FILE", "Scenario file with a sweep: the parameter's list is the grid.")],
    first: Annotated[
        str | None, option("PARAMETER", "Find the first value of this parameter's list that meets.")
    ] = None,
    last: Annotated[
        str | None, option("PARAMETER", "Find the last value of this parameter's list that meets.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(metavar="JUDGE", help="What decides: bounds (worst case) or simulation (one run each)."),
    ] = "bounds",
    only: Annotated[
        list[str] | None, option("PARAMETER=VALUE", "Only the runs with this parameter: hops=3.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="Judge every value of the list, in place of bisection.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answers and evaluations as JSON.")] = False,
) -> None:
    """Find the first or last value of a sweep's parameter that keeps every requirement, by bisection."""
    from tsnbench.scenario import load_variants
    from tsnbench.scenario.selection import selected
    from tsnbench.tuning.question import Judge, answers

    if (first is None) == (last is None):
        fail(Exit.INPUT_WRONG, "expected one of --first and --last")
    if by not in list(Judge):
        fail(Exit.INPUT_WRONG, f"--by: expected {' or '.join(Judge)}, found {by}")
    with user_errors():
        scenarios = selected(load_variants(file), only or [])
        parameter = first or last or ""
        found = answers(
            scenarios, parameter, Judge(by), file=str(file), greatest=last is not None, every=every
        )
        if as_json:
            print_json({"parameter": parameter, "judge": by, "answers": [asdict(one) for one in found]})
        else:
            for one in found:
                _print(one, parameter, "last" if last else "first")
    if any(one.value is None for one in found):
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _print(answer: Answer, parameter: str, which: str) -> None:
    others = "".join(f"{key} {value}: " for key, value in answer.others.items())
    spent = f"{len(answer.evaluations)} of {answer.values} values judged"
    if answer.value is None:
        print_line(f"{others}no {parameter} meets every requirement ({spent})")
        for one in answer.evaluations:
            print_message(f"  {one.value}: {one.reason}")
        if not answer.certain:
            print_message("  hint: only both ends were judged; --every judges all values")
        return
    print_line(f"{others}{which} {parameter} that meets every requirement: {answer.value} ({spent})")
    for one in _neighbours(answer):
        print_message(f"  {one.value}: {one.reason}")
    if answer.back is not None:
        print_message(
            f"  note: {answer.back} is beyond it and does not meet: meeting comes and goes along the list"
        )
        if len(answer.evaluations) < answer.values:
            print_message("  hint: --every judges all values")
    print_message(f"  to see it: {answer.command}")


def _neighbours(answer: Answer) -> list[Evaluation]:
    """The evaluations before, of and after the answer."""
    place = [one.value for one in answer.evaluations].index(answer.value or "")
    return answer.evaluations[max(0, place - 1) : place + 2]
