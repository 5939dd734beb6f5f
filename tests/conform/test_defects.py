"""Each defect of a device is found by its own test and by no other; a device without one passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.device_defects import DEFECTS, LABS, TO_ROBOT, Defect
from support.devices import bench, results
from support.profile import PROFILE
from tsnbench.conform.catalogue import TESTS

SEEDS = 20 if PROFILE == "nightly" else 1
UNSHOWN = {"cbs.return", "forwarding.slope", "frer.order", "preempt.cuts", "priority.strict"}
"""Tests for which the simulator has no defect that no other test finds before."""


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize("one", DEFECTS, ids=[f"{one.test}: {one.name}" for one in DEFECTS])
def test_a_defect_is_found_by_its_own_test_alone(one: Defect, seed: int, tmp_path: Path) -> None:
    suites = [] if PROFILE == "nightly" or one.only != TO_ROBOT else [TESTS[one.test].suite]
    found = results(bench(one.expected, one.seeded(seed), one.only), tmp_path, suites)
    assert {(row.test, row.verdict) for row in found if row.verdict == "fail"} == {(one.test, "fail")}, [
        (row.test, row.sentence) for row in found if row.sentence
    ]


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
@pytest.mark.parametrize("name", LABS)
def test_a_device_without_a_defect_passes(name: str, seed: int, tmp_path: Path) -> None:
    """Of every lab, the tests of all suites."""
    text = LABS[name].replace("seed: 1\n", f"seed: {seed}\n")
    found = results(bench(text, only=TO_ROBOT), tmp_path)
    assert [(row.test, row.sentence) for row in found if row.verdict == "fail"] == []


def test_every_test_has_a_defect() -> None:
    assert set(TESTS) - {one.test for one in DEFECTS} == UNSHOWN
