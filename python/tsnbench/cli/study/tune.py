"""``tsnbench tune``: the smallest or greatest value of a parameter that meets every requirement, and how many
flows fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.completing import parameters, scenario_files, streams
from tsnbench.cli.console.options import Only, argument, flag, option, setting
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_message, user_errors
from tsnbench.quantities import count as count_of
from tsnbench.quantities import share_of
from tsnbench.scenario import Scenario, load_variants
from tsnbench.scenario.selection import selected
from tsnbench.tuning.question import MOST_FLOWS, Answer, Evaluation, Fitting, Judge, answers, fitting

SHOWN = 5
"""Rows of what runs out first."""
Sweep = Annotated[
    Path,
    argument(
        "FILE", "Scenario file; a sweep's parameter is searched in its list.", autocompletion=scenario_files
    ),
]
First = Annotated[
    str | None,
    option(
        "PARAMETER",
        "Find the first value of its list that meets all requirements.",
        autocompletion=parameters,
    ),
]
Last = Annotated[
    str | None,
    option(
        "PARAMETER", "Find the last value of its list that meets all requirements.", autocompletion=parameters
    ),
]
Count = Annotated[
    str | None,
    option("STREAM", "Find how many flows of this stream fit: the greatest count.", autocompletion=streams),
]
Most = Annotated[int | None, option("NUMBER", "With --count: no more flows than this; 10000 by default.")]
On = Annotated[str, setting("JUDGE", "Decide on bounds (worst case), simulation, vm or netns.")]
Seeds = Annotated[
    int | None, option("NUMBER", "Runs of each value, each with another seed; not with bounds.")
]
Every = Annotated[bool, flag("--every", "Judge every value of the list, in place of bisection.")]


def tune(
    file: Sweep,
    first: First = None,
    last: Last = None,
    count: Count = None,
    most: Most = None,
    on: On = "bounds",
    only: Only = None,
    seeds: Seeds = None,
    every: Every = False,
    as_json: Annotated[bool, flag("--json", "Answers and evaluations as JSON.")] = False,
) -> None:
    """Find the smallest or largest value that meets every requirement.

    Or find how many flows of a stream fit.
    """
    if sum(one is not None for one in (first, last, count)) != 1:
        fail(
            Exit.INPUT_WRONG,
            "expected one of --first, --last and --count\n"
            "  hint: --count STREAM needs no change of the scenario; --first and --last "
            "search the list of a parameter",
        )
    if most is not None and count is None:
        fail(Exit.INPUT_WRONG, "--most: only with --count")
    if every and count is not None:
        fail(Exit.INPUT_WRONG, "--every: only with --first or --last")
    judge, repeated = _judge(on, seeds)
    with user_errors():
        scenarios = selected(load_variants(file), only or [])
        if count is not None:
            _fitting(scenarios, count, judge, MOST_FLOWS if most is None else most, as_json, repeated)
            return
        greatest = last is not None
        parameter = first or last or ""
        found = answers(
            scenarios, parameter, judge, file=str(file), greatest=greatest, every=every, seeds=repeated
        )
        if as_json:
            print_json(
                "tune", {"parameter": parameter, "judge": on, "answers": [asdict(one) for one in found]}
            )
        else:
            for one in found:
                _print(one, parameter, "last" if greatest else "first")
    if any(one.value is None for one in found):
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _judge(on: str, seeds: int | None) -> tuple[Judge, int]:
    """Who judges a value, and with how many seeds; options that do not fit end the command."""
    if on not in list(Judge):
        fail(Exit.INPUT_WRONG, f"--on: expected {' or '.join(Judge)}, found {on}")
    if seeds is not None and on == Judge.BOUNDS:
        fail(Exit.INPUT_WRONG, "--seeds: not with --on bounds; the worst case holds for all seeds")
    if seeds is not None and seeds < 1:
        fail(Exit.INPUT_WRONG, f"--seeds: expected at least 1, found {seeds}")
    return Judge(on), 1 if seeds is None else seeds


def _fitting(
    scenarios: Sequence[Scenario], stream: str, judge: Judge, most: int, as_json: bool, seeds: int
) -> None:
    """Prints how many flows of a stream fit, for each run of a sweep."""
    found = [fitting(scenario, stream, judge, most, seeds) for scenario in scenarios]
    if as_json:
        print_json(
            "tune", {"stream": stream, "judge": judge.value, "answers": [asdict(one) for one in found]}
        )
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
