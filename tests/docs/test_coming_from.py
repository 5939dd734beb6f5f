"""The two files side by side in docs/coming-from.md say the same: the other one is exported or imported."""

from __future__ import annotations

import re
from pathlib import Path

from support.commands import tsnbench
from tsnbench.exports.engine.experiment import scenario

TEXT = (Path(__file__).parents[2] / "docs/coming-from.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[str]:
    """The blocks of code below a heading."""
    section = TEXT.partition(f"### The two files: {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)


def test_files_of_inet_and_tc_are_exports_of_the_scenario(tmp_path: Path) -> None:
    yaml, inet = blocks("INET")
    script, part = blocks("tc")
    assert part in yaml
    (tmp_path / "loop.yaml").write_text(yaml, encoding="utf-8")
    for form in ("inet", "tc"):
        done = tsnbench("plan", "loop.yaml", "--into", form, "--as", form, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "inet").rglob("*") if path.is_file()]
    known = {line.strip() for text in written for line in text.splitlines()}
    assert [line for line in inet.splitlines() if line not in known] == []
    command = " ".join(script.replace("\\\n", " ").split()).removeprefix("tc ")
    assert command in (tmp_path / "tc/switch/tc.batch").read_text(encoding="utf-8").splitlines()


def test_the_scenario_of_engine_is_that_of_the_import() -> None:
    *files, imported = blocks("EnGINE")
    names = [text.partition("\n")[0].removeprefix("# ") for text in files]
    assert scenario(dict(zip(names, files, strict=True))) == imported
