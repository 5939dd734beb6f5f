"""Every shipped scenario can be read, planned and run; every lost frame is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shipped import MS, ROOT, SCENARIOS, planned, simulated, variants

NAMES = [str(path.relative_to(ROOT / "scenarios").with_suffix("")) for path in SCENARIOS]


def test_there_are_scenarios() -> None:
    assert "papers/engine/ex-ucc" in NAMES
    assert "papers/flextest/tas" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_plans_are_experiments_of_their_own(name: str) -> None:
    hashes = {planned(name, variant).hash for variant in variants(name)}
    assert len(hashes) == len(variants(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_goes_in_comes_out_or_is_accounted_for(name: str) -> None:
    for variant, scenario in variants(name).items():
        counters = simulated(name, variant, min(scenario.duration, 10 * MS)).counters
        streams = counters["streams"]
        if any(len(stream["delivered"]) > 1 for stream in streams):
            continue  # one frame per listener, so the sums differ
        ends = sum(
            stream["dropped_at_talker"] + stream["dropped_in_network"] + sum(stream["delivered"].values())
            for stream in streams
        )
        released = sum(stream["released"] for stream in streams)
        assert released or variant == "omega-high", variant  # its mean gap is longer than this run
        assert released == ends + counters["in_network_at_end"], variant


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("papers/")])
def test_papers_are_named(name: str) -> None:
    for scenario in variants(name).values():
        assert scenario.source
        assert scenario.title


def test_names_are_unique() -> None:
    names = [next(iter(variants(name).values())).name for name in NAMES]
    assert len(names) == len(set(names))


def test_folders_that_ship_papers_explain_themselves() -> None:
    for folder in {path.parent for path in SCENARIOS if "papers" in path.relative_to(ROOT).parts}:
        assert (Path(folder) / "README.md").is_file(), folder


def test_readmes_name_every_scenario_of_their_paper() -> None:
    for path in SCENARIOS:
        if "papers" in path.relative_to(ROOT).parts:
            assert f"`{path.name}`" in (path.parent / "README.md").read_text(encoding="utf-8"), path
