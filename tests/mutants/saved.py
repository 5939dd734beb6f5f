"""What became of each mutant, kept from run to run: a crate can be run in pieces, or its survivors again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mutants.source import Mutant
from mutants.survivors import Survivor


class Saved:
    """The ends of a crate's mutants, in a file. A mutant is known again while the text of its line stays."""

    def __init__(self, path: Path, mutants: Iterable[Mutant], tree: Path) -> None:
        self.path = path
        self.survivors = {one.number: Survivor.of_cargo(one.name, tree) for one in mutants}
        self.keys: dict[int, str] = {}
        seen = Counter[str]()
        for one in mutants:
            text = f"{self.survivors[one.number]} | {one.column}"
            seen[text] += 1
            self.keys[one.number] = f"{text} | {seen[text]}"
        known: dict[str, str] = json.loads(path.read_text()) if path.is_file() else {}
        wanted = set(self.keys.values())
        self.ends = {key: end for key, end in known.items() if key in wanted}

    def survivor(self, mutant: Mutant) -> Survivor:
        """How the list of survivors names it."""
        return self.survivors[mutant.number]

    def end(self, mutant: Mutant) -> str | None:
        """What its last run said; none without one."""
        return self.ends.get(self.keys[mutant.number])

    def keep(self, mutant: Mutant, end: str) -> None:
        """Writes the end down at once: a run may be stopped at any time."""
        self.ends[self.keys[mutant.number]] = end
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.ends, indent=0))
        new.replace(self.path)
