"""Every command of the tutorial and the guides runs, in order, and ends with the exit code on the page."""

from __future__ import annotations

import glob
import json
import re
import shlex
from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench.measure import measure_trdp

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [
    *sorted(ROOT.glob("docs/tutorial/[01]*.md")),
    *sorted(ROOT.glob("docs/trades/[a-z]*.md")),
    *(
        ROOT / f"docs/guides/{name}.md"
        for name in ("report", "compare", "conform", "calibrate", "studies", "train")
    ),
]
BLOCK = re.compile(r"^```(sh|yaml|xml|python|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRITTEN_AS = re.compile(r"here\s+as\s+`([a-z-]+\.(?:yaml|xml))`")


@pytest.mark.parametrize("guide", GUIDES[:-1], ids=lambda guide: guide.stem)
def test_a_guide_can_be_followed(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = guide.read_text(encoding="utf-8")
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    files, printed = WRITTEN_AS.findall(text), ""
    for language, block in BLOCK.findall(text):
        if language in ("yaml", "xml"):
            (tmp_path / files.pop(0)).write_text(block, encoding="utf-8")
        elif language == "python":
            monkeypatch.chdir(tmp_path)
            exec(compile(block, guide.name, "exec"), {"__name__": "__main__"})
        elif language == "text":
            assert block in printed
        else:
            for line in block.splitlines():
                printed = _follow(line, tmp_path)


def _follow(line: str, folder: Path) -> str:
    """What one line of a shell prints; its comment may say that the exit code is 1."""
    program, *words = shlex.split(line, comments=True)
    assert program == "tsnbench", line
    into = None
    if ">" in words:
        *words, _, into = words
    expanded = [
        found
        for word in words
        for found in (sorted(glob.glob(word, root_dir=folder)) if "*" in word else [word])
    ]
    done = tsnbench(*expanded, cwd=folder)
    expected = 1 if "exit code 1" in line else 0
    assert done.returncode == expected, (line, done.stdout[-2000:], done.stderr[-2000:])
    if into is not None:
        (folder / into).write_text(done.stdout, encoding="utf-8")
    return done.stdout


def test_the_tutorial_has_a_chapter_for_every_scenario_of_its_folder() -> None:
    chapters = "".join(page.read_text(encoding="utf-8") for page in GUIDES)
    scenarios = [path.name for path in (ROOT / "scenarios/tutorial").glob("*.yaml")]
    assert len(scenarios) > 10
    assert [name for name in scenarios if f"scenarios/tutorial/{name}" not in chapters] == []


def test_the_first_chapter_shows_its_scenario_as_it_is() -> None:
    scenario = (ROOT / "scenarios/tutorial/1-first-link.yaml").read_text(encoding="utf-8")
    body = scenario.partition("\n")[2]
    assert f"```\n{body}```" in GUIDES[0].read_text(encoding="utf-8")


def test_what_the_guide_to_trains_says_of_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No telegram of the brakes is lost; with a recovery time of 200 ms one stream times out, twice."""
    test_a_guide_can_be_followed(ROOT / "docs/guides/train.md", tmp_path, monkeypatch)
    expected: list[tuple[str, set[tuple[str, int]], int]] = [
        ("mrp-30", set(), 0),
        ("mrp-200", {("state", 220)}, 2),
    ]
    for protocol, failed, time_outs in expected:
        run = tmp_path / f"runs/train/protocol={protocol}"
        rows = json.loads((run / "verdict.json").read_text(encoding="utf-8"))["rows"]
        assert len(rows) == 4
        found = {(one["stream"], one["found"] // 1_000_000) for one in rows if one["met"] != "yes"}
        assert found == failed
        capture = run / "captures/car1-tcms-rx.pcapng"
        (state,) = measure_trdp(capture, time_out_ns=100_000_000)["streams"]
        assert state["subscription"] is not None
        assert (state["com_id"], state["subscription"]["time_outs"]) == (2000, time_outs)
