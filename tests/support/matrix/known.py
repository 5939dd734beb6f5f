"""What the matrix may show: pairs that are refused, and defects that are not repaired yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ruamel.yaml import YAML

from support.matrix.table import rows
from support.matrix.trial import WRONG, Finding, Trial

TABLE = Path(__file__).parents[2] / "matrix/known.yaml"
QUIET = ("no bound", "loss not known")
"""Kinds of findings that are no defects where their reasons are true."""


@dataclass(frozen=True)
class Known:
    """An entry: it explains findings of some scenarios."""

    kind: str
    rows: tuple[str, ...]
    one_of: tuple[str, ...]
    words: str
    such_as: tuple[str, ...]

    def explains(self, names: Sequence[str], one: Finding) -> bool:
        every = {*names, *(rows()[name].like for name in names)}
        inside = set(self.rows) <= every and (not self.one_of or bool(set(self.one_of) & every))
        return inside and one.kind == self.kind and self.words in one.text

    def examples(self) -> list[tuple[str, ...]]:
        """Small scenarios that it is about: one for each row of `with`, unless it names one."""
        found = [self.such_as] if self.such_as else [(*self.rows, one) for one in self.one_of] or [self.rows]
        return [tuple(sorted(names, key=list(rows()).index)) for names in found]


@cache
def known() -> tuple[Known, ...]:
    table = YAML(typ="safe", pure=True).load(TABLE.read_text(encoding="utf-8"))
    entries = [{"kind": "refused", **one} for one in table["refused"]] + table["defects"]
    return tuple(
        Known(
            one["kind"],
            *(tuple(one.get(key, ())) for key in ("rows", "with")),
            one["words"],
            tuple(one.get("such-as", ())),
        )
        for one in entries
    )


def unexplained(trial: Trial) -> list[Finding]:
    """Findings that are wrong, or refusals, of which no entry knows."""
    assert all(one.kind in (*WRONG, *QUIET, "refused", "not replayed") for one in trial.findings)
    return [
        one
        for one in trial.findings
        if one.kind not in QUIET and not any(entry.explains(trial.names, one) for entry in known())
    ]
