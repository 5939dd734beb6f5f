"""``tsnbench measure``: figures of a run folder, or of captures from any source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsnbench.cli.console.completing import run_folders
from tsnbench.cli.console.forms import form_of
from tsnbench.cli.console.options import FigureKinds, FigureNames, argument, csv_of, flag, json_of, option
from tsnbench.cli.console.output import figure_kinds, user_errors
from tsnbench.cli.measuring.asked import Asked
from tsnbench.cli.measuring.modes import measured
from tsnbench.measure import MOST_ROWS

Files = Annotated[
    list[Path] | None,
    argument(
        "FOLDER...",
        "Run folder, a log of another tool, one capture, or two captures: at the talker and at the listener.",
        autocompletion=run_folders,
    ),
]
Offset = Annotated[
    str | None,
    option("TIME", "Subtract from every delay: 37s for TAI against UTC, or auto for the detected offset."),
]
Interfaces = Annotated[
    list[str] | None,
    option(
        "NAME",
        "Interface of the one capture (pcapng, or any with SLL2): given twice, at the talker and at the "
        "listener; given once, its frames alone.",
    ),
]
SyncLog = Annotated[
    Path | None,
    option(
        "FILE", "Log of ptp4l, phc2sys, ts2phc or chronyd: offsets, states, causes; whether the gate opens."
    ),
]
Below = Annotated[
    str | None, option("TIME", "With --sync: the largest offset for the gate; default 100ns (phc2sys: 1us).")
]
TimeOut = Annotated[
    str | None, option("TIME", "For a capture with TRDP: time-out of the subscriptions; default 100ms.")
]
Stages = Annotated[
    bool, flag("--stages", "Latency and jitter at every stage of hosts, with a box plot (stages.svg).")
]
Answers = Annotated[
    bool, flag("--answers", "For a run folder: times from a request to the reception of its answers.")
]
Folder = Annotated[
    Path | None,
    option(
        "DIR",
        "For captures, also write report.html into this folder; a name that ends in .html is the page's own.",
    ),
]


def measure(
    what: Files = None,
    tx: Annotated[list[Path] | None, option("FILE", "Capture at the talker; may be repeated.")] = None,
    rx: Annotated[list[Path] | None, option("FILE", "Capture at the listener; may be repeated.")] = None,
    interface: Interfaces = None,
    offset: Offset = None,
    output: Annotated[
        Path | None, option("FILE", "For captures, also write one row per frame (Parquet).")
    ] = None,
    start: Annotated[str | None, option("STAGE", "Stage to measure from: tx by default.", "--from")] = None,
    end: Annotated[str | None, option("STAGE", "Stage to measure to: rx by default.", "--to")] = None,
    sync: SyncLog = None,
    below: Below = None,
    timeout: TimeOut = None,
    stages: Stages = False,
    answers: Answers = False,
    into: Folder = None,
    figures: FigureKinds = "",
    figure: FigureNames = None,
    everything: Annotated[
        bool, flag("--all", "All rows of all tables, not only the most important.")
    ] = False,
    quiet: Annotated[
        bool, flag("--quiet -q", "For a run folder, print only the last line: the verdict.")
    ] = False,
    as_csv: Annotated[bool, csv_of("The figures")] = False,
    as_json: Annotated[bool, json_of("The measures")] = False,
) -> None:
    """Measure delay, jitter and loss of a run folder or of captures.

    Captures are two files, at the talker and at the listener, those of --tx and --rx, or two interfaces of
    one file. For one capture, print its TRDP telegrams, or else its streams with their missing numbers. For a
    log of isochron, netlatency, RTC-Testbench or cyclictest, or a result file of OMNeT++, print its figures.
    """
    kinds = figure_kinds(figures, into, names=figure)
    form = form_of(as_json, as_csv)
    asked = Asked.of(
        what or [], tx or [], rx or [], form=form, most=None if everything else MOST_ROWS, quiet=quiet,
        interface=interface, offset=offset, output=output, start=start, end=end, sync=sync, below=below,
        timeout=timeout, stages=stages, answers=answers, into=into, kinds=kinds, figure=figure,
    )  # fmt: skip
    with user_errors():
        raise typer.Exit(measured(asked))
