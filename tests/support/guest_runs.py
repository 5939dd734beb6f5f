"""The guest of a whole test run: the Plans and scripts of all test files, one after the other, booted once.

A test file names at its import what it wants to have run; the first test that asks for a result boots the
guest. Processes of one test run share the results: the first one boots, the others wait for it.
"""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import pytest

from support.guest_batch import Ended, Part, Script, execute
from support.planned import plan_of
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine, unavailable
from tsnbench.errors import BackendError
from tsnbench.plan.document import Plan
from tsnbench.runs import Run


@dataclass(frozen=True)
class Wanted:
    """A Plan that tests want to have run."""

    text: str
    on: VirtualMachine = field(default_factory=VirtualMachine)

    @cached_property
    def plan(self) -> Plan:
        return plan_of(self.text)


Parts = Mapping[str, Part | Script]
"""Parts of the guest's job by their names."""
_PLANS: dict[str, Wanted] = {}
_MAKERS: dict[str, Callable[[Path], Parts]] = {}


def wanted(name: str, what: str | Wanted | Script) -> str:
    """Names a scenario, a Plan with its backend, or a script for the guest; returns the name.

    Names of two files must differ. A file that is imported twice wants the same twice.
    """
    if isinstance(what, Script):
        parts_wanted(name, lambda _: {name: what})
        return name
    one = _PLANS[name] = Wanted(what) if isinstance(what, str) else what
    parts_wanted(name, lambda folder: {name: Part(one.on, one.plan, folder / name / "vm")})
    return name


def parts_wanted(name: str, make: Callable[[Path], Parts]) -> None:
    """Names several parts, which are made when the guest is booted; ``make`` gets the folder of all runs."""
    _MAKERS[name] = make


class Guest:
    """What the guest of this test run has done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ended(self, name: str) -> Ended:
        """How a Plan or a script ended."""
        if why := unavailable():
            pytest.skip(f"no guests here: {why}")
        found = self._all[name]
        return Run.open(found) if isinstance(found, Path) else found

    def run(self, name: str) -> Run:
        """The run of a Plan."""
        found = self.ended(name)
        if isinstance(found, BackendError):
            raise found
        assert isinstance(found, Run)
        return found

    def files(self, name: str) -> Mapping[str, bytes]:
        """The results of a script."""
        found = self.ended(name)
        if isinstance(found, BackendError):
            raise found
        assert isinstance(found, dict)
        return found

    @cache  # noqa: B019 - one for a test run
    def simulated(self, name: str) -> Run:
        """The run of the same Plan in the simulator."""
        return _PLANS[name].plan.run(on=Simulation(), into=self.folder / name / f"sim-{os.getpid()}")

    def both(self, name: str) -> tuple[Run, Run]:
        """The runs of a Plan in the simulator and in the guest."""
        return self.simulated(name), self.run(name)

    @cached_property
    def _all(self) -> dict[str, Path | dict[str, bytes] | BackendError]:
        """By name; a run is its folder. Only the first process of a test run has a guest."""
        self.folder.mkdir(parents=True, exist_ok=True)
        done = self.folder / "done"
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                done.write_bytes(pickle.dumps(self._execute()))
        return dict(pickle.loads(done.read_bytes()))

    def _execute(self) -> dict[str, Path | dict[str, bytes] | BackendError]:
        parts = {name: part for make in _MAKERS.values() for name, part in make(self.folder).items()}
        for part in parts.values():
            if isinstance(part, Part):
                part.folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            ended = execute(list(parts.values()))
        except BackendError as error:
            return dict.fromkeys(parts, error)
        return {
            name: one.folder if isinstance(one, Run) else one for name, one in zip(parts, ended, strict=True)
        }


@pytest.fixture(scope="session")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Guest:
    """The guest of this test run."""
    base = tmp_path_factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own below one.
    return Guest((base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "guest")


def grouped(items: list[pytest.Item]) -> None:
    """Mark the tests that share the guest, so that one process takes them (before pytest-xdist looks)."""
    for item in items:
        shares = "guest" in getattr(item, "fixturenames", ())
        if shares and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("guest"))
