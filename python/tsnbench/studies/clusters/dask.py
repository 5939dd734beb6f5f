"""Runs of a study on a Dask cluster: each task is one run, and its result comes back over the network.

Dask's workers need the same build of tsnbench, and no file system in common with this machine. If a worker
ends, Dask's scheduler gives its task to another worker.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tsnbench.errors import BackendError, InputError
from tsnbench.foreign import Json
from tsnbench.libraries import distributed, load
from tsnbench.runs.engine import identity
from tsnbench.scenario.text import source
from tsnbench.studies import study_file
from tsnbench.studies.design import Request, Source, files_beside
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import SCENARIO, STUDY, Content, Store
from tsnbench.studies.worker import keep, note, planned, simulated, worker_name

MISSING = "expected Dask for --cluster dask:ADDRESS, found none\nhint: pip install 'tsnbench[dask]'"
PREFIX = "dask:"
AHEAD = 4
"""Tasks for each thread of the cluster that are at the scheduler at the same time."""
PATIENCE_S = 30
"""How long a cluster may have no worker."""
_DEPTH = 16
"""Folders above the scenario on a worker: file names of a scenario may begin with ``../``."""
_ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?[\w.\-\[\]:]{1,250}:\d{1,5}")


@dataclass(frozen=True)
class Bundle:
    """The data that a worker needs for any run of a study."""

    study: str
    scenario: str
    name: str
    """The scenario's file as messages of this machine name it."""
    files: tuple[tuple[str, bytes], ...]
    """Files that the scenario names, relative to it."""


def address_of(on: str) -> str:
    """The scheduler's address in ``dask:ADDRESS``.

    Raises:
        InputError: this is no address.
    """
    address = on.removeprefix(PREFIX)
    if not on.startswith(PREFIX) or not _ADDRESS.fullmatch(address):
        raise InputError(
            f"--cluster: expected dask:ADDRESS, found {on}\n"
            "hint: dask:tcp://127.0.0.1:8786, the address that dask scheduler prints"
        )
    return address


def bundle_of(store: Store, content: Content) -> Bundle:
    """The study of a folder for workers that do not see this folder.

    Raises:
        InputError: the scenario names a file by its place on this machine.
    """
    text = source.read_file(store.folder / STUDY, study_file.SUBJECT)
    study = study_file.of_text(text, store.folder / content.file)
    scenario = source.read_file(store.folder / SCENARIO)
    folder = study.scenario.parent
    files = []
    for path in files_beside(source.parse(scenario, str(study.scenario)), folder):
        if not path.is_relative_to(folder):
            raise InputError(
                f"{study.scenario}: expected files beside it for --cluster dask, found {path}\n"
                "hint: name the file relative to the scenario"
            )
        files.append((str(path.relative_to(folder)), path.read_bytes()))
    return Bundle(text, scenario, str(study.scenario), tuple(files))


def one_run(bundle: Bundle, said: Json) -> Json:
    """A task: one run of a study, with its result. It runs on a worker of the cluster."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tsnbench-") as temporary:
        place = Path(temporary, *("d" for _ in range(_DEPTH)))
        place.mkdir(parents=True)
        for name, content in bundle.files:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        file = place / Path(bundle.name).name
        study = replace(study_file.of_text(bundle.study, place / STUDY), scenario=file)
        try:
            one = planned(Source(study, bundle.scenario), Request(**said))
            found = simulated(one, place / "run")
        except BackendError as error:
            return {"failed": str(error)}
    if "problem" in found:
        found["problem"] = found["problem"].replace(str(place), str(Path(bundle.name).parent))
    seconds = time.monotonic() - began
    return {"key": one.key, "found": found, "seconds": seconds, "worker": worker_name()}


def make_all(
    store: Store,
    repetitions: Repetitions,
    address: str,
    show: Callable[[Request, int, int], object],
) -> None:
    """Makes all runs of a study on a cluster, and writes their results here.

    Raises:
        InputError: Dask is not installed.
        BackendError: the cluster is not reached, has another build of tsnbench or none, or a run failed.
    """
    if not repetitions.unmade():
        return
    try:
        load(distributed)
    except ImportError:
        raise InputError(MISSING) from None
    cluster: Any = distributed
    try:
        client = cluster.Client(address, timeout=PATIENCE_S)
    except (OSError, TimeoutError) as error:
        raise BackendError(f"{address}: expected a scheduler of Dask, found none: {error}") from error
    with client:
        _check(client, address)
        _pull(client, store, repetitions, bundle_of(store, store.read()), show)


def _check(client: Any, address: str) -> None:
    """Refuses a cluster without workers, and workers of another build."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE_S)
    except TimeoutError as error:
        raise BackendError(f"{address}: expected workers, found none for {PATIENCE_S} s") from error
    try:
        builds = client.run(identity)
    except Exception as error:
        raise BackendError(
            f"{address}: expected tsnbench on every worker: {error}\nhint: install this build there"
        ) from error
    for worker, build in builds.items():
        if build != identity():
            raise BackendError(
                f"{worker}: another build of tsnbench, {build}, and this is {identity()}\nhint: use the same "
                "build on all machines"
            )


def _pull(
    client: Any,
    store: Store,
    repetitions: Repetitions,
    bundle: Bundle,
    show: Callable[[Request, int, int], object],
) -> None:

    cluster: Any = distributed
    queue = deque(repetitions.unmade())
    waiting: dict[Any, Request] = {}
    done = 0
    seen = time.monotonic()
    try:
        while queue or waiting:
            threads = sum(client.nthreads().values())
            while queue and len(waiting) < AHEAD * max(threads, 1):
                run = queue.popleft()
                waiting[client.submit(one_run, bundle, run.as_dict(), pure=False)] = run
            try:
                finished = cluster.wait(list(waiting), timeout=1, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                finished = set()
            if threads or finished:
                seen = time.monotonic()
            if client.status != "running" or time.monotonic() - seen > PATIENCE_S:
                raise BackendError("the Dask cluster is gone\nhint: the same command goes on")
            for future in finished:
                run = waiting.pop(future)
                _take(store, run, future)
                done += 1
                show(run, done, done + len(waiting) + len(queue))
            if not queue and not waiting:
                # A stopping rule may want further repetitions.
                queue.extend(repetitions.unmade())
    finally:
        client.cancel(list(waiting))


def _take(store: Store, run: Request, future: Any) -> None:
    """Writes the result of a task."""
    try:
        made = future.result()
    except Exception as error:
        # The text of a library's exception may be empty; its kind says the rest.
        raise BackendError(f"run {run.id} failed on the cluster: {type(error).__name__}: {error}") from error
    if "failed" in made:
        raise BackendError(f"run {run.id} failed on the cluster: {made['failed']}")
    if store.record("made", made["key"]) is None:
        keep(store, made["key"], made["found"])
    note(store, run, made["key"], reused=False, seconds=made["seconds"], worker=made["worker"])
