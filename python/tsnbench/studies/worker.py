"""A worker: takes one run after the other until nothing is left. It may be killed at any moment."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import InputError
from tsnbench.measure import measures_rows
from tsnbench.measure.headline import overall
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.runs import clearing, file_names, lock
from tsnbench.runs.engine import DIGITS, identity
from tsnbench.runs.errors import FolderError, writing
from tsnbench.scenario.text import source
from tsnbench.studies import lease, study_file
from tsnbench.studies.design import BACKEND, Request, Source
from tsnbench.studies.estimates import warm_up
from tsnbench.studies.exploring.rounds import following
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import FORMAT, SCENARIO, STUDY, Content, Row, Store

PART_S = 60
"""The age of an unfinished result whose worker is dead: writing one takes less than a second."""
POLL_S = 0.2
"""How often a worker without work looks whether another worker's run is done or its worker is dead."""


def work(folder: Path, tell: Callable[[Request], None] | None = None, *, one_list: bool = False) -> int:
    """Makes runs until every run of the study is made; returns how many this worker made.

    ``one_list``: end with the list of runs that is there; otherwise a search goes on with further lists.

    Raises:
        InputError: the folder is no study's, or another build of tsnbench made its list.
        BackendError: a run failed for a reason of this machine, such as a full disk.
    """
    store = Store(folder)
    content = store.read()
    if content.engine != identity():
        raise FolderError(
            folder,
            f"its list is of another build of tsnbench, {content.engine}, and this is {identity()}",
            "use the same build on all machines, or make the list anew with tsnbench study run",
        )
    whole = source_of(store, content)
    made = 0
    with writing(folder):
        listed: Content | None = content
        while listed is not None:
            made += _make_listed(store, listed, whole, tell)
            listed = None if one_list else following(store, listed, whole)
    return made


def _make_listed(
    store: Store, content: Content, whole: Source, tell: Callable[[Request], None] | None
) -> int:
    """Makes the runs of one list that no other worker makes, and waits for those of others."""
    made = 0
    wanted = Repetitions(store, content)
    while open_runs := wanted.unmade():
        busy = 0
        for run in open_runs:
            if (store.folder / "runs" / f"{run.id}.json").exists() and store.result(run) is not None:
                continue
            held = lease.take(store.folder / "leases", run.id)
            if held is None:
                busy += 1
                continue
            with lease.kept_fresh(held):
                # Another worker may have made the run between the first look and the lease.
                if store.result(run) is not None:
                    continue
                make(store, whole, run, held.token)
                made += 1
                if tell:
                    tell(run)
        if busy:
            time.sleep(POLL_S)
    return made


def source_of(store: Store, content: Content) -> Source:
    """The study and its scenario as they were when the list was made."""
    text = source.read_file(store.folder / STUDY, study_file.SUBJECT)
    study = study_file.of_text(text, store.folder / content.file)
    return Source(study, source.read_file(store.folder / SCENARIO))


@dataclass(frozen=True)
class Planned:
    """A run whose Plan is made, or the reason why it has none."""

    plan: Plan | None
    problem: str
    key: str
    """The name of its result: the same for all runs with this Plan, backend, engine and warm-up."""
    warm_up: int | str | None = None


def planned(whole: Source, run: Request) -> Planned:
    """Plans one run. Values for which there is no Plan are a result: the study goes on."""
    plan, problem = None, ""
    try:
        plan = make_plan(whole.scenario(run))
    except InputError as error:
        problem = str(error)
    wanted = whole.study.warm_up
    if plan and (problem := warm_up.refused(plan, wanted)):
        plan = None
    said = f"{plan.hash if plan else run.id} {BACKEND} {identity()}"
    said += f" {wanted}" if wanted else ""
    return Planned(plan, problem, hashlib.sha256(said.encode()).hexdigest()[:DIGITS], wanted)


def simulated(one: Planned, folder: Path) -> Row:
    """Runs, measures and judges a Plan in a temporary folder, which is removed."""
    if one.plan is None:
        return {"format": FORMAT, "plan": "", "problem": one.problem}
    try:
        ended = run_one(one.plan, folder, Options(report=False))
        measures, about = ended.run.measures(), {}
        if one.warm_up is not None:
            measures, deleted = warm_up.measured(ended.run, one.warm_up)
            about = {warm_up.COLUMN: asdict(deleted)}
        found = outcome_of(folder, ended.verdict, measures) | about
    finally:
        remove(folder)
    return {"format": FORMAT, "plan": one.plan.hash, **found}


def worker_name() -> str:
    """The name of this process in tables."""
    return f"{platform.node()}/{os.getpid()}"


def note(store: Store, run: Request, key: str, *, reused: bool, seconds: float, worker: str) -> None:
    """Writes which result a run has; the result is there already."""
    about = {
        "format": FORMAT,
        "key": key,
        "reused": reused,
        "wall_seconds": round(seconds, 3),
        "worker": worker,
    }
    store.write(f"runs/{run.id}.json", json.dumps(about) + "\n")


def keep(store: Store, key: str, found: Row) -> None:
    """Writes a result."""
    store.write(f"made/{key}.json", json.dumps(found, ensure_ascii=False) + "\n")


def make(store: Store, whole: Source, run: Request, token: str) -> None:
    """Plans, runs, measures and judges one run, and writes the result."""
    began = time.monotonic()
    one = planned(whole, run)
    there = store.record("made", one.key) is not None
    if not there:
        keep(store, one.key, simulated(one, store.folder / "scratch" / f"{run.id}-{token}"))
    seconds = time.monotonic() - began
    note(store, run, one.key, reused=there, seconds=seconds, worker=worker_name())


def outcome_of(folder: Path, verdict: Any, measures: Any) -> Row:
    """The result that a study stores for a run: measures, verdict, and a digest of all sightings."""
    digest = hashlib.sha256((folder / file_names.OBSERVATIONS).read_bytes()).hexdigest()
    met: dict[str, bool] = {}
    for row in verdict["rows"]:
        who = json.dumps([row.get("group") or row["stream"], row["listener"]])
        met[who] = met.get(who, True) and row["met"] == "yes"
    rows = [
        row | {"met": met.get(json.dumps([row["stream"], row["listener"]]))}
        for row in measures_rows(measures)
    ]
    return {"met": verdict["met"], "outcome": overall(verdict), "digest": digest, "rows": rows}


def remove(folder: Path) -> None:
    """Removes a temporary run folder; a folder with files of others stays."""
    if not folder.is_dir():
        return
    with suppress(FolderError, lock.FolderBusyError, OSError):
        # The lock file of a killed process stays. The next holder of the lock removes the file.
        with lock.held(folder):
            clearing.clear(folder)
        folder.rmdir()


def sweep_scratch(store: Store) -> None:
    """Removes the leases of killed workers, temporary run folders of runs that no worker makes now, and
    results that a killed worker was writing."""
    leases = store.folder / "leases"
    lease.clear_dead(leases)
    parts = store.unfinished(PART_S)
    live = set()
    for name in lease.held(leases):
        if store.made(name) is None:
            live.add(name)
        else:
            # A worker, perhaps on another machine, was killed between its result and the end of its lease.
            (leases / name).unlink(missing_ok=True)
    for folder in sorted((store.folder / "scratch").iterdir()):
        if folder.name.partition("-")[0] not in live:
            remove(folder)
    if not live:
        for part in parts:
            part.unlink(missing_ok=True)
