"""``tsnbench run``: from scenario to verdict."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import FigureKinds, argument, option
from tsnbench.cli.console.output import (
    Exit,
    data,
    fail,
    figure_kinds,
    print_json,
    print_message,
    print_table,
    user_errors,
)
from tsnbench.cli.console.output import print_line as put
from tsnbench.cli.console.progress import HOW, busy, end_with_input, known, progress_together
from tsnbench.cli.console.progress import progress as progress_of
from tsnbench.cli.console.strict import HELP, refuse_warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.backends.protocol import Backend
    from tsnbench.campaign.campaign import Options, Outcome
    from tsnbench.campaign.together import Job
    from tsnbench.plan.document import Plan
    from tsnbench.runs.measures import Measures, Verdict
    from tsnbench.scenario.model import Scenario


def run(
    file: Annotated[Path, argument("FILE", "Scenario file.")],
    into: Annotated[Path | None, option("DIR", "Run folder; default runs/<scenario name>.")] = None,
    only: Annotated[
        list[str] | None, option("PARAMETER=VALUE", "Only the runs with this parameter: hops=3.")
    ] = None,
    duration: Annotated[str | None, option("TIME", "Duration in place of the scenario's: 200ms.")] = None,
    seed: Annotated[int | None, option("NUMBER", "Seed in place of the scenario's.")] = None,
    keep: Annotated[
        Path | None,
        option(
            "FILE",
            "Keep the schedule of this earlier Plan (plan --json, or a run's plan.json) as far as "
            "possible, and report what moved.",
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="BACKEND",
            help="Where to run: simulation, vm (Linux kernel of a guest), netns (kernel of this machine) or "
            "hosts (machines of your own; needs --hosts).",
        ),
    ] = "simulation",
    hosts: Annotated[
        Path | None, option("FILE", "The lab for --on hosts: machines, ports and wires (lab.yaml).")
    ] = None,
    place: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="NODE=MACHINE", help="With --on hosts: the machine of a node."),
    ] = None,
    print_line: Annotated[
        bool,
        typer.Option("--say", help="With --on hosts: print every command for every host; change nothing."),
    ] = False,
    dilate: Annotated[
        int,
        typer.Option(
            metavar="TIMES",
            help="On vm and netns: run slower by this factor; results are in the scenario's time.",
        ),
    ] = 1,
    jobs: Annotated[
        int | None,
        option("NUMBER", "Simulated runs of a sweep at the same time; default: as many as there are cores."),
    ] = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Also write a capture per tap (pcapng, ns).")] = False,
    figures: FigureKinds = "",
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    summary: Annotated[
        bool, typer.Option("--summary", help="Also write summary.html per run: one page of A4.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run again, and replace the folder's runs of other scenarios.")
    ] = False,
    keep_runs: Annotated[
        bool,
        typer.Option(
            "--keep-runs",
            help="Replace no run: if the folder exists, use its name with -2, -3, …",
        ),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="All rows and columns of all tables, not only the most important.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the last line: the verdict.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The verdicts as JSON on stdout.")] = False,
    progress: Annotated[str, typer.Option(metavar="HOW", help=HOW)] = "bar",
    until_closed: Annotated[
        bool, typer.Option("--until-closed", help="End, as with Ctrl-C, when standard input is closed.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help=HELP)] = False,
) -> None:
    """Plan, run, measure, judge and report a scenario; of a sweep, all runs."""
    from tsnbench.campaign.campaign import (
        Options,
        about_run,
        begin_sweep,
        called,
        folders_of,
        numbered,
        report_all,
    )
    from tsnbench.campaign.together import Job
    from tsnbench.planning import plan as make_plan
    from tsnbench.scenario import load_variants
    from tsnbench.scenario.selection import selected, shortened

    known(progress)
    if until_closed:
        end_with_input()
    kinds = figure_kinds(figures, Path())
    backend = _backend(on, dilate, hosts, place or [])
    options = Options(
        pcap=pcap, force=force, figures=kinds, report=report, replace=into is None, summary=summary
    )
    with user_errors(), ExitStack() as stack:
        every = load_variants(file)
        scenarios = selected(every, only or [])
        scenarios = [shortened(scenario, duration_ns("--duration", duration), seed) for scenario in scenarios]
        if keep is None:
            plans = [make_plan(scenario) for scenario in scenarios]
        else:
            from tsnbench.cli.incremental import plan_incrementally

            plans = [plan_incrementally(scenarios, keep)[0]]
        if strict:
            refuse_warnings(plans)
        into = into or Path("runs") / scenarios[0].name
        into = stack.enter_context(numbered(into)) if keep_runs else into
        if print_line:
            _say(backend, plans)
            raise typer.Exit(Exit.MET)
        folders = folders_of(every, scenarios, into)
        if scenarios[0].variant:
            whole = len(scenarios) == len(every)
            if earlier := begin_sweep(into, folders, whole, options, scenarios[0].name, file):
                _tell_earlier(into, earlier)
        stack.callback(backend.close)
        for warning in (warning for plan in plans for warning in plan.warnings):
            print_message(str(warning))
        workers = _workers(jobs, on, len(plans))
        if not quiet:
            _announce(plans, backend, pcap, workers, dilate)
        made = []
        for scenario, plan, folder in zip(scenarios, plans, folders, strict=True):
            about = about_run(scenario, file, duration, seed)
            about["command"] += [] if keep is None else ["--keep", called(keep)]
            about["command"] += _elsewhere(on, dilate, hosts, place or [])
            made.append(Job(plan, folder, about))
        outcomes = _make(made, scenarios, options, backend, workers, progress)
        where = None
        if report:
            with busy("report" if len(outcomes) == 1 else f"report of {len(outcomes)} runs", progress):
                where = report_all(outcomes, into, options)
    _tell(outcomes, as_json, everything, quiet)
    if not quiet:
        for note in _notes(outcomes):
            print_message(f"note: {note}")
        print_message(f"run folder: {into}")
    if where is not None and not quiet:
        print_message(f"report: {where}")
    raise typer.Exit(Exit.MET if all(o.verdict["met"] for o in outcomes) else Exit.REQUIREMENT_FAILED)


def _notes(outcomes: Sequence[Outcome]) -> list[str]:
    """What kernels and hosts say about the delays of these runs; the reports have it, too."""
    told = [one.run.manifest.get("host") or {} for one in outcomes]
    return list(
        dict.fromkeys(
            str(note) for one in told for key in ("warnings", "notes") for note in one.get(key) or ()
        )
    )


def _workers(jobs: int | None, on: str, runs: int) -> int:
    """The number of runs at the same time: one on kernels and hosts, where runs would disturb each other."""
    from tsnbench.runs.process import cores

    if jobs is not None and jobs < 1:
        fail(Exit.INPUT_WRONG, f"--jobs: expected a number from 1, found {jobs}")
    if jobs is not None and jobs > 1 and on != "simulation":
        fail(Exit.INPUT_WRONG, "--jobs: only for --on simulation: runs on a kernel would disturb each other")
    if on != "simulation":
        return 1
    return min(runs, jobs or cores())


def _announce(plans: Sequence[Plan], backend: Backend, pcap: bool, workers: int, dilate: int) -> None:
    """Says before long runs what they will send, write and take."""
    from tsnbench.campaign.announcement import Expected
    from tsnbench.runs.room import need

    expected = Expected.of([need(plan.document, backend.name, pcap) for plan in plans])
    if backend.name == "simulation":
        said = expected.said(workers)
    else:
        spans = [plan.document["duration_ns"] + plan.document["drain_ns"] for plan in plans]
        said = expected.said_of_kernels(dilate * sum(spans) / 1e9)
    if said:
        print_message(said)


def _make(
    jobs: Sequence[Job],
    scenarios: Sequence[Scenario],
    options: Options,
    backend: Backend,
    workers: int,
    progress: str,
) -> list[Outcome]:
    """Makes all runs, one after the other or several at the same time."""
    from tsnbench.campaign.campaign import run_one
    from tsnbench.campaign.together import run_together

    labels = [", ".join(f"{k} {v}" for k, v in one.variant.items()) or one.name for one in scenarios]
    lengths = [job.plan.document["duration_ns"] for job in jobs]
    if workers > 1:
        with progress_together(labels, lengths, progress) as watchers:
            return run_together(jobs, options, workers, watchers)
    outcomes = []
    for number, (job, label, length) in enumerate(zip(jobs, labels, lengths, strict=True), 1):
        with progress_of(label, number, len(jobs), length, progress) as shown:
            outcomes.append(
                run_one(
                    job.plan,
                    job.folder,
                    options,
                    shown.simulated if shown else None,
                    on=backend,
                    about=job.about,
                    stage=shown.stage if shown else None,
                )
            )
    return outcomes


def _tell_earlier(into: Path, earlier: list[str]) -> None:
    """Lists runs with values that the sweep does not have any more."""
    from tsnbench.runs.sweep import earlier_note

    print_message(f"{earlier_note(into, earlier)}\nhint: --force removes them")


def _backend(on: str, dilate: int, hosts: Path | None, place: list[str]) -> Backend:
    """The backend of ``--on``."""
    if on == "hosts":
        return _hosts(hosts, place, dilate)
    if hosts is not None or place:
        fail(Exit.INPUT_WRONG, "--hosts and --map: only for --on hosts")
    if on == "vm":
        from tsnbench.backends.vm.backend import VirtualMachine

        return VirtualMachine(dilate)
    if on == "netns":
        from tsnbench.backends.netns import Namespaces

        return Namespaces(dilate)
    if on != "simulation":
        fail(Exit.INPUT_WRONG, f"--on: expected simulation, vm, netns or hosts, found {on}")
    if dilate != 1:
        fail(Exit.INPUT_WRONG, "--dilate: only for --on vm, netns and hosts")
    from tsnbench.backends.simulation import Simulation

    return Simulation()


def _hosts(hosts: Path | None, place: list[str], dilate: int) -> Backend:
    from tsnbench.hosts import load_inventory
    from tsnbench.hosts.backend import Hosts

    if hosts is None:
        hint = "hint: docs/guides/hosts.md; tsnbench lab up makes a lab on this machine"
        fail(Exit.INPUT_WRONG, f"--on hosts: expected a lab, such as --hosts lab.yaml\n{hint}")
    if wrong := [one for one in place if "=" not in one]:
        fail(Exit.INPUT_WRONG, f"--map: expected NODE=MACHINE, found {wrong[0]}")
    with user_errors():
        given = dict(one.split("=", 1) for one in place)
        return Hosts(load_inventory(hosts), given, campaign=True, dilate=dilate)


def _say(backend: Backend, plans: Sequence[Plan]) -> None:
    """Prints every command for every host."""
    from tsnbench.hosts.backend import Hosts

    if not isinstance(backend, Hosts):
        fail(Exit.INPUT_WRONG, "--say: only for --on hosts")
    for plan in plans:
        for line in backend.say(plan):
            put(line)


def _elsewhere(on: str, dilate: int, hosts: Path | None, place: list[str]) -> list[str]:
    """The options of the command for another backend than the simulator."""
    if on == "simulation":
        return []
    more = ["--dilate", str(dilate)] if dilate != 1 else []
    more += [] if hosts is None else ["--hosts", str(hosts)]
    return ["--on", on, *more, *(word for one in place for word in ("--map", one))]


def duration_ns(option: str, text: str | None) -> int | None:
    """Nanoseconds of an option such as ``--duration``."""
    if text is None:
        return None
    from tsnbench.errors import InputError
    from tsnbench.scenario.units import DURATION, UnitError

    try:
        return DURATION.parse(text)
    except UnitError as error:
        raise InputError(f"{option}: expected {error.expected}, found {text}\nhint: {error.hint}") from None


def _tell(outcomes: list[Outcome], as_json: bool, everything: bool, quiet: bool) -> None:
    """Prints the verdicts, as tables for people or JSON for programs."""
    if as_json:
        print_json(
            [
                {
                    "folder": str(o.run.folder),
                    "variant": o.run.manifest["variant"],
                    "reused": o.reused,
                    "verdict": o.verdict,
                }
                for o in outcomes
            ]
        )
        return
    from tsnbench.measure import headline, runs_table, sweep_headline

    labels = [", ".join(f"{k} {v}" for k, v in o.run.manifest["variant"].items()) for o in outcomes]
    many = len(outcomes) > 1
    if not quiet:
        for label, outcome in zip(labels, outcomes, strict=True):
            if everything and label:
                data().rule(label)
            if everything or not many:
                print_run(outcome.run.measures(), outcome.verdict, everything)
        if many:
            print_table(runs_table(labels, [(o.verdict, o.reused) for o in outcomes]))
    if many:
        put(sweep_headline(labels, [o.verdict for o in outcomes], sum(o.reused for o in outcomes)))
    else:
        put(headline(outcomes[0].verdict))
        if outcomes[0].reused and not quiet:
            print_message("the run was there already and is used again; --force runs it anew")


def print_run(measures: Measures, verdict: Verdict, everything: bool) -> None:
    """Prints the tables of one run: the most important rows, or all."""
    from tsnbench.measure import MOST_ROWS, measures_table, streams_table, verdict_rows, verdict_table

    if everything:
        print_table(measures_table(measures))
        print_table(verdict_table(verdict))
        return
    # Streams in the order of the verdict: those that failed, or have the least margin, first.
    first = list(dict.fromkeys((row["group"], row["listener"]) for row in verdict_rows(verdict)))
    print_table(streams_table(measures, MOST_ROWS, first))
    if verdict["rows"]:
        print_table(verdict_table(verdict, MOST_ROWS))
