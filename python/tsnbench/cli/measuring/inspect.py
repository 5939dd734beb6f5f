"""``tsnbench inspect``: the figures of one capture alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from tsnbench.cli.console.forms import form_of, print_found
from tsnbench.cli.console.options import (
    AllRows,
    FigureKinds,
    FigureNames,
    argument,
    csv_of,
    duration_ns,
    given_ns,
    json_of,
    option,
)
from tsnbench.cli.console.output import (
    Exit,
    fail,
    figure_kinds,
    print_warnings,
    print_written,
    user_errors,
)
from tsnbench.cli.measuring.capture_file import refuse_other, write_inspected
from tsnbench.cli.measuring.plan_file import dilation_of, read_plan
from tsnbench.measure import MOST_ROWS
from tsnbench.measure.captures.interfaces import interface_of, interfaces
from tsnbench.measure.conformance import STAMPS, TOLERANCE_NS, Against, conformance_table, kept
from tsnbench.measure.inspection import WINDOW_NS, inspection_tables, read_capture
from tsnbench.measure.tidy import of_inspection, text_of
from tsnbench.sheet import Sheet

Window = Annotated[
    str | None, option("TIME", "Length of the window in which bursts are counted; 1ms by default.")
]
PlanFile = Annotated[
    Path | None,
    option("FILE", "Plan whose gates the frames are compared with: plan.json, or a run folder."),
]
Port = Annotated[
    str | None, option("NAME", "With --plan: the port that frames leave; needed if several have gates.")
]
StampPoint = Annotated[
    str | None,
    option(
        "POINT",
        "With --plan: the point that stamps refer to: start or end (of the frame where it leaves), "
        "or received (end, at the other end of the link); default: as at the Plan's tap.",
    ),
]
BaseTime = Annotated[
    str | None,
    option("TIME", "With --plan: begin of a cycle on the capture's clock; default: the Plan's base time."),
]
Tolerance = Annotated[
    str | None, option("TIME", "With --plan: permitted distance of a frame from its window; default 2ns.")
]
Dilate = Annotated[
    int | None,
    option(
        "TIMES",
        "With --plan: how many times slower than the Plan the capture was made; default: as its run was.",
        min=1,
    ),
]
Folder = Annotated[
    Path | None,
    option("DIR", "Also write report.html into this folder; a name that ends in .html is the page's own."),
]


def inspect(
    file: Annotated[Path, argument("FILE", "Capture (pcap or pcapng).")],
    interface: Annotated[
        str | None, option("NAME", "Interface of the capture whose frames are read alone.")
    ] = None,
    window: Window = None,
    plan: PlanFile = None,
    port: Port = None,
    stamp: StampPoint = None,
    base_time: BaseTime = None,
    tolerance: Tolerance = None,
    dilate: Dilate = None,
    into: Folder = None,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    everything: AllRows = False,
    as_csv: Annotated[bool, csv_of("The figures")] = False,
    as_json: Annotated[bool, json_of("The figures")] = False,
) -> None:
    """Report streams, rates, intervals and bursts of one capture.

    With --plan also the frames outside the windows of their gates; exit code 1 if there are any.
    """
    if plan is None and (port or stamp or base_time or tolerance or dilate):
        fail(Exit.INPUT_WRONG, "--port, --stamp, --base-time, --tolerance, --dilate: expected --plan")
    form = form_of(as_json, as_csv)
    drawn = figure_kinds(figures, into, names=figure)
    written: list[Path] = []
    with user_errors(), TemporaryDirectory(prefix="tsnbench-inspect-") as scratch:
        refuse_other(file, unknown=True)
        length = WINDOW_NS if window is None else duration_ns("--window", window)
        if length <= 0:
            fail(Exit.INPUT_WRONG, "--window: expected more than 0")
        table = Path(scratch) / "frames.parquet"
        against = None if plan is None else _against(plan, port, stamp, base_time, tolerance)
        if against is not None and plan is not None:
            against = replace(against, dilate=dilate or dilation_of(file, plan))
        capture = file if interface is None else interface_of(interfaces(file), interface, file)
        found, telegrams = read_capture(capture, length, table, against)
        if into is not None:
            written = write_inspected(found, table, into, drawn, figure, telegrams)
    print_warnings(found["warnings"])
    print_written(written, figure)

    def tables() -> Iterator[Sheet]:
        yield from inspection_tables(found, None if everything else MOST_ROWS)
        if found["gates"] is not None:
            yield conformance_table(found["gates"])

    print_found(form, found, lambda: text_of(of_inspection(found)), tables)
    if found["gates"] is not None and not kept(found["gates"]):
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _against(
    plan: Path, port: str | None, stamp: str | None, base_time: str | None, tolerance: str | None
) -> Against:
    """The gates that the options name."""
    meant = next((one for one in STAMPS if one == stamp), None)
    if stamp is not None and meant is None:
        fail(Exit.INPUT_WRONG, f"--stamp: expected {', '.join(STAMPS)}, found {stamp}")
    return Against(
        read_plan(plan),
        port,
        meant,
        given_ns("--base-time", base_time),
        TOLERANCE_NS if tolerance is None else duration_ns("--tolerance", tolerance),
    )
