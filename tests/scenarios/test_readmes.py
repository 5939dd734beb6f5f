"""The figures that the papers' READMEs print are those that the scenarios give."""

from __future__ import annotations

from pathlib import Path

import engine_figures
import pytest
from readme_figures import READMES, Tables, names, refreshed
from statistics_of import mean


@pytest.mark.parametrize(
    ("readme", "tables"), READMES.items(), ids=[readme.parent.name for readme in READMES]
)
def test_figures_are_what_the_scenarios_give(readme: Path, tables: Tables) -> None:
    text = readme.read_text(encoding="utf-8")
    assert sorted(names(text)) == sorted(tables)
    assert refreshed(text, tables) == text, "write them anew: python tests/scenarios/readme_figures.py"


def test_delay_per_hop_in_the_text() -> None:
    """EX_CM2 against EX_CM1, in the words of EnGINE's README."""
    everywhere, at_source = (
        (
            mean(engine_figures.run(name, 7).delays("flow4"))
            - mean(engine_figures.run(name, 1).delays("flow4"))
        )
        / 6
        for name in ("cm2", "cm1")
    )
    text = next(readme for readme in READMES if readme.parent.name == "engine").read_text(encoding="utf-8")
    assert f"ours are {everywhere / 1000:.1f} against {at_source / 1000:.1f} µs" in text
