"""The commands of ``tsnbench study`` beside ``run``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import (
    AllRows,
    FigureKinds,
    FigureNames,
    argument,
    flag,
    json_of,
    option,
    setting,
)
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_files,
    print_json,
    print_line,
    print_message,
    user_errors,
)
from tsnbench.cli.console.progress import busy, end_with_input
from tsnbench.cli.parts import study_page
from tsnbench.cli.study.results import RunsAsJson, print_tables, tables_of, write_page
from tsnbench.studies import lease, provenance
from tsnbench.studies.clusters.scripts import kubernetes_job, slurm_script
from tsnbench.studies.page import facts
from tsnbench.studies.rerun import again
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import Store
from tsnbench.studies.table import how_far, looks, written
from tsnbench.studies.worker import work as pull

StudyFolder = Annotated[Path, argument("DIR", "Folder of a study.")]


def work(
    folder: StudyFolder,
    until_closed: Annotated[bool, flag("--until-closed", "End as soon as standard input is closed.")] = False,
) -> None:
    """Run as one worker: make runs of a study until none is left. Any number of workers may run, anywhere."""
    if until_closed:
        end_with_input()
    with user_errors(measuring=True):
        # The command that closes the input makes the lists of a search.
        made = pull(folder, one_list=until_closed)
    print_message(f"{made} runs made")


def status(
    folder: StudyFolder,
    as_json: Annotated[bool, json_of("The numbers")] = False,
) -> None:
    """Count the runs of a study: made, under way, and left."""
    with user_errors():
        store = Store(folder)
        repetitions = Repetitions(store, store.read())
        content, progress = repetitions.counted(), repetitions.progress()
        left = {run.id for run in repetitions.unmade()}
        busy = left & set(lease.held(folder / "leases"))
    numbers = {"runs": len(content.runs), "made": len(content.runs) - len(left), "under_way": len(busy)}
    if as_json:
        print_json(
            "study-status",
            {
                "study": content.name,
                "engine": content.engine,
                **numbers,
                "left": len(left) - len(busy),
                "until": looks(content, progress),
            },
        )
        return
    print_line(
        f"{content.name}: {numbers['made']} of {numbers['runs']} runs made, {len(busy)} under way, "
        f"{len(left) - len(busy)} left"
    )
    for line in how_far(content, progress):
        print_line(line)


def report(
    folder: StudyFolder,
    everything: AllRows = False,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    as_json: RunsAsJson = False,
) -> None:
    """Print the results of a study so far: one table and one last line; report.html has the figures."""
    kinds = figure_kinds(figures, folder, names=figure)
    with user_errors():
        store = Store(folder)
        content, found = tables_of(store, write=False)
        if figure:
            with busy("figures"):
                files = study_page.write_figure(facts(content, found), figure, store.folder, kinds)
            print_files(files, as_json)
            return
        page = write_page(store, content, found, kinds)
    print_message(f"report: {page}")
    print_tables(store, content, found, as_json, everything, quiet=False)


def export(
    folder: StudyFolder,
) -> None:
    """Write the tables of a study anew: results, intervals, differences and runs."""
    with user_errors():
        content, found = tables_of(Store(folder), write=True)
    for name in (*written(content, found), provenance.NAME):
        print_line(str(folder / name))


def rerun(
    folder: StudyFolder,
    name: Annotated[str, argument("RUN", "The run, as the column run of the tables names it.")],
    into: Annotated[Path | None, option("DIR", "Run folder; default runs/<run>.")] = None,
) -> None:
    """Make the run folder of one run again, and check that every sighting is the same."""
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
    time: Annotated[str, setting("TIME", "Limit of each worker.", "--time")] = "01:00:00",
) -> None:
    """Print a SLURM script that starts workers as an array; nothing is submitted."""
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
    if workers < 1:
        fail(Exit.INPUT_WRONG, f"--workers: expected at least 1, found {workers}")
    with user_errors():
        for line in kubernetes_job(folder, workers, image, claim, path or folder.resolve().name):
            print_line(line)
