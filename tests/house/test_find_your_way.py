"""The files that docs/guides/find-your-way.md names for typical changes exist."""

from __future__ import annotations

import re

from support.mechanisms import ROOT, path_of

PAGE = (ROOT / "docs/guides/find-your-way.md").read_text(encoding="utf-8")


def test_files_of_the_typical_changes_exist() -> None:
    changes = PAGE.split("\n## ")[1:]
    assert len(changes) == 10
    named = [re.findall(r"`([\w/-]+/[\w/-]+\.\w+)`", change) for change in changes]
    assert all(named)
    assert [name for files in named for name in files if not path_of(name).exists()] == []
