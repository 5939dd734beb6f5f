"""The page of a device under test: a row for each test, and the figures that show the frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.conform.catalogue import TESTS
from tsnbench.conform.figures import drawings
from tsnbench.conform.run import NO_CERTIFICATE
from tsnbench.conform.seen import Seen
from tsnbench.conform.tables import WORDS, counts, error_words
from tsnbench.report.files import write_page
from tsnbench.report.page import charts, environment
from tsnbench.runs import Run, file_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tsnbench.conform.run import Outcome, Prepared

REHEARSALS = {"simulation": "the simulator", "vm": "the kernel of a guest", "netns": "this machine's kernel"}
"""Backends that imitate the device."""


def write(prepared: Prepared, outcome: Outcome, into: Path, kinds: Sequence[str] = ()) -> Path:
    """Writes ``report.html`` into the folder of a device, and figure files beside it.

    Raises:
        FolderError: a file of that name is not one of our pages.
        BackendError: the disk is full, or a file cannot be written.
    """
    drawn = [
        drawing
        for suite, one in prepared.stimuli
        if one.name in outcome.measured
        for drawing in drawings(outcome.bench, suite, one, Seen.of(Run.open(into / one.name)))
    ]
    imitated = REHEARSALS.get(outcome.backend)
    text = (
        environment()
        .get_template("conform.html")
        .render(
            title=outcome.bench.name,
            kind=f"tsnbench test of a device, a rehearsal on {imitated}"
            if imitated
            else "tsnbench test of a device",
            outcome=counts(outcome),
            note=NO_CERTIFICATE,
            facts=[
                ("scenario", outcome.bench.expected.name),
                ("backend", outcome.backend),
                ("testers", "; ".join(dict.fromkeys(map(error_words, outcome.errors)))),
            ],
            results=outcome.results,
            tests=TESTS,
            words=WORDS,
            charts=charts(drawn),
        )
    )
    return write_page(into / file_names.REPORT, text, drawn, kinds)
