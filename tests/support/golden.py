"""Texts that are kept in files: read the difference before keeping what is written anew."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import ScenarioErrors, load_variants


def matches(path: Path, words: str) -> None:
    """``TSNBENCH_UPDATE=1`` writes the file anew."""
    if os.environ.get("TSNBENCH_UPDATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words, encoding="utf-8")
    assert words == path.read_text(encoding="utf-8")


def messages_match(case: Path) -> ScenarioErrors | PlanningErrors:
    """The messages about a scenario that cannot be read or planned are those of the text beside it."""
    with pytest.raises((ScenarioErrors, PlanningErrors)) as raised:
        plan(load_variants(case.name)[0])
    matches(case.with_suffix(".txt"), f"{raised.value}\n")
    return raised.value


def table(test: str, name: str) -> list[Any]:
    """The rows of a table beside a test's file."""
    rows: list[Any] = YAML(typ="safe").load(Path(test).with_name(name))
    return rows


def fragments(path: Path) -> dict[str, str]:
    """Fragments of scenarios, each in a line that begins with ``#``, and the messages below it."""
    text = path.read_text(encoding="utf-8")
    return dict(re.findall(r"^# (.+)\n((?:[^#\n].*\n)+)", text, flags=re.MULTILINE))


def fragment_matches(path: Path, fragment: str, words: str) -> None:
    """``TSNBENCH_UPDATE=1`` writes the messages of this fragment anew."""
    known = fragments(path)
    if os.environ.get("TSNBENCH_UPDATE"):
        known[fragment] = words
        path.write_text("\n".join(f"# {one}\n{told}" for one, told in known.items()), encoding="utf-8")
    assert words == known[fragment]
