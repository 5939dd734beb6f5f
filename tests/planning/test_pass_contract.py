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
from tsnbench.scenario import load_variants, model

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(
    [
        *ROOT.glob("scenarios/tutorial/*.yaml"),
        *ROOT.glob("scenarios/twin/*.yaml"),
        *ROOT.glob("tests/plans/*.yaml"),
    ]
)
HEAD = """\
name: more
duration: 4 ms
network:
  stations: [a, b, c, d]
  bridges: {s1: {processing: 1 us}, s2: {processing: 1 us}, s3: {processing: 1 us}}
  links: {rate: 100 Mbit/s, between: [a-s1, b-s1, s1-s2, s1-s3, s3-s2, s2-c, s2-d]}
"""
MORE = {
    "several-queues": HEAD
    + """\
schedule: {pcps: [7, 6]}
streams:
  x: {from: a, to: c, pcp: 7, period: 400 us, frame: 900 B, scheduled: true, release: {latest: 10 us}}
  y: {from: b, to: c, pcp: 7, period: 400 us, frame: 900 B, scheduled: true, release: {latest: 10 us}}
""",
    "free-paths": HEAD
    + """\
schedule: {ways: free}
streams:
  x: {from: a, to: c, pcp: 7, period: 120 us, frame: 1200 B, scheduled: true, requires: {delay: 500 us}}
  y: {from: b, to: d, pcp: 7, period: 120 us, frame: 1200 B, scheduled: true, requires: {delay: 500 us}}
""",
    "real-rate": HEAD
    + """\
streams:
  x: {from: a, to: c, pcp: 3, period: 1 ms, frame: 900 B}
shapers:
  s2 -> c: {real-rate: 99 Mbit/s}
""",
}
"""What the shipped scenarios do not have."""

ABSENT = object()
EMPTY = (ABSENT, None, "", 0, (), [], {}, (None, None), model.Shaper())


def changed(before: Any, after: Any, path: str) -> Iterator[str]:
    """Paths of values that were there before and are others now. What is added to a list is no change."""
    if is_dataclass(before) and type(before) is type(after):
        for one in fields(before):
            old, new = (getattr(part, one.name, ABSENT) for part in (before, after))
            yield from changed(old, new, f"{path}.{one.name}" if path else one.name)
    elif isinstance(before, dict) and isinstance(after, dict):
        for key, old in before.items():
            yield from changed(old, after.get(key, ABSENT), path)
    elif isinstance(before, list | tuple) and isinstance(after, type(before)) and len(after) >= len(before):
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
            # `ports.gates` and not what in it: the list above is for people.
            if paths := {".".join(one.split(".")[:2]) for one in changed(before, draft, "")}:
                found.setdefault(each.__name__, set()).update(paths)
    return found


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    planned = 0
    folder = tmp_path_factory.mktemp("more")
    for name, text in MORE.items():
        (folder / f"{name}.yaml").write_text(text)
    for path in [*SCENARIOS, *sorted(folder.iterdir())]:
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
