"""The figures that the papers' READMEs print are those that the scenarios give."""

from __future__ import annotations

from pathlib import Path

import pytest
from readme_figures import READMES, Tables, names, refreshed


@pytest.mark.parametrize(("readme", "tables"), READMES.items(), ids=["engine", "flextest"])
def test_figures_are_what_the_scenarios_give(readme: Path, tables: Tables) -> None:
    text = readme.read_text(encoding="utf-8")
    assert sorted(names(text)) == sorted(tables)
    assert refreshed(text, tables) == text, "write them anew: python tests/scenarios/readme_figures.py"
