"""Measures of a run folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from tsnbench import _native
from tsnbench.measure.answers import add_round_trips
from tsnbench.measure.captures.interfaces import refuse_irregular
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.stamps import measured_from, option
from tsnbench.plan.indented import for_people
from tsnbench.plan.types import Stage
from tsnbench.runs import file_names, lock
from tsnbench.runs.errors import DISK, FolderError, unwritable, writing
from tsnbench.runs.folder import half_written

if TYPE_CHECKING:
    from tsnbench.runs.measures import Measures


def measure_run(folder: str | os.PathLike[str], start: str | None = None, end: str | None = None) -> Measures:
    """Measures a run; writes ``measures.json`` and ``frames.parquet`` into its folder.

    Delays are measured between the stages ``start`` and ``end``: by default from the departure at the talker
    (``tx``) to the arrival at the listener's port (``rx``). For other stages, file names contain them:
    ``measures-driver-rx.json``.

    Returns:
        ``tsnbench-measures/1``.

    Raises:
        FolderError: the folder is no run folder, or half-written.
        BackendError: another process writes into it, or the disk is full.
    """
    path = Path(folder)
    if not path.is_dir():
        raise FolderError(path, "expected a run folder, found none")
    lock.refuse_busy(path)
    if (path / file_names.MANIFEST).exists() and (why := half_written(path)):
        raise FolderError(path, why, "run it again")
    with writing(path), lock.held(path):
        return _measure(path, start, end)


def measure_after(folder: str | os.PathLike[str], after_ns: int) -> Measures:
    """Measures a run without its warm-up; the folder's own measures stay.

    Args:
        after_ns: the end of the warm-up, in the run's time: frames that leave earlier do not count.

    Raises:
        FolderError: the folder is no run folder.
    """
    path = Path(folder)
    try:
        options = {"after_ns": after_ns} | option(path, measured_from(path))
        measures: Measures = json.loads(_native.measure_run(os.fspath(path), json.dumps(options)))
    except (OSError, ValueError) as error:
        raise MeasureError(str(error)) from error
    return measures


def _measure(path: Path, start: str | None, end: str | None) -> Measures:
    try:
        for option_, stage in (("--from", start), ("--to", end)):
            if stage is not None and stage not in get_args(Stage):
                raise MeasureError(f"{option_}: expected one of {', '.join(get_args(Stage))}, found {stage}")
        names = (file_names.PLAN, file_names.OBSERVATIONS, file_names.COUNTERS)
        refuse_irregular(path / name for name in names)
        stages = {"from": start, "to": end}
        options = {name: stage for name, stage in stages.items() if stage is not None}
        begin = measured_from(path)
        text = _native.measure_run(os.fspath(path), json.dumps(options | option(path, begin)))
        measures: Measures = json.loads(text)
        if begin is not None:
            measures["measured_from"] = begin
        if not options:
            add_round_trips(path, measures)
        written = for_people(measures) + "\n"
        name = "-".join(["measures", start or "tx", end or "rx"]) if options else "measures"
        (path / f"{name}.json").write_text(written, encoding="utf-8")
    except OSError as error:
        if error.errno in DISK:
            raise unwritable(path, error) from error
        raise MeasureError(error.strerror or str(error)) from error
    except ValueError as error:
        raise MeasureError(str(error)) from error
    return measures
