"""A Plan without randomness gives the same observations for every seed, so it runs once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from support.shipped import MS, ROOT, SCENARIOS
from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.scenario import load_variants
from tsnbench.scenario.model import Scenario
from tsnbench.scenario.selection import shortened
from tsnbench.studies.random_plan import what_varies

NAMES = [
    str(path.relative_to(ROOT / "scenarios").with_suffix(""))
    for path in SCENARIOS
    if path.parts[-2] != "bench"
]


def sightings(scenario: Scenario, seed: int, folder: Path) -> tuple[list[str], pl.DataFrame]:
    """The random parts by the Plan, and the observations of a short run."""
    made = plan(shortened(scenario, min(scenario.duration, 3 * MS), seed))
    run = made.run(Simulation(), folder)
    return what_varies(made.document), pl.read_parquet(run.folder / "observations.parquet")


@pytest.mark.parametrize("name", NAMES)
def test_two_seeds_of_a_plan_without_randomness_give_the_same_observations(name: str, tmp_path: Path) -> None:
    scenario = load_variants(ROOT / "scenarios" / f"{name}.yaml")[0]
    varies, one = sightings(scenario, 1, tmp_path / "1")
    if not varies:
        assert one.equals(sightings(scenario, 2, tmp_path / "2")[1])


def test_most_kinds_of_plans_are_among_them() -> None:
    certain = [
        name
        for name in NAMES
        if not what_varies(plan(load_variants(ROOT / "scenarios" / f"{name}.yaml")[0]).document)
    ]
    assert 20 <= len(certain) <= len(NAMES) - 20


def test_a_poisson_process_differs_from_seed_to_seed(place: Path, tmp_path: Path) -> None:
    (scenario,) = load_variants(place / "port.yaml")
    varies, one = sightings(scenario, 1, tmp_path / "1")
    _, other = sightings(scenario, 2, tmp_path / "2")
    assert varies == ["files is a Poisson process"]
    assert not one.equals(other)
