"""The tables of the papers' READMEs: printed figures from files, ours from runs of the scenarios.

``cd tests && python -m support.papers.readme_tables`` writes the tables anew; a test compares them. A table
is between ``<!-- figures: name -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from support.papers import cots_l1, cots_l3, engine, flextest, hosts, ocora
from support.shipped import ROOT

READMES = {
    ROOT / "scenarios/papers/cots/README.md": {**hosts.COTS, **cots_l3.TABLES},
    ROOT / "scenarios/papers/engine/README.md": {**engine.TABLES, **hosts.ENGINE},
    ROOT / "scenarios/papers/farzaneh/README.md": hosts.FARZANEH,
    ROOT / "scenarios/papers/flextest/README.md": flextest.TABLES,
    ROOT / "scenarios/papers/ocora/README.md": ocora.TABLES,
    ROOT / "scenarios/papers/cots/l1/README.md": cots_l1.TABLES,
}
_BLOCK = re.compile(r"(<!-- figures: ([a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Tables = dict[str, Callable[[], Iterable[list[str]]]]


def refreshed(text: str, tables: Tables) -> str:
    """The text with new tables."""
    return _BLOCK.sub(lambda found: f"{found[1]}{_markdown(tables[found[2]]())}{found[3]}", text)


def names(text: str) -> list[str]:
    return [found[2] for found in _BLOCK.finditer(text)]


def _markdown(rows: Iterable[list[str]]) -> str:
    """A table: the first row is the head, the first column is text, the other columns are numbers."""
    head, *body = rows
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *body))


def main() -> None:
    for readme, tables in READMES.items():
        path = Path(readme)
        path.write_text(refreshed(path.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
