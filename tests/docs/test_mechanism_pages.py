"""docs/mechanisms has a page for each mechanism; its scenario runs, and its picture is a figure of that run.

``TSNBENCH_UPDATE=1`` writes pages and pictures anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.golden import matches
from support.mechanism_pages import FOLDER, Page, index, pages, text_of
from tsnbench import Simulation, report
from tsnbench.planning import plan
from tsnbench.scenario import load


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.row.name)
def test_a_page(page: Page, tmp_path: Path) -> None:
    name = page.row.name
    matches(FOLDER / f"{name}.md", text_of(page))
    shown = re.findall(r"```yaml\n(.*?)```", (FOLDER / f"{name}.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "times.csv").write_text("time_s\n0\n0.001\n0.002\n", encoding="utf-8")
    file = tmp_path / "example.yaml"
    file.write_text("".join(shown), encoding="utf-8")
    run = plan(load(file)).run(on=Simulation(), into=tmp_path / "run")
    assert sum(path["count"]["sent"] for path in run.measures()["paths"]) >= 3
    assert {row["proof"] for row in run.verdict()["rows"]} <= {"proved"}
    if page.picture:
        (figure,) = report.write_figure(run, [page.picture], ("svg",), tmp_path)
        matches(FOLDER / f"{name}.svg", figure.read_text(encoding="utf-8"))


def test_the_list_of_pages() -> None:
    matches(FOLDER / "README.md", index())
    files = {path.stem for path in FOLDER.glob("*.md")} - {"README"}
    assert files == {page.row.name for page in pages()}
    assert all(page.picture and page.caption for page in pages())
