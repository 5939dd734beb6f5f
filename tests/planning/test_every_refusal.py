"""Every refusal of the planner has an example: a file in ``tests/errors/planned``, or one in Python."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

import tsnbench.planning
from planning.test_refusals import CASES, refusal
from planning.test_refusals import test_too_many_releases_of_recordings as too_many_releases
from tsnbench.planning.errors import PlanningProblem
from tsnbench.scenario import load_variants

ROOM = Path(tsnbench.planning.__file__).parent
FILES = Path(__file__).parents[1] / "errors/planned"


def sites() -> dict[tuple[str, int], int]:
    """First and last line of each call that reports a problem."""
    found = {}
    for file in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or file.name == "draft.py":
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("problem", "PlanningProblem"):
                found[str(file), node.lineno] = node.end_lineno or node.lineno
    return found


PROVED = "the proof of a finished schedule: the planner makes none that it refuses"


def test_every_refusal_has_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[tuple[str, int]] = set()

    def made(self: PlanningProblem, *words: Any, **named: Any) -> None:
        init(self, *words, **named)
        frame = sys._getframe(1)
        while frame.f_back is not None:
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back

    init = PlanningProblem.__init__
    monkeypatch.setattr(PlanningProblem, "__init__", made)
    for file in sorted(FILES.glob("*.yaml")):
        (scenario,) = load_variants(file)
        refusal(scenario)
    for make, _ in CASES.values():
        refusal(make())
    too_many_releases(tmp_path, monkeypatch)
    without = [
        f"{Path(file).relative_to(ROOM)}:{first}"
        for (file, first), last in sites().items()
        if not any(file == own and first <= line <= last for own, line in seen)
    ]
    assert len(sites()) > 80
    assert [one.split(":")[0] for one in without] == ["passes.py"], PROVED
