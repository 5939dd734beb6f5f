"""The commands that a report of several runs prints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tsnbench.report.parts.provenance import commands

SWEEP = ["tsnbench", "run", "a b.yaml"]


def printed(*given: Any) -> list[str]:
    return commands(cast(Any, [SimpleNamespace(manifest={"command": one}) for one in given]))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([[*SWEEP, "--only", "x=1"], [*SWEEP, "--only", "x=2"]], ["tsnbench run 'a b.yaml'"]),
        (
            [[*SWEEP, "--only", f"x={x}", "--only", "y=1", "--seed", "3"] for x in (1, 2)],
            ["tsnbench run 'a b.yaml' --seed 3 --only y=1"],
        ),
        ([SWEEP, ["tsnbench", "run", "b.yaml"]], ["tsnbench run 'a b.yaml'", "tsnbench run b.yaml"]),
        (["x", "x", "y"], ["x", "y"]),
    ],
)
def test_runs_of_one_sweep_are_one_command(given: list[Any], expected: list[str]) -> None:
    assert printed(*given) == expected


def test_an_older_folder_is_run_from_its_plan() -> None:
    (found,) = printed(None, None)
    assert 'Plan.read("plan.json")' in found
