"""The commands of ``tsnbench study``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import FigureKinds, FigureNames, argument, option
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_files,
    print_json,
    print_line,
    print_message,
    print_table,
    user_errors,
)
from tsnbench.cli.console.progress import end_with_input, known
from tsnbench.quantities import some

if TYPE_CHECKING:
    from tsnbench.studies.design import Design
    from tsnbench.studies.store import Content, Store
    from tsnbench.studies.table import Tables


def run(
    file: Annotated[Path, argument("FILE", "File of the study.")],
    into: Annotated[Path | None, option("DIR", "Folder of the study; default studies/<study name>.")] = None,
    workers: Annotated[
        int | None, option("N", "Worker processes; default one for each core; 0: no run.")
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", metavar="CLUSTER", help="dask:ADDRESS: run on a Dask cluster.")
    ] = None,
    progress: Annotated[
        str, typer.Option(metavar="HOW", help="Progress: bar or json (one line a run).")
    ] = "bar",
    with_report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    everything: Annotated[bool, typer.Option("--all", help="All rows of the table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The table of runs as JSON on stdout.")] = False,
) -> None:
    """Make all runs of a study that are not made yet, on all cores; write its tables and its page."""
    from tsnbench.cli.study.crew import crew, shown
    from tsnbench.runs.process import cores
    from tsnbench.scenario.text import source
    from tsnbench.studies import study_file
    from tsnbench.studies.clusters.dask import address_of, make_all
    from tsnbench.studies.exploring.rounds import rounds
    from tsnbench.studies.sequence import Repetitions
    from tsnbench.studies.store import SCENARIO, STUDY, Store
    from tsnbench.studies.worker import sweep_scratch

    known(progress)
    if workers is not None and workers < 0:
        fail(Exit.INPUT_WRONG, f"--workers: expected at least 0, found {workers}")
    if on is not None and workers is not None:
        fail(Exit.INPUT_WRONG, "--workers: not with --on; the cluster has its own workers")
    with user_errors():
        address = None if on is None else address_of(on)
        text = source.read_file(file, study_file.SUBJECT)
        study = study_file.of_text(text, file)
        scenario = source.read_file(study.scenario)
        store = Store(into or Path("studies") / study.name)
        files = {STUDY: file, SCENARIO: study.scenario}
        made: set[str] = set()
        reused: set[str] = set()
        for place, wanted in enumerate(rounds(study, scenario, store)):
            changed = store.begin(wanted, study, files, {STUDY: text, SCENARIO: scenario})
            if place == 0:
                _notes(changed, wanted, study.name)
                sweep_scratch(store)
            repetitions = Repetitions(store, store.read())
            there = {one.id for one in wanted.runs if store.result(one) is not None}
            try:
                if address is not None:
                    with shown(progress, quiet) as show:
                        make_all(store, repetitions, address, show)
                elif workers != 0:
                    crew(store, repetitions, workers or cores(), progress, quiet)
            finally:
                sweep_scratch(store)
            counted = {one.id for one in repetitions.counted().runs}
            if workers == 0:
                print_message(
                    f"{len(counted - there)} runs listed, {len(counted & there)} were there already"
                )
                print_message(f"hint: tsnbench study work {store.folder} is a worker")
                return
            reused |= (counted & there) - made
            made |= counted - there
        if not quiet:
            print_message(f"{len(made)} runs made, {len(reused)} were there already")
        content, found = _tables(store, write=True)
        page = _page(store, content, found) if with_report else None
        folders = _keep(store, found, study.keep, progress)
    if page is not None and not quiet:
        print_message(f"report: {page}")
    if folders and not quiet:
        print_message(f"kept: {some([str(one) for one in folders], 3)}")
    _print_tables(store, content, found, as_json, everything, quiet)


def _notes(changed: str, wanted: Design, name: str) -> None:
    if changed:
        print_message(f"note: {changed}")
    if wanted.once:
        which = some([words or name for words in wanted.once], 5)
        print_message(f"note: nothing is random, so each repetition would be the same; run once: {which}")


def work(
    folder: Annotated[Path, argument("DIR", "Folder of a study.")],
    until_closed: Annotated[
        bool, typer.Option("--until-closed", help="End as soon as standard input is closed.")
    ] = False,
) -> None:
    """Run as one worker: make runs of a study until none is left. Any number of workers may run, anywhere."""
    from tsnbench.studies.worker import work as pull

    if until_closed:
        end_with_input()
    with user_errors():
        # The command that closes the input makes the lists of a search.
        made = pull(folder, one_list=until_closed)
    print_message(f"{made} runs made")


def status(
    folder: Annotated[Path, argument("DIR", "Folder of a study.")],
    as_json: Annotated[bool, typer.Option("--json", help="The numbers as JSON on stdout.")] = False,
) -> None:
    """Count the runs of a study: made, under way, and left."""
    from tsnbench.studies import lease
    from tsnbench.studies.sequence import Repetitions
    from tsnbench.studies.store import Store
    from tsnbench.studies.table import how_far, looks

    with user_errors():
        store = Store(folder)
        repetitions = Repetitions(store, store.read())
        content, progress = repetitions.counted(), repetitions.progress()
        left = {run.id for run in repetitions.unmade()}
        busy = left & set(lease.held(folder / "leases"))
    numbers = {"runs": len(content.runs), "made": len(content.runs) - len(left), "under_way": len(busy)}
    if as_json:
        print_json(
            {
                "study": content.name,
                "engine": content.engine,
                **numbers,
                "left": len(left) - len(busy),
                "until": looks(content, progress),
            }
        )
        return
    print_line(
        f"{content.name}: {numbers['made']} of {numbers['runs']} runs made, {len(busy)} under way, "
        f"{len(left) - len(busy)} left"
    )
    for line in how_far(content, progress):
        print_line(line)


def report(
    folder: Annotated[Path, argument("DIR", "Folder of a study.")],
    everything: Annotated[bool, typer.Option("--all", help="All rows of the table.")] = False,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    as_json: Annotated[bool, typer.Option("--json", help="The table of runs as JSON on stdout.")] = False,
) -> None:
    """Print the results of a study so far: one table and one last line; report.html has the figures."""
    from tsnbench.cli.console.progress import busy
    from tsnbench.report import study_page
    from tsnbench.studies.page import facts
    from tsnbench.studies.store import Store

    kinds = figure_kinds(figures, folder, names=figure)
    with user_errors():
        store = Store(folder)
        content, found = _tables(store, write=False)
        if figure:
            with busy("figures"):
                files = study_page.write_figure(facts(content, found), figure, store.folder, kinds)
            print_files(files, as_json)
            return
        page = _page(store, content, found, kinds)
    print_message(f"report: {page}")
    _print_tables(store, content, found, as_json, everything, quiet=False)


def export(
    folder: Annotated[Path, argument("DIR", "Folder of a study.")],
) -> None:
    """Write the tables of a study anew: results, intervals, differences and runs."""
    from tsnbench.studies import provenance
    from tsnbench.studies.store import Store
    from tsnbench.studies.table import written

    with user_errors():
        content, found = _tables(Store(folder), write=True)
    for name in (*written(content, found), provenance.NAME):
        print_line(str(folder / name))


def rerun(
    folder: Annotated[Path, argument("DIR", "Folder of a study.")],
    name: Annotated[str, argument("RUN", "The run, as the column run of the tables names it.")],
    into: Annotated[Path | None, option("DIR", "Run folder; default runs/<run>.")] = None,
) -> None:
    """Make the run folder of one run again, and check that every sighting is the same."""
    from tsnbench.studies.rerun import again
    from tsnbench.studies.store import Store

    target = into or Path("runs") / name
    with user_errors():
        same = again(Store(folder), name, target)
    print_message(f"run folder: {target}")
    if not same:
        print_line(f"{name}: the sightings differ from those of the study")
        raise typer.Exit(Exit.REQUIREMENT_FAILED)
    print_line(f"{name}: all sightings are the same as in the study")


def slurm(
    folder: Annotated[Path, argument("DIR", "Folder of a study, on a file system of all nodes.")],
    workers: Annotated[int, option("N", "Workers of the array.")] = 4,
    time: Annotated[str, typer.Option("--time", metavar="TIME", help="Limit of each worker.")] = "01:00:00",
) -> None:
    """Print a SLURM script that starts workers as an array; nothing is submitted."""
    from tsnbench.studies.clusters.scripts import slurm_script

    if workers < 1:
        fail(Exit.INPUT_WRONG, f"--workers: expected at least 1, found {workers}")
    with user_errors():
        for line in slurm_script(folder, workers, time, sys.executable):
            print_line(line)


def k8s(
    folder: Annotated[Path, argument("DIR", "Folder of a study, on a volume that all pods can write.")],
    image: Annotated[str, option("IMAGE", "Container image with this build of tsnbench.", "--image")],
    claim: Annotated[str, option("NAME", "PersistentVolumeClaim of the volume.")],
    path: Annotated[
        str | None, option("PATH", "The study on the volume; default the folder's name.", "--path")
    ] = None,
    workers: Annotated[int, option("N", "Pods at the same time.")] = 4,
) -> None:
    """Print a Kubernetes Job that starts workers as pods; nothing is submitted."""
    from tsnbench.studies.clusters.scripts import kubernetes_job

    if workers < 1:
        fail(Exit.INPUT_WRONG, f"--workers: expected at least 1, found {workers}")
    with user_errors():
        for line in kubernetes_job(folder, workers, image, claim, path or folder.resolve().name):
            print_line(line)


def _tables(store: Store, write: bool) -> tuple[Content, Tables]:
    from tsnbench.studies import table

    content, found = table.tables(store, store.read())
    if write:
        table.write(store, content, found)
    return content, found


def _keep(store: Store, found: Tables, most: int, progress: str) -> list[Path]:
    """Makes the run folders of the runs with the greatest delays."""
    from tsnbench.cli.console.progress import busy
    from tsnbench.studies.kept import keep, worst

    runs = worst(found.results, most)
    if not runs:
        return []
    with busy(f"run folders of {len(runs)} runs", progress):
        return keep(store, runs)


def _page(store: Store, content: Content, found: Tables, kinds: tuple[str, ...] = ()) -> Path:
    """Writes the page of a study."""
    from tsnbench.cli.console.progress import busy
    from tsnbench.report import study_page
    from tsnbench.studies.page import facts

    with busy("report of the study"):
        return study_page.write(facts(content, found), store.folder, kinds)


def _print_tables(
    store: Store, content: Content, found: Tables, as_json: bool, everything: bool, quiet: bool
) -> None:
    from tsnbench.studies import table

    if as_json:
        print_json(
            {"study": content.name, "engine": content.engine, "missing": found.missing, "runs": found.runs}
        )
    else:
        if not quiet:
            print_table(table.summary(content, found, None if everything else table.MOST_ROWS))
        print_line(table.headline(content, found))
    if not quiet:
        print_message(f"study folder: {store.folder}")
    raise typer.Exit(Exit.MET if table.answered(found) else Exit.REQUIREMENT_FAILED)
