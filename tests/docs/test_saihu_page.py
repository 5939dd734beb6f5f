"""The example of docs/guides/saihu.md: the file gives the page's scenario, and results its table."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import tsnbench

TEXT = (Path(__file__).parents[2] / "docs/guides/saihu.md").read_text(encoding="utf-8")


def test_the_example_is_imported_and_compared_as_on_the_page(tmp_path: Path) -> None:
    found = re.findall(r"```(json|yaml|text)\n(.*?)```", TEXT, re.DOTALL)
    assert [kind for kind, _ in found] == ["json", "yaml", "json", "text"]
    network, scenario, results, table = (text for _, text in found)
    (tmp_path / "line.json").write_text(network, encoding="utf-8")
    (tmp_path / "line_data.json").write_text(results, encoding="utf-8")
    done = tsnbench("import", "saihu", "line.json", cwd=tmp_path)
    assert (done.stdout, done.stderr) == (scenario, "")
    (tmp_path / "line.yaml").write_text(done.stdout, encoding="utf-8")
    assert tsnbench("check", "line.yaml", "--strict", cwd=tmp_path).returncode == 0
    compared = tsnbench("compare", "line.yaml", "line_data.json", cwd=tmp_path)
    lines = [[line.rstrip() for line in text.strip().splitlines()] for text in (compared.stdout, table)]
    assert lines[0] == lines[1]
