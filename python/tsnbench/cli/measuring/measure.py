"""``tsnbench measure``: figures of a run folder, or of captures from any source."""

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
    from tsnbench.measure.trdp import TrdpMeasures
    from tsnbench.runs.measures import Measures


def measure(
    what: Annotated[
        list[Path] | None,
        argument(
            "FOLDER",
            "Run folder, a log of another tool, one capture with TRDP telegrams, or two captures: at the "
            "talker and at the listener.",
        ),
    ] = None,
    tx: Annotated[list[Path] | None, option("FILE", "Capture at the talker; may be repeated.")] = None,
    rx: Annotated[list[Path] | None, option("FILE", "Capture at the listener; may be repeated.")] = None,
    offset: Annotated[
        str | None,
        option(
            "TIME", "Subtract from every delay: 37s for TAI against UTC, or auto for the detected offset."
        ),
    ] = None,
    frames: Annotated[Path | None, option("FILE", "Also write one row per frame (Parquet).")] = None,
    start: Annotated[str | None, option("STAGE", "Stage to measure from: tx unless given.", "--from")] = None,
    end: Annotated[str | None, option("STAGE", "Stage to measure to: rx unless given.", "--to")] = None,
    sync: Annotated[
        Path | None,
        option(
            "FILE", "Log of ptp4l, phc2sys or ts2phc: offsets, states, path delays; whether the gate opens."
        ),
    ] = None,
    below: Annotated[
        str | None,
        option("TIME", "With --sync: the largest offset for the gate; default 100ns (phc2sys: 1us)."),
    ] = None,
    time_out: Annotated[
        str | None, option("TIME", "For a capture with TRDP: time-out of the subscriptions; default 100ms.")
    ] = None,
    stages: Annotated[
        bool,
        typer.Option(
            "--stages", help="Latency and jitter at every stage of hosts, with a box plot (stages.svg)."
        ),
    ] = False,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers", help="For a run folder: times from a request to the reception of its answers."
        ),
    ] = False,
    report: Annotated[
        Path | None,
        option("PATH", "For captures, also write a report: an HTML file, or a folder for report.html."),
    ] = None,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All rows of all tables, not only the most important.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="For a run folder, print only the last line: the verdict.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="The figures as tidy CSV on stdout: one row per figure.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The measures as JSON on stdout.")] = False,
) -> None:
    """Measure delay, jitter and loss per stream: of a run folder, or of captures (A B, or --tx, --rx).

    For one capture, count its TRDP telegrams. For a log of isochron, netlatency, RTC-Testbench or
    cyclictest, or a result file of OMNeT++, print its figures.
    """
    drawn = figure_kinds(figures, report, names=figure)
    if as_csv and as_json:
        fail(Exit.INPUT_WRONG, "--csv: expected no --json")
    folder, tx, rx = _given(what or [], tx or [], rx or [])
    if report is not None and not (tx and rx) and not _is_capture(folder):
        _no_report(folder)
    if not (tx and rx):
        _only_of_captures({"--offset": offset, "--frames": frames}, folder)
    if sync is not None:
        if folder is not None or tx or rx or stages:
            fail(Exit.INPUT_WRONG, "--sync: expected one log and no run folder or capture")
        _sync(sync, below, as_json, as_csv)
        return
    if below is not None:
        fail(Exit.INPUT_WRONG, "--below: expected --sync")
    if folder is not None and not folder.is_dir() and folder.exists() and not (tx or rx or stages):
        from tsnbench.foreign_files import recognise

        with user_errors():
            found = recognise(folder)
            if found is None or not found.capture:
                _foreign(folder, time_out, everything, as_json, as_csv)
                return
        _telegrams(folder, time_out, everything, as_json, as_csv, report, drawn, figure)
        return
    if time_out is not None:
        fail(Exit.INPUT_WRONG, "--time-out: expected one capture with TRDP telegrams")
    if stages:
        if folder is None or tx or rx:
            fail(Exit.INPUT_WRONG, "--stages: expected a run folder, or one of tsnbench send and receive")
        _stages(folder, as_json, as_csv)
        return
    from tsnbench.measure import MOST_ROWS, measure_captures, measure_run, measures_table

    most = None if everything else MOST_ROWS
    if answers:
        if folder is None or not folder.is_dir() or tx or rx:
            fail(Exit.INPUT_WRONG, "--answers: expected a run folder")
        _answers(folder, as_json, as_csv, most)
        return
    if (folder is None) == (not tx and not rx):
        fail(Exit.INPUT_WRONG, "expected a run folder, or captures with --tx and --rx")
    with user_errors():
        if folder is not None:
            from tsnbench.campaign.campaign import judge_run
            from tsnbench.measure import headline, verdict_rows, verdict_table
            from tsnbench.runs import Run

            one = Run.open(folder)
            measures = measure_run(folder, start, end)
            if start is not None or end is not None:
                # Requirements concern the network, not the time between two stages: there is no verdict.
                if as_json:
                    print_json({"measures": measures})
                elif as_csv:
                    _csv(measures)
                else:
                    print_table(measures_table(measures, most=most))
                raise typer.Exit(Exit.MET)
            verdict = judge_run(one, measures)
            if as_json:
                print_json({"measures": measures, "verdict": verdict})
            elif as_csv:
                from tsnbench.measure.tidy import of_measures, of_verdict, text_of

                print_csv(text_of([*of_measures(measures), *of_verdict(verdict)]))
            else:
                if not quiet:
                    first = [(row["group"], row["listener"]) for row in verdict_rows(verdict)]
                    print_table(measures_table(measures, most=most, first=list(dict.fromkeys(first))))
                    print_table(verdict_table(verdict, most))
                print_line(headline(verdict))
            raise typer.Exit(Exit.MET if verdict["met"] else Exit.REQUIREMENT_FAILED)
        if not tx or not rx:
            fail(Exit.INPUT_WRONG, "expected captures of both ends: --tx and --rx")
        _only_captures([*tx, *rx])
        written: list[Path] = []
        if report is None:
            measures = measure_captures(tx, rx, offset=offset, frames=frames)
        else:
            measures, written = _reported(tx, rx, offset, frames, report, drawn, figure)
    for warning in measures.get("source", {}).get("warnings", []):
        print_message(f"warning: {warning}")
    if measures["offset"]:
        print_message(measures["offset"]["text"])
    print_written(written, figure)
    if as_json:
        print_json(measures)
    elif as_csv:
        _csv(measures)
    else:
        print_table(measures_table(measures, most=most))


def _csv(measures: Measures) -> None:
    from tsnbench.measure.tidy import of_measures, text_of

    print_csv(text_of(of_measures(measures)))


def _given(what: list[Path], tx: list[Path], rx: list[Path]) -> tuple[Path | None, list[Path], list[Path]]:
    """A folder or file, or the captures of both ends: two files without options are these."""
    if len(what) == 2 and not (tx or rx) and not any(one.is_dir() for one in what):
        return None, what[:1], what[1:]
    if len(what) > 1:
        fail(
            Exit.INPUT_WRONG,
            "expected one run folder or file, or two captures: at the talker, at the listener",
        )
    return (what[0] if what else None), tx, rx


def _is_capture(what: Path | None) -> bool:
    from tsnbench.foreign_files import recognise

    if what is None or not what.is_file():
        return False
    with user_errors():
        found = recognise(what)
        return found is not None and found.capture


def _no_report(what: Path | None) -> NoReturn:
    """Ends with a message: only captures of both ends have a report here. Names the report of others."""
    text = "--report: expected captures of both ends"
    if what is not None:
        command = "report" if what.is_dir() else "inspect"
        more = "" if what.is_dir() else " --report PATH"
        text += f"\nhint: tsnbench {command} {what}{more}"
    fail(Exit.INPUT_WRONG, text)


def _only_of_captures(given: dict[str, object], what: Path | None) -> None:
    """Ends with a message if an option of captures is given with something else; names a run's frames."""
    for name in [name for name, value in given.items() if value is not None]:
        text = f"{name}: expected captures of both ends"
        if name == "--frames" and what is not None and what.is_dir():
            text += f"\nhint: {what / 'frames.parquet'} has one row per frame, once the run is measured"
        fail(Exit.INPUT_WRONG, text)


def _reported(
    tx: list[Path],
    rx: list[Path],
    offset: str | None,
    frames: Path | None,
    into: Path,
    kinds: tuple[str, ...],
    figure: list[str] | None,
) -> tuple[Measures, list[Path]]:
    """The measures of captures, and the page or single figures that were written of them."""
    from tempfile import TemporaryDirectory

    from tsnbench.measure import measure_captures
    from tsnbench.report.captured_page import captures_drawings, write_captures
    from tsnbench.report.files import destination, write_chosen

    with TemporaryDirectory(prefix="tsnbench-measure-") as scratch:
        table = Path(scratch) / "frames.parquet" if frames is None else frames
        measures = measure_captures(tx, rx, offset=offset, frames=table)
        if figure:
            page = destination([], into)
            return measures, write_chosen(captures_drawings(measures, table), figure, page, kinds)
        return measures, [write_captures(measures, table, into, kinds)]


def _telegrams(
    capture: Path,
    time_out: str | None,
    everything: bool,
    as_json: bool,
    as_csv: bool,
    report: Path | None,
    drawn: tuple[str, ...],
    figure: list[str] | None,
) -> None:
    """The TRDP telegrams of one capture."""
    from tsnbench.live.receiving import read_duration
    from tsnbench.measure import MOST_ROWS, exchanges_table, measure_trdp, trdp_table
    from tsnbench.measure.errors import MeasureError
    from tsnbench.measure.trdp import NO_TELEGRAM

    with user_errors():
        time_out_ns = None if time_out is None else read_duration("--time-out", time_out)
        try:
            found = measure_trdp(capture, time_out_ns)
        except MeasureError as error:
            if not str(error).startswith(NO_TELEGRAM):
                raise
            more = "" if report is None else " --report PATH"
            hint = f"tsnbench inspect {capture}{more}, or name two captures: at the talker, at the listener"
            raise MeasureError(f"{error}\nhint: {hint}") from None
        written = [] if report is None else _telegrams_page(capture, found, report, drawn, figure)
    for warning in found["source"]["warnings"]:
        print_message(f"warning: {warning}")
    print_written(written, figure)
    if as_json:
        print_json(found)
    elif as_csv:
        from tsnbench.measure.tidy import of_trdp, text_of

        print_csv(text_of(of_trdp(found)))
    else:
        print_table(trdp_table(found, None if everything else MOST_ROWS))
        if found["exchanges"]:
            print_table(exchanges_table(found, None if everything else MOST_ROWS))


def _telegrams_page(
    capture: Path, found: TrdpMeasures, into: Path, kinds: tuple[str, ...], figure: list[str] | None
) -> list[Path]:
    """The page of one capture with its TRDP telegrams, or single figures of it."""
    from tempfile import TemporaryDirectory

    from tsnbench.cli.measuring.inspect import write_inspected
    from tsnbench.measure.inspection import inspect_capture

    with TemporaryDirectory(prefix="tsnbench-measure-") as scratch:
        table = Path(scratch) / "frames.parquet"
        inspected = inspect_capture(capture, frames=table)
        return write_inspected(inspected, table, into, kinds, figure, lambda: found)


def _foreign(file: Path, time_out: str | None, everything: bool, as_json: bool, as_csv: bool) -> None:
    """The figures of a log of another tool."""
    from tsnbench.foreign_files import foreign_table, measure_foreign
    from tsnbench.measure import MOST_ROWS

    found = measure_foreign(file)
    if time_out is not None:
        fail(Exit.INPUT_WRONG, "--time-out: expected one capture with TRDP telegrams")
    for warning in found["warnings"]:
        print_message(f"warning: {warning}")
    if as_json:
        print_json(found)
    elif as_csv:
        from tsnbench.measure.tidy import of_figures, text_of

        print_csv(text_of(of_figures(found["streams"])))
    else:
        print_table(foreign_table(found, None if everything else MOST_ROWS))


def _sync(file: Path, below: str | None, as_json: bool, as_csv: bool) -> None:
    """Clocks of a log of linuxptp; exit code 1 if the gate of one is closed at the end."""
    from tsnbench.foreign_files.linuxptp import measure_sync, sync_tables
    from tsnbench.live.receiving import read_duration

    with user_errors():
        found = measure_sync(file, None if below is None else read_duration("--below", below))
    for warning in found["warnings"]:
        print_message(f"warning: {warning}")
    if as_json:
        print_json(found)
    elif as_csv:
        from tsnbench.measure.tidy import of_sync, text_of

        print_csv(text_of(of_sync(found["clocks"])))
    else:
        for table in sync_tables(found):
            print_table(table)
    gates = [one["gate"] for one in found["clocks"] if one["gate"] is not None]
    raise typer.Exit(Exit.MET if all(gate["open"] for gate in gates) else Exit.REQUIREMENT_FAILED)


def _only_captures(files: list[Path]) -> None:
    """Ends with a message about the first file that is no capture: its format, and the command for it."""
    from tsnbench.foreign_files import recognise
    from tsnbench.foreign_files.formats import no_measure

    for file in files:
        # The native code reports a missing or empty file.
        if file.is_file() and (found := recognise(file)) is not None and not found.capture:
            fail(Exit.INPUT_WRONG, no_measure(str(file), found, "a capture (pcap or pcapng)"))


def _answers(folder: Path, as_json: bool, as_csv: bool, most: int | None) -> None:
    """Times from a request to the reception of its answers."""
    from tsnbench.measure.answers import FORMAT, answered, answers_table

    with user_errors():
        found = answered(folder)
    if as_json:
        print_json({"format": FORMAT, "answers": [one.as_dict() for one in found]})
    elif as_csv:
        from tsnbench.measure.tidy import of_answers, text_of

        print_csv(text_of(of_answers(found)))
    else:
        print_table(answers_table(found, most))


def _stages(folder: Path, as_json: bool, as_csv: bool) -> None:
    """OCORA's tables and box plot."""
    from tsnbench.measure.stages import by_stage, stages_table, wakeups_table
    from tsnbench.report.figures.stages import write

    with user_errors():
        found = by_stage(folder)
        drawn = write(found, folder)
    if as_json:
        print_json({"streams": [one.as_dict() for one in found]})
        return
    if as_csv:
        from tsnbench.measure.tidy import of_stages, text_of

        print_csv(text_of(of_stages(found)))
        return
    for one in found:
        print_table(stages_table(one))
        if one.wakeups:
            print_table(wakeups_table(one))
    print_message(f"box plot: {', '.join(map(str, drawn))}")
