"""The summary of a run: one page of A4, the tightest requirements, and a number of those that do not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.browser import needs_chromium, started
from support.commands import tsnbench
from support.html_page import read
from tsnbench import report
from tsnbench.errors import InputError
from tsnbench.report.page import SUMMARY_ROWS, SUMMARY_ROWS_ALONE
from tsnbench.runs import clearing

A4 = (595, 842)
"""Points."""
LONG = "a stream whose name is longer than any column " * 8


def _rows(number: int) -> list[dict[str, object]]:
    return [
        {
            "stream": f"{n} {LONG}",
            "group": f"{n} {LONG}",
            "listener": "node0",
            "requirement": "jitter delay-step-abs",
            "limit": 1_234_567_890,
            "limit_unit": "ns",
            "found": 1_034_567_891 + n,
            "margin": 199_999_999 - n,
            "worst_seq": n,
            "uncertainty": 1_234_567,
            "met": "yes",
            "proof": "beyond",
            "worst_case": 9_234_567_891 + n,
            "worst_case_margin": -8_000_000_001 - n,
        }
        for n in range(number)
    ]


@pytest.fixture
def crowded(star: Path, copied: Callable[[Path], Path]) -> Path:
    """A run with more of everything than a page has room for."""
    folder = copied(star)
    verdict = json.loads((folder / "verdict.json").read_text())
    (folder / "verdict.json").write_text(json.dumps(verdict | {"rows": _rows(100)}))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {
        "state": "interrupted",
        "title": LONG * 5,
        "source": LONG * 5,
        "command": ["tsnbench", LONG * 9],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _printed(page: Path, scratch: Path) -> list[tuple[int, int]]:
    """The sizes of the pages that a browser prints, in points."""
    pdf = scratch / "printed.pdf"
    started(page.as_uri(), scratch / "profile", "--no-pdf-header-footer", f"--print-to-pdf={pdf}")
    content = pdf.read_bytes()
    boxes = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert len(boxes) == len(re.findall(rb"/Type\s*/Page\b(?!s)", content))
    return [(round(float(width)), round(float(height))) for width, height in boxes]


@needs_chromium
def test_a_summary_is_one_page_of_a4_and_a_report_is_not(crowded: Path, star: Path, tmp_path: Path) -> None:
    assert _printed(report.write(crowded, summary=True), tmp_path) == [A4]
    assert _printed(report.write(star, into=tmp_path / "star", summary=True), tmp_path) == [A4]
    assert len(_printed(report.write(star, into=tmp_path / "star"), tmp_path)) > 1


@needs_chromium
@pytest.mark.parametrize("alone", [False, True])
def test_nothing_of_a_full_page_is_cut(
    crowded: Path, tmp_path: Path, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if alone:
        monkeypatch.setattr("tsnbench.report.page.MOST_NODES", 1)
    page = report.write(crowded, summary=True)
    measured = tmp_path / "measured.html"
    # In a print every length in mm is the same. The network may shrink, but to no less than 40 mm.
    measured.write_text(
        # The page's own policy allows no program that is added.
        page.read_text().replace("Content-Security-Policy", "none")
        + "<script>onload = () => { const s = document.querySelector('.sheet');"
        "const n = document.querySelector('figure.small'), t = document.querySelector('table.bars');"
        "document.title = `high=${s.scrollHeight - s.clientHeight} wide=${s.scrollWidth - s.clientWidth} "
        "network=${n ? Math.round(n.clientHeight / 96 * 25.4) : -1} "
        "end=${t.getBoundingClientRect().right <= s.getBoundingClientRect().right + 1}`;"
        "}</script>"
    )
    shown = started(measured.as_uri(), tmp_path / "profile", "--window-size=1000,1400", "--dump-dom")
    found = re.search(r"<title>high=(-?\d+) wide=(-?\d+) network=(-?\d+) end=(\w+)</title>", shown.stdout)
    assert found is not None
    assert (found[1], found[2], found[4]) == ("0", "0", "true")
    assert int(found[3]) == -1 if alone else int(found[3]) >= 40


def test_a_summary_has_the_tightest_and_counts_the_others(crowded: Path) -> None:
    page = read(report.write(crowded, summary=True))
    rows = page.table("Each requirement on one line")[1:]
    # The greatest worst case is that of the last row of the file.
    assert [row[0].split()[0] for row in rows] == [str(99 - n) for n in range(SUMMARY_ROWS)]
    assert f"{100 - SUMMARY_ROWS} more requirements are not shown" in page.text
    assert "this run is interrupted, not complete." in page.text
    assert "script" not in page.tags
    assert all(reference.startswith(("#", "data:")) for reference in page.references)
    assert not page.unlabelled


def test_without_a_drawing_there_is_room_for_more(crowded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tsnbench.report.page.MOST_NODES", 1)
    page = read(report.write(crowded, summary=True))
    assert len(page.bars) == SUMMARY_ROWS_ALONE
    assert f"{100 - SUMMARY_ROWS_ALONE} more requirements are not shown" in page.text


def test_headline_network_and_origin_are_those_of_the_report(star: Path, tmp_path: Path) -> None:
    whole = read(report.write(star, into=tmp_path))
    page = read(report.write(star, into=tmp_path, summary=True))
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "summary.html"}
    plan = json.loads((star / "plan.json").read_text())
    assert f"Plan hash: {plan['hash']}." in page.text
    assert f"Seed: {plan['seed']}." in page.text
    assert "topology-title" in page.ids
    assert page.tags.count("svg") == 1 + len(page.bars)
    own = page.table("Each requirement on one line")
    assert own == whole.table("Each requirement on one line")
    assert "are not shown" not in page.text
    outcome = re.search(r"NOT ALL MET .*? streams? ha(?:s|ve) none\.", whole.text)
    assert outcome is not None
    assert outcome[0] in page.text


def test_the_command_writes_it_and_the_folder_can_be_cleared(
    star: Path, copied: Callable[[Path], Path]
) -> None:
    folder = copied(star)
    done = tsnbench("report", folder, "--summary", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["report"] == str(folder / "summary.html")
    assert not (folder / "report.html").exists()
    clearing.clear(folder)
    assert not (folder / "summary.html").exists()


def test_a_summary_of_several_runs_is_refused(star: Path, in_vehicle: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--summary: expected one run, found 2"):
        report.write([star, in_vehicle], into=tmp_path, summary=True)
    assert not list(tmp_path.iterdir())
