"""A complete run that tests may read but not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import run_of
from support.small_plan import small_plan
from tsnbench.runs import Run


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("runs")
    return run_of(small_plan(folder), folder)
