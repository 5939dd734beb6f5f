"""``tsnbench run``: the command and its options."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.campaign.campaign import Options, Outcome, numbered, report_all
from tsnbench.cli.console.options import (
    FigureKinds,
    Only,
    ScenarioFile,
    Strict,
    flag,
    json_of,
    option,
    setting,
)
from tsnbench.cli.console.output import Exit, figure_kinds, user_errors
from tsnbench.cli.console.progress import How, busy, end_with_input, known
from tsnbench.cli.console.strict import refuse_warnings
from tsnbench.cli.running.chosen import Choice
from tsnbench.cli.running.making import announce, foretell, make, workers_of
from tsnbench.cli.running.place import Place, say
from tsnbench.cli.running.told import print_places, tell

Keep = Annotated[
    Path | None,
    option(
        "FILE",
        "Keep the schedule of this earlier Plan (plan --json, or a run's plan.json) as far as "
        "possible, and report what moved.",
        "--keep-schedule",
    ),
]
On = Annotated[
    str,
    setting(
        "BACKEND",
        "Where to run: simulation, vm (Linux kernel of a guest), netns (kernel of this machine) or "
        "hosts (machines of your own; needs --hosts).",
    ),
]
Lab = Annotated[Path | None, option("FILE", "The lab for --on hosts: machines, ports and wires (lab.yaml).")]
Machines = Annotated[
    list[str] | None, setting("NODE=MACHINE", "With --on hosts: the machine of a node.", "--map")
]
DryRun = Annotated[
    bool, flag("--dry-run", "With --on hosts: print every command for every host; change nothing.")
]
Dilate = Annotated[
    int,
    setting("TIMES", "On vm and netns: run slower by this factor; results are in the scenario's time."),
]
Workers = Annotated[
    int | None,
    option("N", "Simulated runs of a sweep at the same time; default: as many as there are cores."),
]
KeepRuns = Annotated[
    bool, flag("--keep-runs", "Replace no run: if the folder exists, use its name with -2, -3, …")
]

Force = Annotated[bool, flag("--force", "Run again, and replace the folder's runs of other scenarios.")]
Everything = Annotated[
    bool, flag("--all", "All rows and columns of all tables, not only the most important.")
]
Predict = Annotated[
    bool, flag("--predict", "Of calibrated devices: also simulate 39 draws, for intervals of all delays.")
]
UntilClosed = Annotated[bool, flag("--until-closed", "End, as with Ctrl-C, when standard input is closed.")]
Folder = Annotated[Path | None, option("DIR", "Run folder; default runs/<scenario name>.")]
Duration = Annotated[str | None, option("TIME", "Duration in place of the scenario's: 200ms.")]

AWAY = "name another folder with --into, or keep both with --keep-runs; --force replaces it"


def run(
    file: ScenarioFile,
    into: Folder = None,
    only: Only = None,
    duration: Duration = None,
    seed: Annotated[int | None, option("NUMBER", "Seed in place of the scenario's.")] = None,
    keep: Keep = None,
    on: On = "simulation",
    hosts: Lab = None,
    place: Machines = None,
    dry_run: DryRun = False,
    dilate: Dilate = 1,
    workers: Workers = None,
    pcap: Annotated[bool, flag("--pcap", "Also write a capture per tap (pcapng, ns).")] = False,
    figures: FigureKinds = "",
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    summary: Annotated[bool, flag("--summary", "Also write summary.html per run: one page of A4.")] = False,
    force: Force = False,
    keep_runs: KeepRuns = False,
    everything: Everything = False,
    exact: Annotated[bool, flag("--exact", "Simulate every frame, also of a run that repeats.")] = False,
    predict: Predict = False,
    quiet: Annotated[bool, flag("--quiet -q", "Print only the last line: the verdict.")] = False,
    as_json: Annotated[bool, json_of("The verdicts")] = False,
    progress: How = "bar",
    until_closed: UntilClosed = False,
    strict: Strict = False,
) -> None:
    """Plan, run, measure, judge and report a scenario, or a whole sweep."""
    known(progress)
    if until_closed:
        end_with_input()
    kinds = figure_kinds(figures, Path())
    backend = (where := Place(on, dilate, hosts, place or [], exact, predict)).backend()
    options = Options(
        pcap=pcap, force=force, figures=kinds, report=report, replace=into is None, summary=summary, away=AWAY
    )
    with user_errors(), ExitStack() as stack:
        chosen = Choice(file, only or [], duration, seed, keep).chosen()
        if strict:
            refuse_warnings(chosen.plans)
        into = into or Path("runs") / chosen.scenarios[0].name
        into = stack.enter_context(numbered(into)) if keep_runs else into
        if dry_run:
            say(where, backend, chosen.plans)
            raise typer.Exit(Exit.MET)
        made = chosen.jobs(into, options, where.words())
        stack.callback(backend.close)
        chosen.print_warnings()
        together = workers_of(workers, on, len(chosen.plans))
        if not quiet:
            announce(chosen.plans, backend, pcap, together, dilate)
        with user_errors(measuring=True):
            outcomes = make(made, chosen.scenarios, options, backend, together, progress)
            predicted = foretell(chosen, outcomes, progress) if predict else []
            page = _page(outcomes, into, options, progress) if report else None
    tell(outcomes, as_json, everything, quiet, predicted)
    if not quiet:
        print_places(outcomes, into, page)
    raise typer.Exit(Exit.MET if all(o.verdict["met"] for o in outcomes) else Exit.REQUIREMENT_FAILED)


def _page(outcomes: list[Outcome], into: Path, options: Options, progress: str) -> Path:
    """Writes the reports."""
    with busy("report" if len(outcomes) == 1 else f"report of {len(outcomes)} runs", progress):
        return report_all(outcomes, into, options)
