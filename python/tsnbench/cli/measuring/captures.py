"""``tsnbench measure`` of captures: of both ends, or of one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tsnbench.cli.console.forms import print_found
from tsnbench.cli.console.options import given_ns
from tsnbench.cli.console.output import Exit, print_message, print_warnings, print_written
from tsnbench.cli.measuring.asked import Asked
from tsnbench.cli.measuring.capture_file import refuse_other, write_inspected
from tsnbench.cli.parts import captured_page, report_files
from tsnbench.measure import exchanges_table, measure_captures, measures_table, trdp_table
from tsnbench.measure.captures.both_ends import NoSharedFrameError, backwards
from tsnbench.measure.captures.interfaces import Interface
from tsnbench.measure.errors import MeasureError
from tsnbench.measure.inspection import Inspection, inspection_tables, read_capture
from tsnbench.measure.tidy import of_inspection, of_measures, of_trdp, text_of
from tsnbench.quantities import count
from tsnbench.runs.measures import Measures
from tsnbench.scenario.units import LENGTH_OF_RUN

NO_TELEGRAMS = "expected one capture with TRDP telegrams"


def both_ends(asked: Asked) -> Exit:
    """Delay, jitter and loss from the captures at the talker to those at the listener."""
    for file in (*asked.tx, *asked.rx):
        # The native code reports a missing or empty file.
        if Path(file).is_file():
            refuse_other(Path(file))
    if asked.whole is not None:
        return _interfaces(asked, asked.whole)
    measures, written = _measured(asked)
    for end, files in (("talker", asked.tx), ("listener", asked.rx)):
        if isinstance(files[0], Interface):
            print_message(f"at the {end}: {files[0]}, {count(files[0].frames)} frames")
    print_warnings(measures.get("source", {}).get("warnings", []))
    if measures["offset"]:
        print_message(measures["offset"]["text"])
    print_written(written, asked.figure)
    print_found(
        asked.form,
        measures,
        lambda: text_of(of_measures(measures)),
        lambda: [measures_table(measures, most=asked.most)],
    )
    return Exit.MET


def _interfaces(asked: Asked, whole: Path) -> Exit:
    """Measures between both interfaces of one file if they share frames, and the file as one place if not."""
    try:
        measures = measure_captures(asked.tx, asked.rx, offset=asked.offset)
    except NoSharedFrameError:
        if asked.offset is not None or asked.output is not None:
            raise
        return one_capture(replace(asked, file=whole, tx=[], rx=[], whole=None))
    ends = (asked.rx, asked.tx) if backwards(measures) else (asked.tx, asked.rx)
    return both_ends(replace(asked, tx=ends[0], rx=ends[1], whole=None))


def _measured(asked: Asked) -> tuple[Measures, list[Path]]:
    """The measures, and the page or single figures that were written of them."""
    if asked.into is None:
        return measure_captures(asked.tx, asked.rx, offset=asked.offset, frames=asked.output), []
    with TemporaryDirectory(prefix="tsnbench-measure-") as scratch:
        table = Path(scratch) / "frames.parquet" if asked.output is None else asked.output
        measures = measure_captures(asked.tx, asked.rx, offset=asked.offset, frames=table)
        if not asked.figure:
            return measures, [captured_page.write_captures(measures, table, asked.into, asked.kinds)]
        drawings = captured_page.captures_drawings(measures, table)
        page = report_files.destination([], asked.into)
        return measures, report_files.write_chosen(drawings, asked.figure, page, asked.kinds)


def one_capture(asked: Asked) -> Exit:
    """The TRDP telegrams of one capture, or the streams of one without TRDP."""
    time_out_ns = given_ns("--timeout", asked.timeout, LENGTH_OF_RUN)
    with TemporaryDirectory(prefix="tsnbench-measure-") as scratch:
        table = Path(scratch) / "frames.parquet"
        inspected, found = read_capture(asked.capture, frames=table, time_out_ns=time_out_ns)
        if found is None and asked.timeout is not None:
            raise MeasureError(f"--timeout: {NO_TELEGRAMS}, found none")
        written = []
        if asked.into is not None:
            written = write_inspected(inspected, table, asked.into, asked.kinds, asked.figure, found)
    if found is None:
        return _streams(asked, inspected, written)
    print_warnings(found["source"]["warnings"])
    print_written(written, asked.figure)
    print_found(
        asked.form,
        found,
        lambda: text_of(of_trdp(found)),
        lambda: [
            trdp_table(found, asked.most),
            *([exchanges_table(found, asked.most)] if found["exchanges"] else []),
        ],
    )
    return Exit.MET


def _streams(asked: Asked, found: Inspection, written: list[Path]) -> Exit:
    """The streams of one capture: losses, gaps, intervals by the numbers of their protocols."""
    print_warnings(found["warnings"])
    print_written(written, asked.figure)
    print_found(
        asked.form,
        found,
        lambda: text_of(of_inspection(found)),
        lambda: inspection_tables(found, asked.most),
    )
    return Exit.MET
