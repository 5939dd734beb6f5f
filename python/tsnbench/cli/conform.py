"""``tsnbench conform``: whether one device does what its scenario says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.backends.protocol import Backend, Progress
from tsnbench.campaign.campaign import Options
from tsnbench.cli.console.completing import scenario_files
from tsnbench.cli.console.options import FigureKinds, argument, flag, given_ns, json_of, option, setting
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_json,
    print_line,
    print_message,
    print_table,
    print_written,
    user_errors,
)
from tsnbench.cli.console.progress import How, known
from tsnbench.cli.console.progress import progress as progress_of
from tsnbench.cli.parts import conform_page
from tsnbench.cli.running.place import Place
from tsnbench.conform import budget, catalogue, tables
from tsnbench.conform.bench import Bench, Stimulus
from tsnbench.conform.run import NO_CERTIFICATE, Outcome, Prepared, prepare
from tsnbench.conform.run import conform as run_all
from tsnbench.scenario import load

File = Annotated[
    Path | None,
    argument(
        "FILE",
        "Scenario: the device in its network, with the configuration that it should have.",
        autocompletion=scenario_files,
    ),
]
Dut = Annotated[str | None, option("NODE", "The device under test; its neighbours are the testers.")]
Ports = Annotated[
    list[str] | None,
    option("NAME", "Only this port of the device: 'switch -> robot'; may be repeated.", "--port"),
]
Suites = Annotated[
    str, option("NAMES", "Suites or tests: gates, or gates.edge,gates.guard; default: all.", "--suite")
]
On = Annotated[str, setting("BACKEND", "Where to run, as for run: simulation, vm, netns or hosts.")]
Dilate = Annotated[int, setting("TIMES", "On vm, netns and hosts: run slower by this factor.")]
Lab = Annotated[Path | None, option("FILE", "The lab for --on hosts.")]
Machines = Annotated[
    list[str] | None, setting("NODE=MACHINE", "With --on hosts: the machine of a node.", "--map")
]
Device = Annotated[
    Path | None,
    option(
        "FILE",
        "On simulation, vm and netns: the device behaves as in this scenario of the same network, "
        "to rehearse how a defect is found.",
    ),
]
Tolerance = Annotated[
    str | None,
    option("TIME", "Accept times that are off by up to this; it cannot be less than the testers see."),
]
Require = Annotated[str, option("NAMES", "Tests that must be decided: otherwise the exit code is 1.")]
Into = Annotated[Path | None, option("DIR", "Folder of the results; default runs/conform-NODE.")]


def conform(
    file: File = None,
    dut: Dut = None,
    suite: Suites = "",
    port: Ports = None,
    on: On = "simulation",
    dilate: Dilate = 1,
    hosts: Lab = None,
    place: Machines = None,
    device: Device = None,
    into: Into = None,
    tolerance: Tolerance = None,
    require: Require = "",
    listed: Annotated[bool, flag("--list", "Print the catalogue of tests, and end.")] = False,
    plan_only: Annotated[
        bool, flag("--plan-only", "Print what would be sent, and how long it takes.")
    ] = False,
    figures: FigureKinds = "",
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    force: Annotated[bool, flag("--force", "Run all stimuli again.")] = False,
    as_json: Annotated[bool, json_of("The results")] = False,
    progress: How = "bar",
) -> None:
    """Test whether one device does what a scenario says.

    Exit code 0: every test that was decided passed; 1: a test failed; 3: none could be decided.
    """
    known(progress)
    kinds = figure_kinds(figures, Path())
    tests = _tests("--suite", suite)
    if listed:
        print_table(tables.catalogue_table(tests))
        raise typer.Exit(Exit.MET)
    if file is None or dut is None:
        fail(Exit.INPUT_WRONG, "expected a scenario and its device, such as: conform lab.yaml --dut switch")
    required = [test.id for test in _tests("--require", require)] if require else []
    backend = Place(on, dilate, hosts, place or []).backend()
    if device is not None and on == "hosts":
        fail(Exit.INPUT_WRONG, "--device: not with --on hosts: hosts and devices behave as they are")
    with user_errors(measuring=True), ExitStack() as stack:
        asked = given_ns("--tolerance", tolerance) or 0
        bench = Bench.of(load(file), dut, None if device is None else load(device), port or [])
        prepared = prepare(bench, tests)
        _say(prepared, on, asked, quiet=as_json)
        if plan_only:
            print_table(tables.stimuli_table(prepared))
            raise typer.Exit(Exit.MET)
        stack.callback(backend.close)
        folder = into or Path("runs") / f"conform-{dut}"
        away = "name another folder with --into; --force replaces it"
        options = Options(report=False, force=force, replace=into is None, away=away)
        outcome = _run(prepared, folder, backend, asked, options, progress)
        page = conform_page.write(prepared, outcome, folder, kinds) if report else None
    _tell(outcome, folder, as_json)
    if page is not None:
        print_written([page], None)
    if outcome.ended:
        more = "hint: the same command runs the stimuli that are left"
        fail(Exit.BACKEND_FAILED, f"{outcome.ended}\n{more}", outcome.ended)
    raise typer.Exit(_code(outcome, required))


def _tests(name: str, words: str) -> list[catalogue.Test]:
    """The tests of an option."""
    try:
        return catalogue.chosen([word.strip() for word in words.split(",") if word.strip()])
    except KeyError as error:
        known_names = ", ".join([*catalogue.suites(), *catalogue.TESTS])
        fail(
            Exit.INPUT_WRONG, f"{name}: expected suites or tests, found {error.args[0]}\nhint: {known_names}"
        )


def _say(prepared: Prepared, on: str, asked: int, quiet: bool) -> None:
    """Prints before the run what can be decided."""
    plans = [one.plan for _, one in prepared.stimuli]
    errors = {(budget.before(plan, on, asked), budget.may_follow(plan, on)) for plan in plans}
    for error, later in errors:
        own = error.own_ns
        if asked and asked < 2 * (own if own is not None else error.apart_ns):
            least = error.tolerance_ns(own if own is not None else error.apart_ns)
            fail(
                Exit.INPUT_WRONG,
                f"--tolerance: expected at least {least:g} ns, found {asked} ns\n"
                f"hint: twice the error of the testers: {tables.error_words(error)}",
            )
        if not quiet:
            print_message(f"{prepared.bench.name} on {on}: {tables.error_words(error, later)}")


def _run(
    prepared: Prepared, folder: Path, backend: Backend, asked: int, options: Options, progress: str
) -> Outcome:
    """Runs the stimuli, each with its own bar."""

    @contextmanager
    def watched(stimulus: Stimulus, number: int) -> Iterator[Progress | None]:
        length = stimulus.plan.document["duration_ns"]
        count = len(prepared.stimuli)
        with progress_of(stimulus.name, number + 1, count, length, progress) as shown:
            yield shown.progress

    return run_all(prepared, folder, backend, asked, options, watched)


def _tell(outcome: Outcome, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json("conform", outcome.document())
        return
    print_table(tables.results_table(outcome))
    print_line(f"{tables.counts(outcome)} {NO_CERTIFICATE}")
    print_message(f"run folder: {folder}")


def _code(outcome: Outcome, required: list[str]) -> Exit:
    verdicts = outcome.verdicts
    missing = [one for one in outcome.results if one.test in required and one.verdict != "pass"]
    if "fail" in verdicts or missing:
        return Exit.REQUIREMENT_FAILED
    if "pass" not in verdicts:
        print_message("no test could be decided")
        return Exit.BACKEND_FAILED
    return Exit.MET
