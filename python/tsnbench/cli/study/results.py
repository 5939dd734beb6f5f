"""The results of a study: its tables, its page, and run folders of the worst runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import json_of
from tsnbench.cli.console.output import Exit, print_json, print_line, print_message, print_table
from tsnbench.cli.console.progress import busy
from tsnbench.cli.parts import study_page
from tsnbench.studies import table
from tsnbench.studies.kept import keep, worst
from tsnbench.studies.page import facts
from tsnbench.studies.store import Content, Store
from tsnbench.studies.table import Tables

RunsAsJson = Annotated[bool, json_of("The table of runs")]


def tables_of(store: Store, write: bool) -> tuple[Content, Tables]:
    """The list of a study's runs and its tables; ``write`` also writes their files."""
    content, found = table.tables(store, store.read())
    if write:
        table.write(store, content, found)
    return content, found


def keep_worst(store: Store, found: Tables, most: int, progress: str) -> list[Path]:
    """Makes the run folders of the runs with the greatest delays."""
    runs = worst(found.results, most)
    if not runs:
        return []
    with busy(f"run folders of {len(runs)} runs", progress):
        return keep(store, runs)


def write_page(store: Store, content: Content, found: Tables, kinds: tuple[str, ...] = ()) -> Path:
    """Writes the page of a study."""
    with busy("report of the study"):
        return study_page.write(facts(content, found), store.folder, kinds)


def print_tables(
    store: Store, content: Content, found: Tables, as_json: bool, everything: bool, quiet: bool
) -> None:
    """Prints the results, and ends the command: with exit code 1 if the study has no answer."""
    if as_json:
        print_json(
            "study-report",
            {"study": content.name, "engine": content.engine, "missing": found.missing, "runs": found.runs},
        )
    else:
        if not quiet:
            print_table(table.summary(content, found, None if everything else table.MOST_ROWS))
        print_line(table.headline(content, found))
    if not quiet:
        print_message(f"study folder: {store.folder}")
    raise typer.Exit(Exit.MET if table.answered(found) else Exit.REQUIREMENT_FAILED)
