"""The Python types of a Plan are generated from those of ``crates/plan``.

``TSNBENCH_UPDATE=1 pytest tests/plan/test_types.py`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import tsnbench.plan.types
from support import plan_types
from support.golden import matches
from support.python_types import annotations

PATH = Path(tsnbench.plan.types.__file__)


def test_the_types_are_those_of_the_rust_sources() -> None:
    matches(PATH, plan_types.text())


def test_optional_keys_are_optional_at_run_time() -> None:
    assert tsnbench.plan.types.Stream.__optional_keys__ >= {"vid", "redundancy", "socket", "scheduled"}
    assert "name" in tsnbench.plan.types.Stream.__required_keys__


def test_rust_types_are_found() -> None:
    objects = [keys for keys in annotations(PATH).values() if isinstance(keys, dict)]
    assert len(objects) > 70
    assert sum(map(len, objects)) > 290
