"""Made-up run folders, written once per session; a test that changes one copies it first."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support import synthetic


@pytest.fixture(scope="session")
def in_vehicle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """EnGINE's use case, with losses and one jitter limit broken."""
    return synthetic.write(synthetic.in_vehicle(), tmp_path_factory.mktemp("runs") / "ex-ucc")


@pytest.fixture(scope="session")
def star(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gated star."""
    return synthetic.write(synthetic.star(), tmp_path_factory.mktemp("runs") / "star")


@pytest.fixture(scope="session")
def hops(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A sweep over one to four hops."""
    folder = tmp_path_factory.mktemp("sweep")
    return [synthetic.write(synthetic.line(n), folder / f"hops={n}") for n in range(1, 5)]


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """A copy that a test may damage."""

    def copy(folder: Path) -> Path:
        return Path(shutil.copytree(folder, tmp_path / "copy"))

    return copy
