"""The examples of docs/guides/drawings.md are imported as on the page, and the scenarios are planned."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import tsnbench

TEXT = (Path(__file__).parents[2] / "docs/guides/drawings.md").read_text(encoding="utf-8")


def test_the_examples_are_imported_as_on_the_page(tmp_path: Path) -> None:
    drawing, scenario, topology, lab = re.findall(r"```(?:xml|yaml)\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "cell.drawio").write_text(drawing, encoding="utf-8")
    (tmp_path / "line.clab.yml").write_text(topology, encoding="utf-8")
    done = tsnbench("import", "drawio", "cell.drawio", cwd=tmp_path)
    assert (done.stdout, done.stderr) == (scenario, "")
    done = tsnbench("import", "containerlab", "line.clab.yml", "--into", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "lab.yaml").read_text(encoding="utf-8") == lab
    assert tsnbench("plan", "scenario.yaml", cwd=tmp_path).returncode == 0
