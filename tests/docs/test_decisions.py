"""Decisions are numbered without gaps, dated and listed; every decision that is cited exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/decisions"
PAGES = sorted(FOLDER.glob("0*.md"))
CITED = re.compile(r"\b[Dd]ecisions? (\d{4})\b")
SOURCES = [
    path
    for folder, pattern in (("python", "*.py"), ("crates", "*.rs"), ("tests", "*.py"), ("docs", "*.md"))
    for path in (ROOT / folder).rglob(pattern)
]


def test_numbers_are_consecutive() -> None:
    assert [int(page.name[:4]) for page in PAGES] == list(range(1, len(PAGES) + 1))


def test_every_decision_has_a_number_a_status_and_a_date() -> None:
    line = r"Decision {}\. Status: (accepted|replaced by decision \d{{4}}), 20\d\d-\d\d-\d\d\."
    without = [
        page.name
        for page in PAGES
        if not re.fullmatch(line.format(page.name[:4]), page.read_text(encoding="utf-8").splitlines()[2])
    ]
    assert not without


def test_the_list_has_every_decision_with_its_date() -> None:
    listed = re.findall(
        r"^\| \[(\d{4})\]\(([^)]+)\) \| (\S+) \|", (FOLDER / "README.md").read_text(), re.MULTILINE
    )
    dates = [re.findall(r"Status: .*, (\S+)\.", page.read_text(encoding="utf-8"))[0] for page in PAGES]
    every = [(page.name[:4], page.name, date) for page, date in zip(PAGES, dates, strict=True)]
    assert sorted(listed) == every


def test_decisions_that_are_cited_exist() -> None:
    numbers = {page.name[:4] for page in PAGES}
    cited = {
        number
        for path in [*SOURCES, *ROOT.glob("*.md")]
        for number in CITED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(cited) > 5
    assert cited <= numbers
