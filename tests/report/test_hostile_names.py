"""Names with other meanings: HTML, mathematics, control characters, great length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support import synthetic
from support.html_page import read
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


def test_hostile_names_are_text(tmp_path: Path) -> None:
    case = synthetic.star()
    first, second, _ = case.streams
    case.streams = [replace(first if n % 2 else second, name=name) for n, name in enumerate(NAMES)]
    case.streams.append(replace(first, name=NAMES[0] + "twice", flows=2))
    case.name = NAMES[0]
    case.variant = {NAMES[0]: NAMES[1]}
    case.duration_ns = 5_000_000
    folder = synthetic.write(case, tmp_path / "run")
    for target in (folder, [folder, folder]):
        found = read(report.write(target, into=tmp_path / "page", figures=("svg",)))
        assert found.tags.count("h1") == 1
        assert found.tags.count("script") == 1
        assert "img" not in found.tags
        assert "{{ 7*7 }}{% raw %}" in found.text
        assert NAMES[0] in found.text
        assert all(reference.startswith(("#", "data:")) for reference in found.references)


def test_a_hostile_file_name_in_the_command_is_quoted(tmp_path: Path) -> None:
    import json

    folder = synthetic.write(synthetic.star(), tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["command"] = ["tsnbench", "run", "a b; rm -rf $HOME.yaml"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "tsnbench run 'a b; rm -rf $HOME.yaml'" in read(report.write(folder)).text
