"""The example of docs/guides/inet.md: the two files give the scenario on the page, and it runs."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import tsnbench

TEXT = (Path(__file__).parents[2] / "docs/guides/inet.md").read_text(encoding="utf-8")


def test_the_example_is_imported_as_on_the_page(tmp_path: Path) -> None:
    blocks = dict(re.findall(r"```(text|ini|yaml)\n(.*?)```", TEXT, re.DOTALL))
    (tmp_path / "gated.ned").write_text(blocks["text"], encoding="utf-8")
    (tmp_path / "omnetpp.ini").write_text(blocks["ini"], encoding="utf-8")
    done = tsnbench("import", "inet", "omnetpp.ini", cwd=tmp_path)
    assert (done.stdout, done.stderr) == (blocks["yaml"], "")
    (tmp_path / "gated.yaml").write_text(done.stdout, encoding="utf-8")
    run = tsnbench("run", "gated.yaml", "--into", "run", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
