"""The Plans that tests of exports share."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

from tsnbench.planning import plan
from tsnbench.scenario import load_variants

HERE = Path(__file__).parent
PLANS = HERE.parent / "plans"
RICH = HERE / "rich.yaml"


@cache
def _first(path: Path) -> Any:
    return plan(load_variants(path)[0]).document


def document_of(path: Path) -> Any:
    """The Plan of the first run of a scenario; the test may change it."""
    return copy.deepcopy(_first(path))


def rich() -> Any:
    """A Plan with one of everything that exports have words for."""
    return document_of(RICH)
