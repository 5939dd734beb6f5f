"""A pass fills what is empty and changes nothing else, but for what ``REVISES`` declares."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from tsnbench.planning import PlanningErrors
from tsnbench.planning.draft import Draft
from tsnbench.planning.passes import PASSES, REVISES
from tsnbench.scenario import load_variants

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(
    [
        *ROOT.glob("scenarios/tutorial/*.yaml"),
        *ROOT.glob("scenarios/twin/*.yaml"),
        *ROOT.glob("tests/plans/*.yaml"),
    ]
)
ABSENT = object()
EMPTY = (ABSENT, None, "", 0, (), [], {}, (None, None))


def changed(before: Any, after: Any, path: str) -> Iterator[str]:
    """Paths of values that were there before and are others now. What is added to a list is no change."""
    if is_dataclass(before) and type(before) is type(after):
        for one in fields(before):
            old, new = (getattr(part, one.name, ABSENT) for part in (before, after))
            yield from changed(old, new, f"{path}.{one.name}" if path else one.name)
    elif isinstance(before, dict) and isinstance(after, dict):
        for key, old in before.items():
            yield from changed(old, after.get(key, ABSENT), path)
    elif isinstance(before, list) and isinstance(after, list) and len(after) >= len(before):
        for old, new in zip(before, after[: len(before)], strict=True):
            yield from changed(old, new, path)
    elif before not in EMPTY and before != after:
        yield path


def revised(path: Path) -> dict[str, set[str]]:
    """By pass, what it changed in any variant of a scenario that had been filled before."""
    found: dict[str, set[str]] = {}
    for variant in load_variants(path):
        draft = Draft(variant)
        for each in PASSES:
            before = copy.deepcopy(draft, {id(variant): variant})
            each(draft)
            draft.raise_problems()
            if paths := set(changed(before, draft, "")):
                found.setdefault(each.__name__, set()).update(paths)
    return found


@pytest.fixture(scope="module")
def everywhere() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    planned = 0
    for path in SCENARIOS:
        try:
            each = revised(path)
        except PlanningErrors:
            continue
        planned += 1
        for name, paths in each.items():
            found.setdefault(name, set()).update(paths)
    assert planned > 20
    return found


def test_what_a_pass_changes_is_declared(everywhere: dict[str, set[str]]) -> None:
    undeclared = {
        name: sorted(paths - REVISES.get(name, frozenset()))
        for name, paths in everywhere.items()
        if paths - REVISES.get(name, frozenset())
    }
    assert not undeclared


def test_nothing_is_declared_that_no_pass_changes(everywhere: dict[str, set[str]]) -> None:
    assert {name: set(paths) for name, paths in REVISES.items()} == everywhere


def test_only_passes_are_declared() -> None:
    assert REVISES.keys() <= {each.__name__ for each in PASSES}
