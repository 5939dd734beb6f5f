"""``tsnbench inspect``: the figures of one capture alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import Exit, fail, figure_kinds, print_json, print_table, tell, told


def inspect(
    file: Annotated[Path, argument("FILE", "Capture (pcap or pcapng).")],
    window: Annotated[
        str | None, option("TIME", "Length of the window in which bursts are counted; 1ms unless given.")
    ] = None,
    report: Annotated[
        Path | None, option("PATH", "Also write a report: an HTML file, or a folder for report.html.")
    ] = None,
    figures: Annotated[
        str, typer.Option(metavar="KINDS", help="With --report, also write figures: svg,pdf,png.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="All rows of the table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
) -> None:
    """Look into one capture: its streams, rates, intervals, bursts, and numbers that are missing."""
    from tempfile import TemporaryDirectory

    from tsnbench.foreign_files import recognise
    from tsnbench.foreign_files.formats import no_measure
    from tsnbench.live.receiving import read_duration
    from tsnbench.measure import MOST_ROWS
    from tsnbench.measure.inspection import WINDOW_NS, inspect_capture, inspection_table

    drawn = figure_kinds(figures, report)
    page = None
    with told(), TemporaryDirectory(prefix="tsnbench-inspect-") as scratch:
        kind = recognise(file)
        if kind is None or not kind.capture:
            fail(Exit.INPUT_WRONG, no_measure(str(file), kind, "a capture (pcap or pcapng)"))
        length = WINDOW_NS if window is None else read_duration("--window", window)
        if length <= 0:
            fail(Exit.INPUT_WRONG, "--window: expected more than 0")
        table = Path(scratch) / "frames.parquet"
        found = inspect_capture(file, length, table)
        if report is not None:
            from tsnbench.report.captured_page import write_inspection

            page = write_inspection(found, table, report, drawn)
    for warning in found["warnings"]:
        tell(f"warning: {warning}")
    if page is not None:
        tell(f"report: {page}")
    if as_json:
        print_json(found)
    else:
        print_table(inspection_table(found, None if everything else MOST_ROWS))
