"""The answers of the server about runs."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from tsnbench.errors import InputError
from tsnbench.measure.headline import headline
from tsnbench.runs import Run, file_names
from tsnbench.ui.texts import Texts
from tsnbench.ui.workspace import Workspace


class RunState(TypedDict):
    """One line of the list of runs."""

    folder: str
    name: str
    state: str
    met: bool | None
    """None without a verdict or without requirements."""
    verdict: str
    """The last line of ``tsnbench run``: with lost frames, and with a worst case that breaks a limit."""
    report: bool
    replay: bool
    """Whether the run is a simulation: others cannot be replayed."""
    backend: str
    plan: str
    """The hash of its Plan: two runs with the same hash are the same experiment."""
    problem: str
    started: str
    """When it began (ISO 8601); empty if it is not known."""


class ListedRun(RunState):
    """A run in the list of the opened folder, with its :class:`~tsnbench.ui.texts.Texts`."""

    now: str
    kept: str


def run_state(folder: Path, name: str) -> RunState:
    """The state and the verdict of a run from its files; nothing is measured or judged."""
    return _state(_opened(folder), folder, name)


def listed_run(workspace: Workspace, name: str) -> ListedRun:
    """The state of a run of the opened folder, and the texts of its scenario."""
    folder = workspace.folder / name
    found = _opened(folder)
    texts = Texts.of(workspace, found) if isinstance(found, Run) else Texts("", "")
    return {**_state(found, folder, name), "now": texts.now, "kept": texts.kept}


def _opened(folder: Path) -> Run | str:
    """The run, or why it cannot be read."""
    try:
        return Run.open(folder)
    except (InputError, KeyError, ValueError) as error:
        return str(error)


def _state(found: Run | str, folder: Path, name: str) -> RunState:
    run, problem = (found, "") if isinstance(found, Run) else (None, found)
    met: bool | None = None
    words = ""
    try:
        if run and (folder / file_names.VERDICT).is_file():
            verdict = run.verdict()
            # Without requirements there is no verdict, unless frames refute a proof.
            met = bool(verdict["met"]) if verdict["rows"] or verdict.get("refuted") else None
            words = headline(verdict)
    except (InputError, KeyError, ValueError) as error:
        run, met, words, problem = None, None, "", str(error)
    manifest = run.manifest if run else {}
    return {
        "folder": name,
        "name": str(manifest.get("name", "")),
        "state": run.state.value if run else "unreadable",
        "met": met,
        "verdict": words,
        "report": run is not None and (folder / "report.html").is_file(),
        "replay": manifest.get("backend") == "simulation",
        "backend": str(manifest.get("backend", "")),
        "plan": str(manifest.get("plan", "")),
        "started": str(manifest.get("started", "")),
        "problem": problem or str(manifest.get("problem") or ""),
    }
