"""Golden pairs: scenario, its Plan, and what is printed of it.

``TSNBENCH_UPDATE=1`` writes them anew; read the difference before keeping it.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from support.golden import matches
from tsnbench.cli.console.plan_tables import print_plan
from tsnbench.planning import Plan, plan
from tsnbench.scenario import load

PLANS = Path(__file__).parent.parent / "plans"
NAMES = ("followers", "fork", "gate-changes", "gates", "ring", "trdp")


@pytest.mark.parametrize("name", NAMES)
def test_plans(name: str) -> None:
    text = json.dumps(json.loads(plan(load(PLANS / f"{name}.yaml")).to_json()), indent=1) + "\n"
    matches(PLANS / f"{name}.plan.json", text)
    assert Plan.read(PLANS / f"{name}.plan.json").hash == json.loads(text)["hash"]


@pytest.mark.parametrize("name", NAMES)
def test_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PLANS)
    out = io.StringIO()
    print_plan(plan(load(f"{name}.yaml")), Console(file=out, width=88))
    text = "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
    matches(PLANS / f"{name}.txt", text)
