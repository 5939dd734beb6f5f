"""The twin suite: every case simulated against its closed form, short ones also on a guest's kernel."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.guest_runs import Guest, Parts, parts_wanted
from tsnbench.errors import BackendError
from tsnbench.runs import Run
from twin.case import SCENARIOS, Case
from twin.cases import CASES
from twin.mutations import MUTATIONS, Mutant, Mutation, case_of, plan_of
from twin.suite import found, gathered, parts_of, refused, simulated

FOLDER = TemporaryDirectory(prefix="tsnbench-test-")


def _parts(folder: Path) -> Parts:
    """All short cases that a kernel supports."""
    able = (case for case in CASES if case.short and not refused(case))
    return {name: part for case in able for name, part in parts_of(case, folder).items()}


parts_wanted("twin", _parts)


@cache
def _simulated(case: Case) -> dict[str, Run]:
    return simulated(case, Path(FOLDER.name) / case.name)


def test_every_scenario_of_the_folder_is_a_case() -> None:
    assert sorted(path.stem for path in SCENARIOS.glob("*.yaml")) == sorted(case.name for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_simulator_meets_the_closed_form(case: Case) -> None:
    for row in found(case, _simulated(case), None):
        assert row.simulator_agrees, (row.quantity.what, row.closed, row.simulator)


@pytest.mark.parametrize("case", [case for case in CASES if case.short], ids=lambda case: case.name)
def test_the_kernel_meets_the_closed_form(guest: Guest, case: Case) -> None:
    if why := refused(case):
        pytest.skip(f"the kernel refuses {why}")
    kernel = gathered(case, guest.ended)
    if isinstance(kernel, BackendError):
        raise kernel
    for row in found(case, _simulated(case), kernel):
        assert row.kernel_agrees, (row.quantity.what, row.closed, row.kernel)


def test_a_tolerance_has_a_reason() -> None:
    for case in CASES:
        for quantity in case.quantities:
            assert quantity.why or not (quantity.below or quantity.above), quantity.what


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.case)
def test_every_mutation_changes_its_job(mutation: Mutation) -> None:
    """Only the job is checked here: a run needs a guest, see ``twin/mutations.py``."""
    Mutant(case_of(mutation).dilate, mutation).job(plan_of(mutation))


def test_every_case_that_a_kernel_runs_has_a_mutation() -> None:
    able = {case.name for case in CASES if not refused(case)}
    assert able - {"cbs-beside"} == {mutation.case for mutation in MUTATIONS} | {"prp"}
