"""``tsnbench compare``: the same streams in several runs, side by side and frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.completing import run_folders
from tsnbench.cli.console.forms import Form, form_of, print_found
from tsnbench.cli.console.options import (
    FigureKinds,
    FigureNames,
    argument,
    csv_of,
    given_ns,
    json_of,
    option,
    pairs_of,
)
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_line,
    print_message,
    print_written,
    user_errors,
)
from tsnbench.cli.measuring.plan_file import read_plan
from tsnbench.cli.parts import compare_page, inet, planning, report_files, saihu, scenarios
from tsnbench.compare import Comparison, captured, opened
from tsnbench.compare import compare as hold_together
from tsnbench.compare.tables import agreement_table, gate_table, prediction_table, side_table
from tsnbench.compare.tidy import text_of
from tsnbench.foreign_files import recognise
from tsnbench.runs import file_names

if TYPE_CHECKING:
    from rich.table import Table

Folders = Annotated[
    list[Path],
    argument(
        "FOLDER...",
        "Run folders; all others are compared with the first one. Or one, and INET's .vec file. Or one, a "
        "Plan or a scenario, and Saihu's _data.json.",
        autocompletion=run_folders,
    ),
]
Rename = Annotated[
    list[str] | None,
    option("THEIRS=OURS", "Name of a stream in the captures, and in the runs: theirs=ours."),
]


def compare(
    folders: Folders,
    into: Annotated[Path | None, option("DIR", "Write compare.html into this folder.")] = None,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    tx: Annotated[
        list[Path] | None, option("FILE", "Capture at the talker, as one more run; may be repeated.")
    ] = None,
    rx: Annotated[
        list[Path] | None, option("FILE", "Capture at the listener, as one more run; may be repeated.")
    ] = None,
    rename: Rename = None,
    tolerance: Annotated[
        str | None, option("TIME", "Tolerance for times instead of the derived one: 20us.")
    ] = None,
    as_json: Annotated[bool, json_of("The comparison")] = False,
    as_csv: Annotated[bool, csv_of("The comparison")] = False,
) -> None:
    """Compare runs with the first one, and all runs with the bounds.

    A run may be of the simulator, of a kernel or of captures. Exit code 1 where a quantity differs by more
    than its tolerance.
    """
    form = form_of(as_json, as_csv)
    kinds = figure_kinds(figures, into, names=figure)
    if bool(tx) != bool(rx):
        fail(Exit.INPUT_WRONG, "expected captures of both ends: --tx and --rx")
    names = pairs_of("--rename", "theirs=ours", rename)
    with user_errors(), TemporaryDirectory(prefix="tsnbench-compare-") as scratch:
        limit = given_ns("--tolerance", tolerance)
        if len(folders) == 2 and not (tx or into) and _are_bounds(folders[1]):
            raise typer.Exit(_beside_saihu(folders[0], folders[1], form))
        if files := [one for one in folders if one.is_file()]:
            if len(folders) != 2 or folders[0].is_file() or tx or into is not None:
                fail(
                    Exit.INPUT_WRONG,
                    f"expected one run folder, then {files[0]} alone, without --into, --tx and --rx",
                )
            raise typer.Exit(_beside_inet(folders[0], folders[1], limit, form))
        sides = [opened(folder) for folder in folders]
        if tx and rx:
            sides.append(captured(tx, rx, Path(scratch), names, like=sides[0]))
        found = hold_together(sides, within_ns=limit)
        written = [] if into is None else _written(found, into, kinds, figure)
        _print(found, form)
    print_written(written, figure, "comparison")
    raise typer.Exit(Exit.MET if found.agrees else Exit.REQUIREMENT_FAILED)


def _written(found: Comparison, into: Path, kinds: tuple[str, ...], figure: list[str] | None) -> list[Path]:
    """Writes the page, or single figures."""
    if figure:
        drawings = compare_page.comparison_drawings(found)
        return report_files.write_chosen(drawings, figure, into / file_names.COMPARISON, kinds)
    return [compare_page.write_comparison(found, into, kinds)]


def _beside_inet(folder: Path, file: Path, limit: int | None, form: Form) -> Exit:
    """Prints the run beside INET's result file."""
    within = inet.WITHIN_NS if limit is None else float(limit)
    found = inet.beside(folder, file, within)
    print_found(
        form, inet.document_of(found, within), lambda: inet.csv_of(found), lambda: [inet.table_of(found)]
    )
    agree = sum(one.agrees for one in found)
    if form is Form.TABLES:
        print_line(f"{agree} of {len(found)} streams agree with INET in each packet, within {within:g} ns")
    return Exit.MET if agree == len(found) else Exit.REQUIREMENT_FAILED


def _are_bounds(file: Path) -> bool:
    """Whether a file has results of Saihu."""
    found = recognise(file) if file.is_file() else None
    return found is not None and found.name == "saihu"


def _beside_saihu(first: Path, file: Path, form: Form) -> Exit:
    """Prints the bounds of a Plan, of a run's Plan, or of a scenario beside those of Saihu's tools."""
    if first.is_dir() or first.suffix.lower() == ".json":
        own = read_plan(first)
    else:
        own = planning.plan(scenarios.load(first))
    tools, found = saihu.beside(own, file)
    print_found(
        form,
        saihu.document_of(tools, found),
        lambda: saihu.csv_of(found),
        lambda: [saihu.table_of(tools, found)],
    )
    if form is Form.TABLES:
        print_line(saihu.summary(found))
    return Exit.MET


def _print(found: Comparison, form: Form) -> None:
    """Prints the comparison: with its tables also how many quantities agree."""
    labels = [side.label for side in found.sides]

    def tables() -> Iterator[Table]:
        for place, lines in found.plans:
            print_message(f"{labels[place]} ran another Plan than {labels[0]}: {'; '.join(lines)}")
        yield side_table(found)
        if found.gates:
            yield gate_table(found)
        if (inside := prediction_table(found)) is not None:
            yield inside
        yield agreement_table(found)

    print_found(form, found.document(), lambda: text_of(found), tables)
    if form is Form.TABLES:
        agree, all_ = sum(one.agrees for one in found.agreements), len(found.agreements)
        print_line(f"{agree} of {all_} quantities agree with {labels[0]}")
