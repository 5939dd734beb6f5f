"""A worker: takes one run after the other until nothing is left. It may be killed at any moment."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import InputError
from tsnbench.measure import measures_rows
from tsnbench.measure.headline import overall
from tsnbench.planning import plan as make_plan
from tsnbench.runs import clearing, file_names, lock
from tsnbench.runs.engine import DIGITS, identity
from tsnbench.runs.errors import FolderError, writing
from tsnbench.scenario.text import source
from tsnbench.studies import lease, study_file
from tsnbench.studies.design import BACKEND, Request, Source
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import FORMAT, SCENARIO, STUDY, Content, Row, Store

POLL_S = 0.2
"""How often a worker without work looks whether another worker's run is done or its worker is dead."""


def work(folder: Path, tell: Callable[[Request], None] | None = None) -> int:
    """Makes runs until every run of the study is made; returns how many this worker made.

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
    wanted = Repetitions(store, content)
    with writing(folder):
        while open_runs := wanted.unmade():
            busy = 0
            for run in open_runs:
                if (folder / "runs" / f"{run.id}.json").exists() and store.result(run) is not None:
                    continue
                held = lease.take(folder / "leases", run.id)
                if held is None:
                    busy += 1
                    continue
                with lease.kept_fresh(held):
                    # Another worker may have made the run between the first look and the lease.
                    if store.result(run) is None:
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


def make(store: Store, whole: Source, run: Request, token: str) -> None:
    """Plans, runs, measures and judges one run, and writes the result."""
    began = time.monotonic()
    plan_hash, problem = "", ""
    try:
        plan = make_plan(whole.scenario(run))
        plan_hash = plan.hash
    except InputError as error:
        # Values for which there is no Plan are a result: the study goes on.
        problem = str(error)
    key = hashlib.sha256(f"{plan_hash or run.id} {BACKEND} {identity()}".encode()).hexdigest()[:DIGITS]
    there = store.record("made", key)
    if there is None:
        if problem:
            found: dict[str, Any] = {"problem": problem}
        else:
            folder = store.folder / "scratch" / f"{run.id}-{token}"
            try:
                ended = run_one(plan, folder, Options(report=False))
                found = outcome_of(folder, ended.verdict, ended.run.measures())
            finally:
                remove(folder)
        found = {"format": FORMAT, "plan": plan_hash, **found}
        store.write(f"made/{key}.json", json.dumps(found, ensure_ascii=False) + "\n")
    about = {
        "format": FORMAT,
        "key": key,
        "reused": there is not None,
        "wall_seconds": round(time.monotonic() - began, 3),
        "worker": f"{platform.node()}/{os.getpid()}",
    }
    store.write(f"runs/{run.id}.json", json.dumps(about) + "\n")


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
    """Removes the leases of killed workers, and temporary run folders of runs that no worker makes now."""
    lease.clear_dead(store.folder / "leases")
    live = set(lease.held(store.folder / "leases"))
    for folder in sorted((store.folder / "scratch").iterdir()):
        if folder.name.partition("-")[0] not in live:
            remove(folder)
