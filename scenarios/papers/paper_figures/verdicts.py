"""What becomes of a printed number or statement beside ours: computed, never written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from paper_figures.expression import evaluate
from paper_figures.printed import Entry, Figure, Paper
from paper_figures.quantity import Quantities


class NotRecordedError(LookupError):
    """A quantity that no run has given yet."""


class Verdict(StrEnum):
    FIGURE_MET = "figure met"
    STATEMENT_HOLDS = "statement holds"
    DIFFERS = "differs"
    GIVEN = "given"
    """The number is an input of the scenario."""


@dataclass(frozen=True)
class Compared:
    """One entry, ours as text in the printed unit, and the verdict."""

    entry: Entry
    ours: str
    verdict: Verdict


@dataclass(frozen=True)
class JudgedFigure:
    figure: Figure
    compared: tuple[Compared, ...]

    def of(self, verdict: Verdict, statements: bool | None = None) -> list[Compared]:
        return [
            one
            for one in self.compared
            if one.verdict is verdict and (statements is None or one.entry.statement is statements)
        ]


Results = Mapping[str, float]
"""Quantities of all papers by ``<folder>/<name>``."""


def judge(paper: Paper, results: Results) -> list[JudgedFigure]:
    """
    Raises:
        NotRecordedError: a quantity without a result.
    """
    return [
        JudgedFigure(figure, tuple(compare(entry, paper.folder, results) for entry in figure.entries))
        for figure in paper.figures
    ]


def compare(entry: Entry, folder: str, results: Results) -> Compared:
    if entry.given:
        return Compared(entry, "", Verdict.GIVEN)
    values = {name: _recorded(folder, quantities, results) for name, quantities in entry.values.items()}
    found = evaluate(entry.expression, values)
    agreeing = Verdict.STATEMENT_HOLDS if entry.statement else Verdict.FIGURE_MET
    if entry.number is None:
        holds = found == (entry.printed or True)
        return Compared(entry, str(found) if entry.printed else "", agreeing if holds else Verdict.DIFFERS)
    several = found if isinstance(found, list) else [found]
    met = all(entry.number.agrees(one) for one in several)
    texts = dict.fromkeys(entry.number.written(one) for one in several)
    return Compared(entry, ", ".join(texts), agreeing if met else Verdict.DIFFERS)


def _recorded(folder: str, quantities: Quantities, results: Results) -> Any:
    try:
        found = [results[f"{folder}/{member}"] for member in quantities.members]
    except KeyError as error:
        raise NotRecordedError(f"no result for {error.args[0]}: run its scenario") from error
    return found if quantities.several else found[0]
