"""Decision 0024 names files that everyday changes touch; all these files exist."""

from __future__ import annotations

import re
from pathlib import Path

TREE = Path(__file__).parents[2]
(DECISION,) = (TREE / "docs/decisions").glob("0024-*.md")


def places(name: str) -> list[Path]:
    """The possible places of a path of the table: the package or a crate; ``x.py`` stands for a new file."""
    crate, _, rest = name.partition("/")
    found = [TREE / "python/tsnbench" / name, TREE / "crates" / crate / "src" / rest, TREE / name]
    return [path.parent if path.stem == "x" else path for path in found]


def test_files_of_the_everyday_changes_exist() -> None:
    text = DECISION.read_text(encoding="utf-8")
    rows = text.split("**Fifteen everyday changes**")[1].split("\n\n")[1].splitlines()[2:]
    assert len(rows) == 15
    named = [name for row in rows for name in re.findall(r"`([\w/]+(?:\.\w+)?)`", row) if "/" in name]
    assert len(named) >= 20
    assert [name for name in named if not any(path.exists() for path in places(name))] == []
