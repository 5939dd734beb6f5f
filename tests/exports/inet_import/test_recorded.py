"""Exports that INET ran, imported again: every packet arrives when it arrived in INET.

``tests/compare/inet`` has the recordings, and ``tests/compare/test_inet.py`` compares them with the scenarios
themselves.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compare.test_inet import HERE, STREAMS, compared

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.exports import export
from tsnbench.exports.inet_import import scenario
from tsnbench.planning import plan
from tsnbench.scenario import load_variants


@pytest.mark.parametrize("name", STREAMS)
def test_an_export_that_is_imported_behaves_as_in_inet(name: str, tmp_path: Path) -> None:
    files = export(plan(load_variants(HERE / f"{name}.yaml")[0]).document, ["inet"]).files
    for place, text in files.items():
        (tmp_path / Path(place).name).write_text(text, encoding="utf-8")
    made = scenario(tmp_path / "omnetpp.ini")
    assert "Not taken" not in made.text
    for place, text in {"scenario.yaml": made.text, **made.files}.items():
        (tmp_path / place).write_text(text, encoding="utf-8")
    run_one(plan(load_variants(tmp_path / "scenario.yaml")[0]), tmp_path / "run", Options(report=False))
    compared(name, tmp_path / "run")
