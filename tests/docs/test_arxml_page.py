"""The example of docs/guides/arxml.md is imported as on the page, and the scenario runs."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import tsnbench

TEXT = (Path(__file__).parents[2] / "docs/guides/arxml.md").read_text(encoding="utf-8")


def test_the_example_is_imported_as_on_the_page(tmp_path: Path) -> None:
    description, scenario = re.findall(r"```(?:xml|yaml)\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "car.arxml").write_text(description, encoding="utf-8")
    done = tsnbench("import", "arxml", "car.arxml", cwd=tmp_path)
    assert (done.stdout, done.stderr) == (scenario, "")
    (tmp_path / "car.yaml").write_text(done.stdout, encoding="utf-8")
    assert tsnbench("plan", "car.yaml", cwd=tmp_path).returncode == 0
