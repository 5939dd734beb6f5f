"""Runs of shipped scenarios are shared by the workers of a test run."""

from __future__ import annotations

import os

import pytest

from support.shipped import Runs


@pytest.fixture(scope="session", autouse=True)
def shared_runs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A worker's own folder is below that of the whole test run."""
    own = tmp_path_factory.getbasetemp()
    Runs.folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shipped"
    Runs.folder.mkdir(exist_ok=True)
