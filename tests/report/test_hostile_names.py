"""Names that want to be more than names: HTML, mathematics, control characters, length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
from html_page import read

from tsnbench import report

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$\\frac{1}{",
    "_hidden",
    "a\nb\u0000c\u202e",
    "{{ 7*7 }}{% raw %}",
    "]]></style></svg><h1>",
    "x" * 500,
    "&amp;&lt;",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_stay_names(name: str, tmp_path: Path) -> None:
    case = synthetic.star()
    case.streams = [replace(case.streams[0], name=name), replace(case.streams[1], name=name + "2", flows=2)]
    case.name = name
    case.variant = {name: name}
    case.duration_ns = 5_000_000
    folder = synthetic.write(case, tmp_path / "run")
    found = read(report.write(folder, figures=("svg",)))
    assert found.tags.count("h1") == 1
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert "49" not in found.text.split("Verdict")[0]
    both = read(report.write([folder, folder], into=tmp_path / "both.html"))
    assert both.tags.count("h1") == 1
    assert "script" not in both.tags


def test_a_hostile_file_name_in_the_command_is_quoted(tmp_path: Path) -> None:
    import json

    folder = synthetic.write(synthetic.star(), tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["command"] = ["tsnbench", "run", "a b; rm -rf $HOME.yaml"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "tsnbench run 'a b; rm -rf $HOME.yaml'" in read(report.write(folder)).text
