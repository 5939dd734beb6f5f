"""``tsnbench tune``: the smallest or greatest value of a parameter that keeps every requirement, and how many
flows fit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_message, user_errors
from tsnbench.quantities import count as count_of
from tsnbench.quantities import share_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.scenario.model import Scenario
    from tsnbench.tuning.question import Answer, Evaluation, Fitting, Judge

SHOWN = 5
"""Rows of what runs out first."""


def tune(
    file: Annotated[Path, argument("FILE", "Scenario file; a sweep's parameter is searched in its list.")],
    first: Annotated[
        str | None, option("PARAMETER", "Find the first value of its list that meets all requirements.")
    ] = None,
    last: Annotated[
        str | None, option("PARAMETER", "Find the last value of its list that meets all requirements.")
    ] = None,
    count: Annotated[
        str | None, option("STREAM", "Find how many flows of this stream fit: the greatest count.")
    ] = None,
    most: Annotated[
        int | None, option("NUMBER", "With --count: no more flows than this; 10000 unless given.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(metavar="JUDGE", help="Decide by bounds (worst case), simulation, vm or netns."),
    ] = "bounds",
    only: Annotated[
        list[str] | None, option("PARAMETER=VALUE", "Only the runs with this parameter: hops=3.")
    ] = None,
    seeds: Annotated[
        int | None,
        option("NUMBER", "Runs of each value, each with another seed; not with bounds."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="Judge every value of the list, in place of bisection.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answers and evaluations as JSON.")] = False,
) -> None:
    """Find the first or last value of a parameter that keeps every requirement, or how many flows fit."""
    from tsnbench.scenario import load_variants
    from tsnbench.scenario.selection import selected
    from tsnbench.tuning.question import MOST_FLOWS, Judge, answers

    if sum(one is not None for one in (first, last, count)) != 1:
        fail(
            Exit.INPUT_WRONG,
            "expected one of --first, --last and --count\n"
            "  hint: --count STREAM needs no change of the scenario; --first and --last "
            "search the list of a parameter",
        )
    for name, given, needs in (("--most", most is not None, count), ("--every", every, first or last)):
        if given and needs is None:
            fail(
                Exit.INPUT_WRONG,
                f"{name}: only with {'--count' if name == '--most' else '--first or --last'}",
            )
    if by not in list(Judge):
        fail(Exit.INPUT_WRONG, f"--by: expected {' or '.join(Judge)}, found {by}")
    if seeds is not None and by == Judge.BOUNDS:
        fail(Exit.INPUT_WRONG, "--seeds: not with --by bounds; the worst case holds for all seeds")
    if seeds is not None and seeds < 1:
        fail(Exit.INPUT_WRONG, f"--seeds: expected at least 1, found {seeds}")
    repeated = 1 if seeds is None else seeds
    with user_errors():
        scenarios = selected(load_variants(file), only or [])
        if count is not None:
            _fitting(scenarios, count, Judge(by), MOST_FLOWS if most is None else most, as_json, repeated)
            return
        parameter = first or last or ""
        found = answers(
            scenarios,
            parameter,
            Judge(by),
            file=str(file),
            greatest=last is not None,
            every=every,
            seeds=repeated,
        )
        if as_json:
            print_json({"parameter": parameter, "judge": by, "answers": [asdict(one) for one in found]})
        else:
            for one in found:
                _print(one, parameter, "last" if last else "first")
    if any(one.value is None for one in found):
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _fitting(
    scenarios: Sequence[Scenario], stream: str, judge: Judge, most: int, as_json: bool, seeds: int
) -> None:
    """Prints how many flows of a stream fit, for each run of a sweep."""
    from tsnbench.tuning.question import fitting

    found = [fitting(scenario, stream, judge, most, seeds) for scenario in scenarios]
    if as_json:
        print_json({"stream": stream, "judge": judge.value, "answers": [asdict(one) for one in found]})
    else:
        for one in found:
            _print_fitting(one, most)
    if any(one.count is None for one in found):
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _print_fitting(found: Fitting, most: int) -> None:
    others = "".join(f"{key} {value}: " for key, value in found.others.items())
    spent = f"{len(found.evaluations)} number{'s' if len(found.evaluations) != 1 else ''} judged"
    if found.count is None:
        print_line(f"{others}not one flow of {found.stream} fits ({spent})")
    else:
        fit = (
            f"1 flow of {found.stream} fits"
            if found.count == 1
            else f"{count_of(found.count)} flows of {found.stream} fit"
        )
        limit = ", the most that --most allows" if found.count == most else ""
        print_line(f"{others}{fit}{limit}; it has {found.now} ({spent})")
    for one in found.evaluations:
        if found.count is None or int(one.value) - found.count in (0, 1):
            print_message(f"  {one.value}: {one.reason}")
    if found.tightest:
        print_message(f"  with {found.count}, what runs out first:")
        for use in found.tightest.uses[:SHOWN]:
            print_message(f"    {use.kind} {use.where}: {use.used} of {use.limit}, {share_of(use.share)}")


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
    """The evaluation of the answer, and those of the values before and after it."""
    place = [one.value for one in answer.evaluations].index(answer.value or "")
    return answer.evaluations[max(0, place - 1) : place + 2]
