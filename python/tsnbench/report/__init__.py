"""Reports: one self-contained HTML file per run or comparison, and figures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.report.data import gather
from tsnbench.report.files import destination, write_chosen, write_page
from tsnbench.report.page import drawings, render, render_summary
from tsnbench.report.runs_page import drawings as drawings_of_runs
from tsnbench.report.runs_page import render as compare
from tsnbench.runs import file_names
from tsnbench.runs.errors import writing
from tsnbench.runs.lock import held, refuse_busy

if TYPE_CHECKING:
    from tsnbench.report.data import HasFolder
    from tsnbench.report.facts import RunFacts
    from tsnbench.report.figures.style import Drawing

KINDS = ("svg", "pdf", "png", "pgf", "csv")


def write(
    run_or_runs: HasFolder | Path | str | Sequence[HasFolder | Path | str],
    into: Path | None = None,
    figures: tuple[str, ...] = (),
    summary: bool = False,
) -> Path:
    """Write ``report.html`` for a run, or one that compares several, and figure files for papers.

    Args:
        run_or_runs: a Run or run folder, or several.
        into: the folder for ``report.html`` and ``figures/``, or the HTML file itself (``*.html``);
            by default the run folder, or the folder that holds all the runs.
        figures: kinds of figure files to write beside it: ``svg``, ``pdf``, ``png``, ``pgf``, and
            ``csv`` for their numbers.
        summary: write ``summary.html`` instead, the most important of one run on one page of A4.

    Returns:
        The HTML file.

    Raises:
        InputError: a folder is no run folder, or its files are broken; no run at all; an unknown kind
            of figure; a summary of several runs; a page of somebody else is in the way.
        BackendError: another process writes into a folder, or the disk is full.

    Example:
        >>> from tsnbench import Run, report
        >>> str(report.write(Run.open("runs/first"), summary=True))
        'runs/first/summary.html'
    """
    _known(figures)
    runs = _listed(run_or_runs)
    if summary and len(runs) > 1:
        raise InputError(
            f"--summary: expected one run, found {len(runs)}\n"
            "  hint: the report without --summary compares several runs"
        )
    page = destination(runs, into, file_names.SUMMARY if summary else file_names.REPORT)
    folders = _folders(runs)
    facts = _facts(runs)
    if len(facts) == 1:
        drawn = _drawings(facts) if figures or not summary else []
        text = render_summary(facts[0]) if summary else render(facts[0], drawn)
    else:
        drawn = _drawings(facts)
        text = compare(facts, drawn)
    own = len(folders) == 1 and page.parent == folders[0]
    with writing(page), held(page.parent) if own else nullcontext():
        return write_page(page, text, drawn, figures)


def write_figure(
    run_or_runs: HasFolder | Path | str | Sequence[HasFolder | Path | str],
    names: Sequence[str],
    kinds: Sequence[str] = ("pdf",),
    into: Path | None = None,
) -> list[Path]:
    """Write single figures of a report, by name, without the page.

    Args:
        run_or_runs: a Run or run folder, or several.
        names: such as ``ccdf``; the error for an unknown name lists all names of these runs.
        kinds: ``svg``, ``pdf``, ``png``, ``pgf``; ``csv`` has the drawn numbers.
        into: the folder of ``figures/``; by default the run folder, or the folder that holds all the runs.

    Returns:
        The files.

    Raises:
        InputError: as :func:`write`, or a name is unknown.
        BackendError: another process writes into a folder, or the disk is full.

    Example:
        >>> from tsnbench import report
        >>> [str(path) for path in report.write_figure("runs/first", ["ccdf"], ["csv"])]
        ['runs/first/figures/ccdf.csv']
    """
    _known(kinds)
    runs = _listed(run_or_runs)
    page = destination(runs, into)
    folders = _folders(runs)
    drawn = _drawings(_facts(runs))
    own = len(folders) == 1 and page.parent == folders[0]
    with writing(page), held(page.parent) if own else nullcontext():
        return write_chosen(drawn, names, page, kinds)


def _known(kinds: Sequence[str]) -> None:
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InputError(f"figures: expected {', '.join(KINDS)}, found {', '.join(map(str, unknown))}")


def _listed(
    run_or_runs: HasFolder | Path | str | Sequence[HasFolder | Path | str],
) -> list[HasFolder | Path | str]:
    if isinstance(run_or_runs, str | Path) or not isinstance(run_or_runs, Sequence):
        return [run_or_runs]
    if not run_or_runs:
        raise InputError("report: expected at least one run, found none")
    return list(run_or_runs)


def _folders(runs: Sequence[HasFolder | Path | str]) -> list[Path]:
    return [Path(run) if isinstance(run, str | Path) else run.folder for run in runs]


def _facts(runs: Sequence[HasFolder | Path | str]) -> list[RunFacts]:
    for folder in _folders(runs):
        refuse_busy(folder)
    return [gather(run) for run in runs]


def _drawings(facts: Sequence[RunFacts]) -> list[Drawing]:
    return drawings(facts[0]) if len(facts) == 1 else drawings_of_runs(facts)


__all__ = ["KINDS", "write", "write_figure"]
