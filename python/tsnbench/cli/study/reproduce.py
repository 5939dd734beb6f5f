"""``tsnbench reproduce``: the scenarios of a paper's figure with its printed numbers, or a paper's study."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import FigureKinds, argument, option
from tsnbench.cli.console.output import Exit, fail, figure_kinds

PACKAGE = "paper_figures"


def reproduce(
    figure: Annotated[
        str | None,
        argument("FIGURE", "Such as engine/fig22, or a study: engine/hops-cm1; without it, all are listed."),
    ] = None,
    papers: Annotated[
        Path, option("DIR", "Folder of the papers' scenarios; they come with the sources of tsnbench.")
    ] = Path("scenarios/papers"),
    into: Annotated[
        Path | None, option("DIR", "Folder of runs and page; default runs/<paper>-<figure>.")
    ] = None,
    duration: Annotated[
        str | None, option("TIME", "Simulate for this long, in place of the scenarios' durations.")
    ] = None,
    figures: FigureKinds = "csv",
) -> None:
    """Run the scenarios of a paper's figure beside its printed numbers.

    Or run the study of a paper.
    """
    if not (papers / PACKAGE / "__main__.py").is_file():
        hint = "hint: run it in the folder of tsnbench's sources, or name scenarios/papers with --papers"
        fail(Exit.INPUT_WRONG, f"{papers}: expected the papers' scenarios, found none\n{hint}")
    words = ["--names"] if figure is None else ["--figure", figure]
    words += [] if duration is None else ["--duration", duration]
    if figure is not None:
        target = (into or Path("runs") / figure.replace("/", "-")).resolve()
        words += ["--into", str(target), "--figures", ",".join(figure_kinds(figures, target))]
    paths = [str(papers.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", PACKAGE, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        check=False,
    )
    raise typer.Exit(done.returncode)
