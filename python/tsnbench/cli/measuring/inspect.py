"""``tsnbench inspect``: the figures of one capture alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tsnbench.cli.console.options import FigureKinds, FigureNames, argument, option
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_csv,
    print_json,
    print_message,
    print_table,
    print_written,
    user_errors,
)
from tsnbench.cli.measuring.plan_file import read_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsnbench.measure.conformance import Against
    from tsnbench.measure.inspection import Inspection
    from tsnbench.measure.trdp import TrdpMeasures


def inspect(
    file: Annotated[Path, argument("FILE", "Capture (pcap or pcapng).")],
    window: Annotated[
        str | None, option("TIME", "Length of the window in which bursts are counted; 1ms unless given.")
    ] = None,
    plan: Annotated[
        Path | None,
        option("FILE", "Plan whose gates the frames are compared with: plan.json, or a run folder."),
    ] = None,
    port: Annotated[
        str | None, option("NAME", "With --plan: the port that frames leave; needed if several have gates.")
    ] = None,
    stamp: Annotated[
        str | None,
        option(
            "POINT",
            "With --plan: the point that stamps refer to: start or end (of the frame where it leaves), "
            "or received (end, at the other end of the link); default: as at the Plan's tap.",
        ),
    ] = None,
    base_time: Annotated[
        str | None,
        option(
            "TIME", "With --plan: begin of a cycle on the capture's clock; default: the Plan's base time."
        ),
    ] = None,
    tolerance: Annotated[
        str | None, option("TIME", "With --plan: permitted distance of a frame from its window; default 2ns.")
    ] = None,
    report: Annotated[
        Path | None, option("PATH", "Also write a report: an HTML file, or a folder for report.html.")
    ] = None,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    everything: Annotated[bool, typer.Option("--all", help="All rows of the table.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="The figures as tidy CSV on stdout: one row per figure.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON on stdout.")] = False,
) -> None:
    """Report the figures of one capture: streams, rates, intervals, bursts, missing numbers.

    With --plan also the frames outside the windows of their gates; exit code 1 if there are any.
    """
    from tempfile import TemporaryDirectory

    from tsnbench.foreign_files import recognise
    from tsnbench.foreign_files.formats import no_measure
    from tsnbench.live.receiving import read_duration
    from tsnbench.measure import MOST_ROWS
    from tsnbench.measure.conformance import conformance_table, kept
    from tsnbench.measure.inspection import WINDOW_NS, inspect_capture, inspection_table
    from tsnbench.measure.trdp import telegrams_of

    if plan is None and (port or stamp or base_time or tolerance):
        fail(Exit.INPUT_WRONG, "--port, --stamp, --base-time, --tolerance: expected --plan")
    if as_csv and as_json:
        fail(Exit.INPUT_WRONG, "--csv: expected no --json")
    drawn = figure_kinds(figures, report, names=figure)
    written: list[Path] = []
    with user_errors(), TemporaryDirectory(prefix="tsnbench-inspect-") as scratch:
        kind = recognise(file)
        if kind is None or not kind.capture:
            fail(Exit.INPUT_WRONG, no_measure(str(file), kind, "a capture (pcap or pcapng)"))
        length = WINDOW_NS if window is None else read_duration("--window", window)
        if length <= 0:
            fail(Exit.INPUT_WRONG, "--window: expected more than 0")
        table = Path(scratch) / "frames.parquet"
        against = None if plan is None else _against(plan, port, stamp, base_time, tolerance)
        found = inspect_capture(file, length, table, against)
        if report is not None:
            written = write_inspected(found, table, report, drawn, figure, lambda: telegrams_of(file))
    for warning in found["warnings"]:
        print_message(f"warning: {warning}")
    print_written(written, figure)
    if as_json:
        print_json(found)
    elif as_csv:
        from tsnbench.measure.tidy import of_inspection, text_of

        print_csv(text_of(of_inspection(found)))
    else:
        print_table(inspection_table(found, None if everything else MOST_ROWS))
        if found["gates"] is not None:
            print_table(conformance_table(found["gates"]))
    if found["gates"] is not None and not kept(found["gates"]):
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def write_inspected(
    found: Inspection,
    frames: Path,
    into: Path,
    kinds: tuple[str, ...],
    figure: list[str] | None,
    telegrams: Callable[[], TrdpMeasures | None],
) -> list[Path]:
    """Writes the page of one capture, or single figures."""
    from tsnbench.report.captured_page import inspection_drawings, write_inspection
    from tsnbench.report.files import destination, write_chosen

    if figure:
        return write_chosen(inspection_drawings(found, frames), figure, destination([], into), kinds)
    return [write_inspection(found, frames, into, kinds, telegrams())]


def _against(
    plan: Path, port: str | None, stamp: str | None, base_time: str | None, tolerance: str | None
) -> Against:
    """The gates that the options name."""
    from tsnbench.live.receiving import read_duration
    from tsnbench.measure.conformance import STAMPS, TOLERANCE_NS, Against

    meant = next((one for one in STAMPS if one == stamp), None)
    if stamp is not None and meant is None:
        fail(Exit.INPUT_WRONG, f"--stamp: expected {', '.join(STAMPS)}, found {stamp}")
    return Against(
        read_plan(plan),
        port,
        meant,
        None if base_time is None else read_duration("--base-time", base_time),
        TOLERANCE_NS if tolerance is None else read_duration("--tolerance", tolerance),
    )
