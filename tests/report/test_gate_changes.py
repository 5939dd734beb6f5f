"""Gate control lists that replace each other: each has a chart for its time, with the departures then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.report.data import gather
from tsnbench.report.parts.schedule import folded
from tsnbench.scenario import load

SCENARIO = Path(__file__).parent.parent / "plans" / "gate-changes.yaml"


def test_every_list_in_force_has_its_own_chart(tmp_path: Path) -> None:
    run = plan(load(SCENARIO)).run(Simulation(), tmp_path / "run")
    facts = gather(run)
    shown = [one for one in folded(facts) if one.port["name"] == "host1 -> host2"]
    assert [(one.gates.words, one.gates.from_ns) for one in shown] == [
        ("before any list", None),
        ("list 1", 1_000_000),
        ("list 2", 8_200_000),
        ("list 3", 12_000_000),
    ]
    assert all(one.outside == 0 and one.departures > 0 for one in shown)
    assert sum(one.departures for one in shown) == pytest.approx(1_113, abs=200)
