"""The states of studies and sweeps, as they grow: the numbers of ``tsnbench study status``."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from tsnbench.errors import BackendError, InputError
from tsnbench.runs import sweep
from tsnbench.studies import lease
from tsnbench.studies.sequence import Repetitions
from tsnbench.studies.store import LIST, Store
from tsnbench.studies.table import how_far, summary, tables
from tsnbench.ui.answers import run_state

MOST_ROWS = 200


class StudyState(TypedDict):
    """One study or sweep."""

    folder: str
    kind: str
    """``study`` or ``sweep``."""
    name: str
    runs: int
    made: int
    under_way: int
    words: list[str]
    """What the stopping rule says, or why the study cannot be read."""
    table: list[list[str]]
    """Estimates of a study, or the runs of a sweep; the first row is the header."""
    title: str
    """Of the table, with the unit of its numbers."""
    captions: list[str]
    """What is said below the table."""
    report: bool


def state(folder: Path, name: str) -> StudyState:
    """The state of a study or of a sweep from its files."""
    found: StudyState = {
        "folder": name,
        "kind": "study" if (folder / LIST).is_file() else "sweep",
        "name": name,
        "runs": 0,
        "made": 0,
        "under_way": 0,
        "words": [],
        "table": [],
        "title": f"Results of {name}",
        "captions": [],
        "report": (folder / "report.html").is_file(),
    }
    try:
        if found["kind"] == "study":
            _study(folder, found)
        else:
            _sweep(folder, found)
    except (InputError, BackendError, OSError, KeyError, TypeError, ValueError) as error:
        found["words"] = [f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)]
    return found


def _study(folder: Path, found: StudyState) -> None:
    store = Store(folder)
    repetitions = Repetitions(store, store.read())
    content, progress = repetitions.counted(), repetitions.progress()
    left = {run.id for run in repetitions.unmade()}
    found["name"] = content.name
    found["runs"] = len(content.runs)
    found["made"] = len(content.runs) - len(left)
    found["under_way"] = len(left & set(lease.held(folder / "leases")))
    found["words"] = list(how_far(content, progress))
    sheet = summary(*tables(store, content), most=MOST_ROWS)
    found["title"], found["captions"] = sheet.title, list(sheet.captions)
    found["table"] = [
        [column.header for column in sheet.columns],
        *([str(cell) for cell in row] for row in sheet.rows),
    ]


def _sweep(folder: Path, found: StudyState) -> None:
    content = sweep.read(folder)
    found["name"] = content.name
    runs = content.current or content.runs
    states = [run_state(folder / name, name) for name in runs[:MOST_ROWS]]
    found["runs"] = len(runs)
    found["made"] = sum(one["state"] == "complete" for one in states)
    found["under_way"] = sum(one["state"] == "running" for one in states)
    rows = [[one["folder"], one["state"], one["verdict"]] for one in states]
    found["table"] = [["run", "state", "verdict"], *rows]
