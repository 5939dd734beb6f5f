"""What the page is told: problems and warnings of a text, and the state of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from tsnbench.errors import InputError
from tsnbench.measure.headline import headline
from tsnbench.planning import PlanningErrors
from tsnbench.planning import plan as make_plan
from tsnbench.runs import FolderError, Run, file_names
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.loader import read_scenario


class Checked(TypedDict):
    """The answer of ``tsnbench check --json``."""

    ok: bool
    problems: list[dict[str, str | int]]
    warnings: list[dict[str, str]]


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
    problem: str


def checked(text: str, file: str) -> Checked:
    """Reads and plans a text that may not be saved, and lists all its mistakes.

    Args:
        text: the scenario.
        file: its path: tables beside it are read, and problems name it.
    """
    found: dict[str, dict[str, str | int]] = {}
    warnings: dict[str, dict[str, str]] = {}
    try:
        for scenario in read_scenario(text, file):
            try:
                made = make_plan(scenario).warnings
                warnings |= {str(warning): warning.as_dict() for warning in made}
            except PlanningErrors as errors:
                found |= {str(problem): problem.as_dict() for problem in errors.problems}
    except ScenarioErrors as errors:
        found = {str(problem): problem.as_dict() for problem in errors.problems}
    return {"ok": not found, "problems": list(found.values()), "warnings": list(warnings.values())}


def run_state(folder: Path, name: str) -> RunState:
    """The state and the verdict of a run as its files say; nothing is measured or judged."""
    met: bool | None = None
    words = ""
    try:
        run = Run.open(folder)
        if (folder / file_names.VERDICT).is_file():
            verdict = run.verdict()
            # Without requirements nothing was met.
            met = bool(verdict["met"]) if verdict["rows"] else None
            words = headline(verdict)
    except (FolderError, InputError, KeyError, ValueError) as error:
        return {
            "folder": name,
            "name": "",
            "state": "unreadable",
            "met": None,
            "verdict": "",
            "report": False,
            "replay": False,
            "problem": str(error),
        }
    return {
        "folder": name,
        "name": str(run.manifest.get("name", "")),
        "state": run.state.value,
        "met": met,
        "verdict": words,
        "report": (folder / "report.html").is_file(),
        "replay": run.manifest.get("backend") == "simulation",
        "problem": str(run.manifest.get("problem") or ""),
    }
