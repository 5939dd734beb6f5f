"""The papers' READMEs print the figures of the scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.papers import engine
from support.papers.readme_tables import READMES, Tables, names, refreshed
from support.statistics import mean


@pytest.mark.parametrize(
    ("readme", "tables"),
    READMES.items(),
    ids=lambda value: value.parent.name if isinstance(value, Path) else "",
)
def test_figures_are_what_the_scenarios_give(readme: Path, tables: Tables) -> None:
    text = readme.read_text(encoding="utf-8")
    assert sorted(names(text)) == sorted(tables)
    assert refreshed(text, tables) == text, (
        "write them anew: cd tests && python -m support.papers.readme_tables"
    )


def test_delay_per_hop_in_the_text() -> None:
    """EX_CM2 against EX_CM1, as EnGINE's README prints them."""
    everywhere, at_source = (
        (mean(engine.run(name, 7).delays("flow4")) - mean(engine.run(name, 1).delays("flow4"))) / 6
        for name in ("cm2", "cm1")
    )
    page = next(readme for readme in READMES if readme.parent.name == "engine").read_text(encoding="utf-8")
    text = " ".join(page.split())
    assert f"{everywhere / 1000:.1f} against {at_source / 1000:.1f} µs" in text
