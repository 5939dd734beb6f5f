"""Texts that are kept in files: read the difference before keeping what is written anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import ScenarioErrors, load_variants


def matches(path: Path, words: str) -> None:
    """``TSNBENCH_UPDATE=1`` writes the file anew."""
    if os.environ.get("TSNBENCH_UPDATE"):
        path.write_text(words, encoding="utf-8")
    assert words == path.read_text(encoding="utf-8")


def messages_match(case: Path) -> ScenarioErrors | PlanningErrors:
    """The messages about a scenario that cannot be read or planned are those of the text beside it."""
    with pytest.raises((ScenarioErrors, PlanningErrors)) as raised:
        plan(load_variants(case.name)[0])
    matches(case.with_suffix(".txt"), f"{raised.value}\n")
    return raised.value
