"""The page of several runs: verdict matrix, figures along their axis, tables run by run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tsnbench.measure.outcome import Outcome, badge
from tsnbench.report import formatting
from tsnbench.report.definitions import definitions
from tsnbench.report.facts import RunFacts
from tsnbench.report.figures import sweep as figures
from tsnbench.report.figures.style import Drawing
from tsnbench.report.page import charts, environment
from tsnbench.report.parts.losses import gaps
from tsnbench.report.parts.provenance import commands, provenance
from tsnbench.report.parts.sweep import Sweep


def drawings(runs: Sequence[RunFacts]) -> list[Drawing]:
    """Every figure of the comparison."""
    return figures.drawings(Sweep(runs))


def render(
    runs: Sequence[RunFacts],
    drawn: Sequence[Drawing],
    template: str = "comparison.html",
    **more: Any,
) -> str:
    """The whole HTML file; ``more`` are the additional values of another template."""
    sweep = Sweep(runs)
    names = list(dict.fromkeys(run.plan["name"] for run in sweep.runs))
    titles = list(dict.fromkeys(run.title for run in sweep.runs))
    missing = [(label, gaps(run), run.absent) for label, run in zip(sweep.labels, sweep.runs, strict=True)]
    parts = {
        "kind": f"tsnbench report of {len(sweep.runs)} runs",
        "about": titles[0] if len(titles) == 1 else "",
        "title": " and ".join(names[:3]) + (" and others" if len(names) > 3 else ""),
        "sweep": sweep,
        "outcome": sweep.outcome(),
        "overall": sweep.overall(),
        "badge": badge(sweep.overall()),
        "bars": sweep.bars[: most_bars(sweep)],
        "more_bars": sweep.bars[most_bars(sweep) : MOST_LINES // len(sweep.runs)],
        "bars_left": len(sweep.bars[max(most_bars(sweep), MOST_LINES // len(sweep.runs)) :]),
        "uncertain": any(row.outcome is Outcome.UNCERTAIN for run in sweep.runs for row in run.judged),
        "facts": headline(sweep),
        "charts": charts(drawn),
        "missing": [part for part in missing if part[1] or part[2]],
        "warnings": [
            (label, text)
            for label, run in zip(sweep.labels, sweep.runs, strict=True)
            for text in run.warnings
        ],
        "complete": [label for label, *lacks in missing if not any(lacks)],
        "incomplete": [
            (label, run.state)
            for label, run in zip(sweep.labels, sweep.runs, strict=True)
            if run.state != "complete"
        ],
        "definitions": definitions(sweep.runs[0]),
        "provenance": _provenance(sweep),
        "commands": commands(sweep.runs),
        "quantity": formatting.quantity,
    }
    return environment().get_template(template).render(parts | more)


MOST_OPEN = 60
"""Lines with bars before a fold."""
MOST_LINES = 600


def most_bars(sweep: Sweep) -> int:
    """Requirements before the fold: each has a line for every run."""
    return max(1, MOST_OPEN // len(sweep.runs))


def headline(sweep: Sweep) -> list[tuple[str, str]]:
    """The main numbers beside the outcome."""
    return [
        ("runs", formatting.count(len(sweep.runs))),
        ("streams", formatting.count(len(sweep.streams))),
        *formatting.totals(group for run in sweep.runs for group in run.groups),
    ]


def _provenance(sweep: Sweep) -> tuple[list[tuple[str, str]], list[str], list[tuple[str, list[str]]]]:
    """(the common facts of all runs, names of the facts that differ, their values by run)."""
    every = [dict(provenance(run)) for run in sweep.runs]
    keys = list(dict.fromkeys(key for one in every for key in one))
    shared = [key for key in keys if len({one.get(key) for one in every}) == 1]
    differs = [key for key in keys if key not in shared]
    rows = [
        (label, [one.get(key, "\u2013") for key in differs])
        for label, one in zip(sweep.labels, every, strict=True)
    ]
    return [(key, every[0][key]) for key in shared], differs, rows
