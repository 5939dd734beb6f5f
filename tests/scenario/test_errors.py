"""The messages for wrong scenarios: ``tests/errors/*.yaml``, each with the text of its messages.

The scenarios in ``planned`` are read without a mistake, but cannot be planned.

``TSNBENCH_UPDATE=1 pytest tests/scenario/test_errors.py`` writes the messages anew; check them then.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.golden import messages_match
from tsnbench.planning import PlanningErrors
from tsnbench.scenario import ScenarioErrors, load_variants

FOLDER = Path(__file__).parent.parent / "errors"
CASES = sorted(FOLDER.glob("*.yaml"))
PLANNED = sorted(FOLDER.glob("planned/*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_wording(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    assert isinstance(messages_match(case), ScenarioErrors)


@pytest.mark.parametrize("case", PLANNED, ids=lambda case: case.stem)
def test_wording_of_planning(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)
    found = messages_match(case)
    assert isinstance(found, PlanningErrors)
    for problem in found.problems:
        assert problem.where.startswith(f"{case.name}:"), problem


def test_there_are_enough() -> None:
    assert len(CASES) >= 40
    assert {case.stem for case in CASES} == {golden.stem for golden in FOLDER.glob("*.txt")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_places_are_in_the_file(case: Path) -> None:
    with pytest.raises(ScenarioErrors) as raised:
        load_variants(case)
    lines = max(1, case.read_bytes().count(b"\n") + 1)
    for problem in raised.value.problems:
        assert problem.file == str(case)
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
        assert problem.expected
        assert problem.found
