"""Synthetic run folders, written once per session; a test that changes one copies it first."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support import synthetic
from support.captures import picked, rtc_ends
from support.planned import plan_of


@pytest.fixture(scope="session")
def in_vehicle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """EnGINE's use case, with losses and one jitter that is above its limit."""
    return synthetic.write(synthetic.in_vehicle(), tmp_path_factory.mktemp("runs") / "ex-ucc")


@pytest.fixture(scope="session")
def star(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A star with gates."""
    return synthetic.write(synthetic.star(), tmp_path_factory.mktemp("runs") / "star")


@pytest.fixture(scope="session")
def hops(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A sweep over one to four hops."""
    folder = tmp_path_factory.mktemp("sweep")
    return [synthetic.write(synthetic.line(n), folder / f"hops={n}") for n in range(1, 5)]


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """A function that copies a folder, so that the test may damage the copy."""

    def copy(folder: Path) -> Path:
        return Path(shutil.copytree(folder, tmp_path / "copy"))

    return copy


@pytest.fixture
def ends(tmp_path: Path) -> tuple[Path, Path]:
    """RTC-Testbench's frames as they left A, and as they reached B without 100 of them."""
    sent, whole = rtc_ends(tmp_path)
    return sent, picked(whole, [*range(1000), *range(1100, 5100)], whole)


def made(folder: Path, text: str) -> Path:
    """The folder of a simulated run without a report."""
    from tsnbench.campaign.campaign import Options, run_one

    run_one(plan_of(text), folder / "run", Options(report=False))
    return folder / "run"
