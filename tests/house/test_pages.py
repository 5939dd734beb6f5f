"""Every page of the documentation is in a table of contents; other pages are neither built nor found."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAPERS = DOCS.parent / "scenarios/papers"


def _listed(page: Path) -> set[Path]:
    """The pages in the tables of contents of one page."""
    found = set()
    for table in re.findall(
        r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        for line in table.splitlines():
            if line and not line.startswith(":"):
                found |= set(page.parent.glob(f"{line.strip()}.md")) or {page.parent / f"{line.strip()}.md"}
    return {one.resolve() for one in found}


def test_every_guide_concept_reference_and_paper_is_in_a_table_of_contents() -> None:
    pages = {
        page.resolve() for room in ("guides", "concepts", "reference") for page in (DOCS / room).glob("*.md")
    }
    pages |= {page for name in ("README", "figures") for page in PAPERS.rglob(f"{name}.md")}
    listed = {one for page in (*DOCS.rglob("*.md"), PAPERS.parent / "README.md") for one in _listed(page)}
    assert len(pages) > 20
    assert pages - listed == set()
    # Pages that the build generates need not exist yet.
    assert {one for one in listed if not one.is_file() and one.parent.name in ("guides", "concepts")} == set()
