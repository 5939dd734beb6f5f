"""The page of a study: curves with intervals, heat maps, and tables over all combinations of values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tsnbench.quantities import UNKNOWN
from tsnbench.report import formatting
from tsnbench.report.figures.study import curves as figures
from tsnbench.report.files import write_chosen, write_page
from tsnbench.report.page import charts, environment
from tsnbench.report.parts.study import Estimate, StudyFacts
from tsnbench.runs import file_names

MOST_ROWS = 400
"""Rows of the table of combinations; the CSV files have all."""


def write(study: StudyFacts, into: Path, kinds: Sequence[str] = ()) -> Path:
    """Writes ``report.html`` into the folder of a study, and figure files for papers beside it.

    Raises:
        FolderError: a file of that name is not one of our pages.
        BackendError: the disk is full, or the file cannot be written.
    """
    drawn = figures.drawings(study)
    text = environment().get_template("study.html").render(_parts(study) | {"charts": charts(drawn)})
    return write_page(into / file_names.REPORT, text, drawn, kinds)


def write_figure(study: StudyFacts, names: Sequence[str], into: Path, kinds: Sequence[str]) -> list[Path]:
    """Writes single figures by name into ``figures``; returns the files.

    Raises:
        InputError: there is no figure of a name; the message lists all.
        BackendError: the disk is full, or the file cannot be written.
    """
    return write_chosen(figures.drawings(study), names, into / file_names.REPORT, kinds)


def _parts(study: StudyFacts) -> dict[str, Any]:
    runs = sum(one.runs for one in study.combinations)
    rows = [
        (", ".join(f"{axis.name} {value}" for axis, value in zip(study.axes, one.values, strict=True)), one)
        for one in study.combinations
    ]
    return {
        "title": study.name,
        "kind": f"tsnbench study of {formatting.count(runs)} runs",
        "about": "",
        "outcome": study.headline,
        "facts": [
            ("runs", formatting.count(runs)),
            ("met", formatting.count(sum(one.met for one in study.combinations))),
            ("combinations", formatting.count(len(study.combinations))),
            ("streams", formatting.count(len(study.ends))),
        ],
        "study": study,
        "rows": rows[:MOST_ROWS],
        "rows_left": len(rows[MOST_ROWS:]),
        "estimate": _estimate,
    }


def _estimate(found: Estimate | None) -> str:
    """``4.812 ± 0.031``, in µs; an interval that is not symmetric by its two ends."""
    if found is None:
        return UNKNOWN
    if found.low is None or found.high is None:
        return formatting.micros(found.value)
    below, above = found.value - found.low, found.high - found.value
    if abs(below - above) <= 0.01 * max(below, above, 1e-9):
        return f"{formatting.micros(found.value)} ± {formatting.micros((below + above) / 2)}"
    ends = f"{formatting.micros(found.low)} to {formatting.micros(found.high)}"
    return f"{formatting.micros(found.value)} ({ends})"
