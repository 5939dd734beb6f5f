"""``tsnbench study run``: all runs of a study, then its tables and its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import AllRows, argument, flag, option, setting
from tsnbench.cli.console.output import Exit, fail, print_message, user_errors
from tsnbench.cli.console.progress import known
from tsnbench.cli.parts import dask
from tsnbench.cli.study.crew import crew, shown
from tsnbench.cli.study.results import RunsAsJson, keep_worst, print_tables, tables_of, write_page
from tsnbench.quantities import some
from tsnbench.runs.process import cores
from tsnbench.scenario.text import source
from tsnbench.studies import study_file
from tsnbench.studies.design import Design
from tsnbench.studies.exploring.rounds import rounds
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import SCENARIO, STUDY, Store
from tsnbench.studies.study_file import Study
from tsnbench.studies.worker import sweep_scratch

Folder = Annotated[Path | None, option("DIR", "Folder of the study; default studies/<study name>.")]
Workers = Annotated[int | None, option("N", "Worker processes; default one for each core; 0: no run.")]
Cluster = Annotated[str | None, setting("CLUSTER", "dask:ADDRESS: run on a Dask cluster.", "--cluster")]


def run(
    file: Annotated[Path, argument("FILE", "File of the study.")],
    into: Folder = None,
    workers: Workers = None,
    cluster: Cluster = None,
    progress: Annotated[str, setting("HOW", "Progress: bar or json (one line a run).")] = "bar",
    with_report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    everything: AllRows = False,
    quiet: Annotated[bool, flag("--quiet -q", "Print only the last line.")] = False,
    as_json: RunsAsJson = False,
) -> None:
    """Make all runs of a study that are not made yet, on all cores; write its tables and its page."""
    known(progress)
    if workers is not None and workers < 0:
        fail(Exit.INPUT_WRONG, f"--workers: expected at least 0, found {workers}")
    if cluster is not None and workers is not None:
        fail(Exit.INPUT_WRONG, "--workers: not with --cluster, which has its own workers")
    with user_errors(measuring=True):
        makers = Makers(None if cluster is None else dask.address_of(cluster), workers, progress, quiet)
        text = source.read_file(file, study_file.SUBJECT)
        study = study_file.of_text(text, file)
        texts = {STUDY: text, SCENARIO: source.read_file(study.scenario)}
        store = Store(into or Path("studies") / study.name)
        counts = _make(study, store, {STUDY: file, SCENARIO: study.scenario}, texts, makers)
        if counts is None:
            return
        if not quiet:
            print_message(f"{counts[0]} runs made, {counts[1]} were there already")
        content, found = tables_of(store, write=True)
        page = write_page(store, content, found) if with_report else None
        folders = keep_worst(store, found, study.keep, progress)
    if page is not None and not quiet:
        print_message(f"report: {page}")
    if folders and not quiet:
        print_message(f"kept: {some([str(one) for one in folders], 3)}")
    print_tables(store, content, found, as_json, everything, quiet)


@dataclass(frozen=True)
class Makers:
    """Who makes the runs: a Dask cluster, or processes of this machine."""

    address: str | None
    workers: int | None
    """Processes, one for each core by default; 0: the runs are only listed."""
    progress: str
    quiet: bool

    def make(self, store: Store, repetitions: Repetitions) -> None:
        """Makes the runs that are not made yet."""
        if self.address is not None:
            with shown(self.progress, self.quiet) as show:
                dask.make_all(store, repetitions, self.address, show)
        elif self.workers != 0:
            crew(store, repetitions, self.workers or cores(), self.progress, self.quiet)


def _make(
    study: Study, store: Store, files: dict[str, Path], texts: dict[str, str], makers: Makers
) -> tuple[int, int] | None:
    """Makes all runs, list by list: how many were made, and how many were there; None if they are listed."""
    made: set[str] = set()
    reused: set[str] = set()
    for place, wanted in enumerate(rounds(study, texts[SCENARIO], store)):
        changed = store.begin(wanted, study, files, texts)
        if place == 0:
            _notes(changed, wanted, study.name)
            sweep_scratch(store)
        repetitions = Repetitions(store, store.read())
        there = {one.id for one in wanted.runs if store.result(one) is not None}
        try:
            makers.make(store, repetitions)
        finally:
            sweep_scratch(store)
        counted = {one.id for one in repetitions.counted().runs}
        if makers.workers == 0:
            print_message(f"{len(counted - there)} runs listed, {len(counted & there)} were there already")
            print_message(f"hint: tsnbench study work {store.folder} is a worker")
            return None
        reused |= (counted & there) - made
        made |= counted - there
    return len(made), len(reused)


def _notes(changed: str, wanted: Design, name: str) -> None:
    if changed:
        print_message(f"note: {changed}")
    if wanted.once:
        which = some([words or name for words in wanted.once], 5)
        print_message(f"note: nothing is random, so each repetition would be the same; run once: {which}")
