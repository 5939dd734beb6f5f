"""Reports: one self-contained HTML file per run or comparison, and figures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.report.data import HasFolder

KINDS = ("svg", "pdf", "png")


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
        figures: kinds of figure files to write beside it: ``svg``, ``pdf``, ``png``.
        summary: write ``summary.html`` instead, the most important of one run on one page of A4.

    Returns:
        The HTML file.

    Raises:
        InputError: a folder is no run folder, or its files are broken; no run at all; an unknown kind
            of figure; a summary of several runs; a page of somebody else is in the way.
        BackendError: another process writes into a folder, or the disk is full.
    """
    from tsnbench.errors import InputError
    from tsnbench.report.data import gather
    from tsnbench.report.files import destination, write_figures, write_text
    from tsnbench.runs import file_names
    from tsnbench.runs.errors import writing
    from tsnbench.runs.lock import held, refuse_busy

    if unknown := [kind for kind in figures if kind not in KINDS]:
        raise InputError(f"figures: expected {', '.join(KINDS)}, found {', '.join(map(str, unknown))}")
    runs: list[HasFolder | Path | str]
    if isinstance(run_or_runs, str | Path) or not isinstance(run_or_runs, Sequence):
        runs = [run_or_runs]
    else:
        runs = list(run_or_runs)
    if not runs:
        raise InputError("report: expected at least one run, found none")
    if summary and len(runs) > 1:
        raise InputError(
            f"--summary: expected one run, found {len(runs)}\n"
            "  hint: the report without --summary compares several runs"
        )
    page = destination(runs, into, file_names.SUMMARY if summary else file_names.REPORT)
    folders = [Path(run) if isinstance(run, str | Path) else run.folder for run in runs]
    for folder in folders:
        refuse_busy(folder)
    facts = [gather(run) for run in runs]
    if len(facts) == 1:
        from tsnbench.report.page import drawings, render, render_summary

        drawn = drawings(facts[0]) if figures or not summary else []
        text = render_summary(facts[0]) if summary else render(facts[0], drawn)
    else:
        from tsnbench.report.runs_page import drawings as compare_drawings
        from tsnbench.report.runs_page import render as compare

        drawn = compare_drawings(facts)
        text = compare(facts, drawn)
    own = len(folders) == 1 and page.parent == folders[0]
    with writing(page), held(page.parent) if own else nullcontext():
        write_text(page, text)
        write_figures(page.parent / "figures", drawn, figures)
    return page


__all__ = ["KINDS", "write"]
