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
from tsnbench.planning.impossible import Impossible
from tsnbench.planning.windows.diagnosis import Violation
from tsnbench.scenario import load_variants

ROOM = Path(tsnbench.planning.__file__).parent
FILES = Path(__file__).parents[1] / "errors/planned"


WORDS = ("problem", "PlanningProblem", "Impossible", "Violation")
"""What is called with the words of a refusal."""


def named(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def wrappers(tree: ast.Module) -> set[str]:
    """The functions of a file that are given the words and pass them on."""
    return {
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and {"expected", "found"} <= {argument.arg for argument in one.args.args}
        and any(isinstance(inner, ast.Call) and named(inner) in WORDS for inner in ast.walk(one))
    }


def sites() -> dict[tuple[str, int], int]:
    """First and last line of each call with the words of a refusal."""
    found = {}
    for file in ROOM.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        words = {*WORDS, *wrappers(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and named(node) in words and file.name != "draft.py":
                found[str(file), node.lineno] = node.end_lineno or node.lineno
    return found


def test_every_refusal_has_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[tuple[str, int]] = set()

    def watched(kind: type) -> None:
        init = kind.__init__  # type: ignore[misc]

        def made(self: object, *words: Any, **more: Any) -> None:
            init(self, *words, **more)
            frame = sys._getframe(1)
            while frame.f_back is not None:
                seen.add((frame.f_code.co_filename, frame.f_lineno))
                frame = frame.f_back

        monkeypatch.setattr(kind, "__init__", made)

    for kind in (PlanningProblem, Impossible, Violation):
        watched(kind)
    for file in sorted(FILES.glob("*.yaml")):
        (scenario,) = load_variants(file)
        refusal(scenario)
    for make in CASES.values():
        refusal(make())
    too_many_releases(tmp_path, monkeypatch)
    without = [
        f"{Path(file).relative_to(ROOM)}:{first}"
        for (file, first), last in sites().items()
        if not any(file == own and first <= line <= last for own, line in seen)
    ]
    assert len(sites()) > 100
    # The proof of a finished schedule has none: the planner makes no schedule that it refuses.
    assert [one.split(":")[0] for one in without] == ["passes.py"], "\n".join(without)
