"""The campaigns of papers as studies, ``<paper>/studies/<name>.yml``: ``engine/hops-cm1``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paper_figures.printed import PAPERS


def campaigns() -> dict[str, Path]:
    """Every study of a paper, by its whole name."""
    files = sorted(PAPERS.glob("*/studies/*.yml"))
    return {f"{file.parents[1].name}/{file.stem}": file for file in files}


def told(file: Path) -> str:
    """What a study repeats: the comment on top of its file."""
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def run_campaign(file: Path, into: Path) -> int:
    """Makes all runs of a study on all cores, and its tables and page; the exit code.

    Runs that are there already are not made again.
    """
    words = [sys.executable, "-m", "tsnbench", "study", "run", str(file), "--into", str(into)]
    return subprocess.run(words, check=False).returncode
