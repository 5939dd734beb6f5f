"""``tsnbench compare``: the same streams in several runs, side by side and frame by frame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tsnbench.cli.console.options import FigureKinds, FigureNames, argument, option
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_csv,
    print_json,
    print_line,
    print_message,
    print_table,
    print_written,
    user_errors,
)

if TYPE_CHECKING:
    from tsnbench.compare import Comparison


def compare(
    folders: Annotated[
        list[Path],
        argument(
            "FOLDER", "Run folders; all others are compared with the first one. Or one, and INET's .vec file."
        ),
    ],
    to: Annotated[Path | None, option("DIR", "Write compare.html into this folder.")] = None,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    tx: Annotated[
        list[Path] | None, option("FILE", "Capture at the talker, as one more run; may be repeated.")
    ] = None,
    rx: Annotated[
        list[Path] | None, option("FILE", "Capture at the listener, as one more run; may be repeated.")
    ] = None,
    rename: Annotated[
        list[str] | None,
        option("THEIRS=OURS", "Name of a stream in the captures, and in the runs: theirs=ours."),
    ] = None,
    within: Annotated[
        str | None, option("TIME", "Tolerance for times instead of the derived one: 20us.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The comparison as JSON on stdout.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="The comparison as tidy CSV on stdout: one row per figure.")
    ] = False,
) -> None:
    """Compare runs (simulator, kernels, captures) with the first run, and all runs with the bounds.

    Exit code 1 where a quantity differs by more than its tolerance.
    """
    from tempfile import TemporaryDirectory

    from tsnbench.cli.run import duration_ns
    from tsnbench.compare import captured, opened
    from tsnbench.compare import compare as hold_together

    if as_csv and as_json:
        fail(Exit.INPUT_WRONG, "--csv: expected no --json")
    kinds = figure_kinds(figures, to, "--to", figure)
    if bool(tx) != bool(rx):
        fail(Exit.INPUT_WRONG, "expected captures of both ends: --tx and --rx")
    names = dict(word.partition("=")[::2] for word in rename or [])
    if wrong := [word for word in rename or [] if "=" not in word]:
        fail(Exit.INPUT_WRONG, f"--rename: expected theirs=ours, found {wrong[0]}")
    with user_errors(), TemporaryDirectory(prefix="tsnbench-compare-") as scratch:
        limit = duration_ns("--within", within)
        if files := [one for one in folders if one.is_file()]:
            if len(folders) != 2 or folders[0].is_file() or tx or to is not None:
                fail(
                    Exit.INPUT_WRONG,
                    f"expected one run folder, then {files[0]} alone, without --to, --tx and --rx",
                )
            _beside_inet(folders[0], folders[1], limit, as_json, as_csv)
        sides = [opened(folder) for folder in folders]
        if tx and rx:
            sides.append(captured(tx, rx, Path(scratch), names, like=sides[0]))
        found = hold_together(sides, within_ns=limit)
        written = [] if to is None else _written(found, to, kinds, figure)
        if as_json:
            print_json(found.document())
        elif as_csv:
            from tsnbench.compare.tidy import text_of

            print_csv(text_of(found))
        else:
            _tell(found)
    print_written(written, figure, "comparison")
    raise typer.Exit(Exit.MET if found.agrees else Exit.REQUIREMENT_FAILED)


def _written(found: Comparison, into: Path, kinds: tuple[str, ...], figure: list[str] | None) -> list[Path]:
    """Writes the page, or single figures."""
    from tsnbench.report.compare_page import comparison_drawings, write_comparison
    from tsnbench.report.files import write_chosen
    from tsnbench.runs import file_names

    if figure:
        return write_chosen(comparison_drawings(found), figure, into / file_names.COMPARISON, kinds)
    return [write_comparison(found, into, kinds)]


def _beside_inet(folder: Path, file: Path, limit: int | None, as_json: bool, as_csv: bool) -> NoReturn:
    """The run beside INET's result file, and the exit code."""
    from tsnbench.compare.inet import WITHIN_NS, beside, csv_of, document_of, table_of

    within = WITHIN_NS if limit is None else float(limit)
    found = beside(folder, file, within)
    if as_json:
        print_json(document_of(found, within))
    elif as_csv:
        print_csv(csv_of(found))
    else:
        print_table(table_of(found))
        agree = sum(one.agrees for one in found)
        print_line(f"{agree} of {len(found)} streams agree with INET in each packet, within {within:g} ns")
    raise typer.Exit(Exit.MET if all(one.agrees for one in found) else Exit.REQUIREMENT_FAILED)


def _tell(found: Comparison) -> None:
    """Prints one table, and a line for each quantity."""
    from tsnbench.compare.tables import agreement_table, gate_table, side_table

    labels = [side.label for side in found.sides]
    for place, lines in found.plans:
        print_message(f"{labels[place]} ran another Plan than {labels[0]}: {'; '.join(lines)}")
    print_table(side_table(found))
    if found.gates:
        print_table(gate_table(found))
    print_table(agreement_table(found))
    differ = sum(not one.agrees for one in found.agreements)
    print_line(
        f"{len(found.agreements) - differ} of {len(found.agreements)} quantities agree with {labels[0]}"
    )
