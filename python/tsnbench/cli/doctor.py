"""``tsnbench doctor``: what this machine can do, and whether a scenario can be run here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import option
from tsnbench.cli.console.output import Exit, fail, print_json, say, told

if TYPE_CHECKING:
    from tsnbench.doctor import Answer, Finding


def doctor(
    scenario: Annotated[
        Path | None, option("FILE", "Tell whether this scenario can run here.", "--for")
    ] = None,
    on: Annotated[str | None, option("HOST", "Examine another host, over ssh.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Findings as JSON on stdout.")] = False,
) -> None:
    """Report what this machine's kernel, interfaces, clocks and processors support, and why not."""
    from tsnbench.doctor import answers, examine, remote

    if on is not None and scenario is not None:
        fail(
            Exit.INPUT_WRONG,
            "--for: works only on this machine, not with --on\n"
            "hint: run tsnbench doctor --for on the other host",
        )
    with told():
        if scenario is not None:
            from tsnbench.planning import plan as make_plan
            from tsnbench.scenario import load_variants

            given = answers([make_plan(one) for one in load_variants(scenario)])
            if as_json:
                print_json([asdict(one) for one in given])
            else:
                _answer(scenario, given)
            kernels = any(one.can for one in given if one.backend != "simulation")
            raise typer.Exit(Exit.MET if kernels else Exit.REQUIREMENT_FAILED)
        findings = examine(remote.ask(on) if on is not None else None)
    if as_json:
        print_json([asdict(one) for one in findings])
        return
    _list(findings)


def _answer(scenario: Path, given: Sequence[Answer]) -> None:
    for one in given:
        words = "can run here" if one.can else "cannot run here"
        say(f"{scenario}: --on {one.backend}: {words}")
        for reason in one.reasons:
            say(f"  {reason}")
        if one.remedy:
            say(f"  hint: {one.remedy}")


def _list(findings: Sequence[Finding]) -> None:
    width = max(len(one.name) for one in findings)
    room = ""
    for one in findings:
        if one.room != room:
            room = one.room
            say(room)
        line = f"  {one.state:7}  {one.name:{width}}  {one.found}"
        say(line.rstrip())
        if one.remedy:
            say(f"  {'':7}  {'':{width}}  hint: {one.remedy}")
    gone = sum(one.state == "missing" for one in findings)
    words = "nothing is missing" if not gone else f"{gone} missing; not every scenario needs them"
    say(f"{words}: tsnbench doctor --for SCENARIO says what one needs")
