"""``tsnbench report``: the report of one run, or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tsnbench.cli.console.completing import run_folders
from tsnbench.cli.console.options import FigureKinds, FigureNames, argument, flag, json_of, option
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_files,
    print_json,
    print_line,
    print_message,
    user_errors,
)
from tsnbench.cli.console.progress import busy
from tsnbench.quantities import some
from tsnbench.report import write, write_figure
from tsnbench.runs import Run
from tsnbench.runs.sweep import earlier_among, earlier_note, members


def report(
    folders: Annotated[
        list[Path], argument("FOLDER...", "Run folders, or a sweep's folder.", autocompletion=run_folders)
    ],
    into: Annotated[Path | None, option("DIR", "Folder for the report; default the run folder.")] = None,
    as_json: Annotated[bool, json_of("Path of the report")] = False,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    summary: Annotated[
        bool, flag("--summary", "Write summary.html instead: one run on one page of A4.")
    ] = False,
) -> None:
    """Write the report of one or several runs as one HTML file.

    Several runs, or those of a sweep, are compared in it.
    """
    kinds = figure_kinds(figures, Path(), names=figure)
    if figure and summary:
        fail(Exit.INPUT_WRONG, "--figure: not with --summary")
    with user_errors():
        for folder in earlier_among(folders):
            said = f"note: {folder} is of an earlier sweep: the sweep has these values no longer"
            print_message(said)
        runs = [Run.open(folder) for one in folders for folder in _runs_of(one)]
        if figure:
            with busy("figures"):
                files = write_figure(runs[0] if len(runs) == 1 else runs, figure, kinds, into)
            print_files(files, as_json)
            return
        with busy("report" if len(runs) == 1 else f"report of {len(runs)} runs"):
            where = write(runs[0] if len(runs) == 1 else runs, into=into, figures=kinds, summary=summary)
    if as_json:
        print_json("report", {"report": str(where)})
        return
    print_line(str(where))


def _runs_of(folder: Path) -> list[Path]:
    """A run folder, or the runs of a sweep's folder; tells which of the runs are left out."""
    found = members(folder)
    if found is None or not found.runs:
        return [folder]
    if found.missing:
        print_message(f"note: these runs of the sweep are not there: {some(found.missing, 5)}")
    if found.earlier:
        print_message(earlier_note(folder, found.earlier))
    return found.runs
