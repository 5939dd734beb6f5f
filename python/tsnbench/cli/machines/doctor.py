"""``tsnbench doctor``: what this machine or a lab can do, and whether a scenario can be run there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tsnbench.cli.console.completing import scenario_files
from tsnbench.cli.console.options import json_of, option, pairs_of, setting
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, user_errors
from tsnbench.doctor import Answer, Finding, LabReport, answers, examine, examine_host, examine_lab, remote
from tsnbench.hosts import load_inventory
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import load_variants


def doctor(
    scenario: Annotated[
        Path | None,
        option(
            "FILE",
            "Check whether this scenario can run here or on --hosts; name what --host lacks.",
            "--for",
            autocompletion=scenario_files,
        ),
    ] = None,
    host: Annotated[str | None, option("HOST", "Examine another host, over ssh.", "--host")] = None,
    hosts: Annotated[
        Path | None, option("FILE", "Examine all hosts of this lab (lab.yaml) at once, over ssh.")
    ] = None,
    place: Annotated[
        list[str] | None,
        setting("NODE=MACHINE", "With --hosts and --for: the machine of a node.", "--map"),
    ] = None,
    as_json: Annotated[bool, json_of("Findings")] = False,
) -> None:
    """Report what this machine, a host or a lab supports.

    The report names features of the kernel, interfaces, clocks and processors, with reasons for missing
    ones; for a lab, the features that its hosts lack.
    """
    if hosts is not None:
        _lab(hosts, scenario, host, place or [], as_json)
    if place:
        fail(Exit.INPUT_WRONG, "--map: only with --hosts and --for")

    if host is not None and scenario is not None:
        _one_host(host, scenario, as_json)
    with user_errors():
        if scenario is not None:
            given = answers(_plans(scenario))
            if as_json:
                print_json("doctor", {"answers": [asdict(one) for one in given]})
            else:
                _answer(scenario, given)
            kernels = any(one.can for one in given if one.backend != "simulation")
            raise typer.Exit(Exit.MET if kernels else Exit.REQUIREMENT_FAILED)
        findings = examine(remote.ask(host) if host is not None else None)
    if as_json:
        print_json("doctor", {"findings": [asdict(one) for one in findings]})
        return
    _list(findings)


def _plans(scenario: Path) -> list[Plan]:
    return [make_plan(one) for one in load_variants(scenario)]


def _lab(file: Path, scenario: Path | None, host: str | None, place: list[str], as_json: bool) -> NoReturn:
    """Examines all hosts of a lab at once."""
    if host is not None:
        fail(Exit.INPUT_WRONG, "--host: examines one host, and --hosts all of a lab; give one of them")
    if place and scenario is None:
        fail(Exit.INPUT_WRONG, "--map: only with --hosts and --for")
    with user_errors():
        machines = pairs_of("--map", "NODE=MACHINE", place)
        inventory = load_inventory(file)
        plans = _plans(scenario) if scenario is not None else []
        report = examine_lab(inventory, plans, machines)
    _end(report, str(scenario or "this lab"), as_json, scenario)


def _one_host(target: str, scenario: Path, as_json: bool) -> NoReturn:
    """Examines one host for every node of a scenario."""
    with user_errors():
        report = examine_host(target, _plans(scenario))
    _end(report, str(scenario), as_json, scenario, f"at {target}")


def _end(
    report: LabReport, what: str, as_json: bool, scenario: Path | None, where: str = "on this lab"
) -> NoReturn:
    if as_json:
        print_json("doctor", {"findings": [asdict(one) for one in report.findings]})
    else:
        _print(report.findings)
        _conclude(what, scenario, report.silent, report.lacks, where)
    if report.silent:
        raise typer.Exit(Exit.BACKEND_FAILED)
    raise typer.Exit(Exit.REQUIREMENT_FAILED if report.lacks else Exit.MET)


def _conclude(what: str, scenario: Path | None, silent: Sequence[str], lacks: bool, where: str) -> None:
    if silent:
        print_line(f"{what}: not known: {', '.join(silent)} could not be examined")
    elif scenario is None:
        print_line(
            "something is missing" if lacks else "nothing is missing: --for SCENARIO says what one needs"
        )
    else:
        print_line(f"{what}: --on hosts: {'cannot' if lacks else 'can'} run {where}")


def _answer(scenario: Path, given: Sequence[Answer]) -> None:
    for one in given:
        words = "can run here" if one.can else "cannot run here"
        print_line(f"{scenario}: --on {one.backend}: {words}")
        for reason in one.reasons:
            print_line(f"  {reason}")
        if one.remedy:
            print_line(f"  hint: {one.remedy}")


def _list(findings: Sequence[Finding]) -> None:
    _print(findings)
    gone = sum(one.state == "missing" for one in findings)
    words = "nothing is missing" if not gone else f"{gone} missing; not every scenario needs them"
    print_line(f"{words}: tsnbench doctor --for SCENARIO says what one needs")


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(one.name) for one in findings)
    room = ""
    for one in findings:
        if one.room != room:
            room = one.room
            print_line(room)
        line = f"  {one.state:7}  {one.name:{width}}  {one.found}"
        print_line(line.rstrip())
        if one.remedy:
            print_line(f"  {'':7}  {'':{width}}  hint: {one.remedy}")
