"""Repetition of one run of a study, with its complete run folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.planning import plan as make_plan
from tsnbench.runs import file_names
from tsnbench.runs.errors import FolderError
from tsnbench.studies.store import Store
from tsnbench.studies.worker import source_of


def again(store: Store, name: str, into: Path, *, report: bool = True) -> bool:
    """Makes the folder of one run; returns whether all its sightings are those of the study.

    Raises:
        InputError: the study has no such run, it is not made yet, or ``into`` holds something else.
        BackendError: the run failed.
    """
    content = store.read()
    found = next((run for run in content.runs if run.id == name), None)
    if found is None:
        raise FolderError(store.folder, f"has no run {name}", "the column run of runs.csv names them")
    made = store.result(found)
    if made is None:
        raise FolderError(store.folder, f"run {name} is not made yet", "tsnbench study run makes it")
    plan = make_plan(source_of(store, content).scenario(found))
    run_one(plan, into, Options(report=report))
    digest = hashlib.sha256((into / file_names.OBSERVATIONS).read_bytes()).hexdigest()
    return bool(digest == made.get("digest"))
