"""Lines of Markdown are at most 100 characters wide, so that a change can be reviewed line by line.

Headings and rows of tables cannot be wrapped. Generated pages and code blocks are not checked.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDEST = 100
WRITTEN_BY_PROGRAMS = {"docs/twin.md", "docs/reference/commands.md", "docs/reference/keys.md"}
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("scenarios/**/*.md")]
    if page.name != "figures.md" and str(page.relative_to(ROOT)) not in WRITTEN_BY_PROGRAMS
)


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^( *```+).*?^\1`*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def test_lines_are_not_too_wide() -> None:
    wide = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in PAGES
        for line in prose(page).splitlines()
        # A line of one long word, such as a link, cannot be wrapped.
        if len(line) > WIDEST
        and not line.lstrip().startswith(("|", "#"))
        and " " in line.strip().lstrip("-*> ")[:WIDEST]
    ]
    assert wide == []
