"""The campaigns of papers as studies, ``<paper>/studies/<name>.yml``: ``engine/hops-cm1``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from paper_figures.page import verdict_of
from paper_figures.printed import PAPERS, papers
from paper_figures.recording import FINISHED
from paper_figures.repeated import beside, part_of
from paper_figures.verdicts import JudgedFigure, Verdict
from tsnbench.report import study_page
from tsnbench.studies import study_file
from tsnbench.studies.estimates import printed
from tsnbench.studies.page import facts
from tsnbench.studies.store import Store
from tsnbench.studies.table import tables


def campaigns() -> dict[str, Path]:
    """Every study of a paper, by its whole name."""
    files = sorted(PAPERS.glob("*/studies/*.yml"))
    return {f"{file.parents[1].name}/{file.stem}": file for file in files}


def told(file: Path) -> str:
    """What a study repeats: the comment on top of its file."""
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def run_campaign(name: str, into: Path, kinds: Sequence[str]) -> int:
    """Makes all runs of a study on all cores, its tables, and its page with the printed numbers in the same
    axes; the exit code.

    Runs that are there already are not made again.

    Raises:
        NoQuantityError: a run has no quantity that a printed number is compared with.
        InputError: the folder holds something else.
        BackendError: the page or a figure cannot be written.
    """
    file = campaigns()[name]
    words = [sys.executable, "-m", "tsnbench", "study", "run", str(file), "--into", str(into), "--no-report"]
    ended = subprocess.run(words, check=False).returncode
    if ended not in FINISHED:
        return ended
    store = Store(into)
    judged, numbers = beside(store, part_of(papers(), study_file.read(file).scenario), name)
    if judged.compared:
        printed.write(store, numbers)
    page = study_page.write(facts(*tables(store, store.read())), into, kinds)
    tell(judged)
    print(f"{name}: {verdict_of(judged) or 'the paper prints no number of it'}")
    print(f"report: {page}", file=sys.stderr)
    return 1 if judged.of(Verdict.DIFFERS) else ended


def tell(judged: JudgedFigure) -> None:
    """Every printed number with ours and the verdict, one on each line."""
    for one in judged.compared:
        print(f"{one.entry.what}: printed {one.entry.printed or 'as a statement'}", end="")
        beside = f", the twin's {one.twin}" if one.twin else ""
        print(f", ours {one.ours}{beside}: {one.verdict}" if one.ours else f": {one.verdict}")
