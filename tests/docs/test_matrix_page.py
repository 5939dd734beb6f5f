"""The example of docs/guides/matrix.md: the matrix gives the two files on the page, and the scenario runs."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import tsnbench

TEXT = (Path(__file__).parents[2] / "docs/guides/matrix.md").read_text(encoding="utf-8")


def test_the_example_is_imported_as_on_the_page(tmp_path: Path) -> None:
    matrix, columns, scenario = re.findall(r"```(?:text|yaml)\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "matrix.csv").write_text(matrix, encoding="utf-8")
    done = tsnbench("import", "matrix", "matrix.csv", cwd=tmp_path)
    assert done.stdout == scenario
    assert (tmp_path / "matrix.csv.columns.yaml").read_text(encoding="utf-8") == columns
    again = tsnbench("import", "matrix", "matrix.csv", "--into", ".", cwd=tmp_path)
    assert (again.stdout, again.stderr) == ("scenario.yaml\n", "")
    assert (tmp_path / "scenario.yaml").read_text(encoding="utf-8") == scenario
    run = tsnbench("run", "scenario.yaml", "--into", "run", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
