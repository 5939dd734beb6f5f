"""What becomes of a printed number or statement beside ours: computed, never written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from paper_figures.expression import evaluate
from paper_figures.fitting import Fit
from paper_figures.number import PrintedNumber
from paper_figures.prediction import interval
from paper_figures.printed import Entry, Figure, Paper
from paper_figures.quantity import Quantities
from paper_figures.twins import Twin


class NotRecordedError(LookupError):
    """A quantity that no run has given yet."""


class Verdict(StrEnum):
    FIGURE_MET = "figure met"
    STATEMENT_HOLDS = "statement holds"
    PREDICTED = "predicted"
    """A twin was fitted to other rows, and the printed number is within its interval of 95 %."""
    FITTED = "fitted"
    """The first twin was fitted to this number, among others, and the second one does not predict it."""
    DIFFERS = "differs"
    GIVEN = "given"
    """The number is an input of the scenario."""


@dataclass(frozen=True)
class Compared:
    """One entry, ours as text in the printed unit, and the verdict."""

    entry: Entry
    ours: str
    verdict: Verdict
    twin: str = ""
    """What the twin gives: its value, and the interval of a row that was held out."""
    inside: bool | None = None
    """Whether the printed number is inside this interval, however wide; None without one."""


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
    texts = ", ".join(dict.fromkeys(entry.number.written(one) for one in several))
    if not met and entry.twin is not None:
        return by_twin(entry, entry.twin, entry.number, texts, folder, results)
    return Compared(entry, texts, agreeing if met else Verdict.DIFFERS)


def by_twin(
    entry: Entry, own: Twin, number: PrintedNumber, ours: str, folder: str, results: Results
) -> Compared:
    """A number that differs without a twin: predicted by the one that has not seen it, or not."""
    quantity = own.quantity(entry.quantity)
    value = float(_recorded(folder, Quantities((quantity,), several=False), results))
    if own.row(entry.table, entry.quantity) in own.fit:
        return Compared(entry, ours, Verdict.FITTED, number.written(value))
    found = interval(value, fitted(folder, own).residuals[quantity.path])
    ends = " to ".join(number.written(one).partition(" ")[0] for one in (found.least, found.most))
    text = f"{number.written(value).partition(' ')[0]} ({ends}) {number.unit}"
    assert number.least is not None
    assert number.most is not None
    inside = found.least <= number.most + number.slack and number.least - number.slack <= found.most
    if inside and not found.tells:
        text += ", which says too little"
    missed = Verdict.FITTED if own.crosswise else Verdict.DIFFERS
    return Compared(entry, ours, Verdict.PREDICTED if inside and found.tells else missed, text, inside)


@cache
def fitted(folder: str, own: Twin) -> Fit:
    """
    Raises:
        NotRecordedError: the twin has not been fitted.
    """
    try:
        return Fit.read(folder, own)
    except OSError as error:
        raise NotRecordedError(f"no fit of {folder}/{own.name}: --fit {folder}/{own.name}") from error


def _recorded(folder: str, quantities: Quantities, results: Results) -> Any:
    try:
        found = [results[f"{folder}/{member}"] for member in quantities.members]
    except KeyError as error:
        raise NotRecordedError(f"no result for {error.args[0]}: run its scenario") from error
    return found if quantities.several else found[0]
