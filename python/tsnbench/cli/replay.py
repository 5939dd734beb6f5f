"""``tsnbench replay``: why frames waited, and a page that shows them move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tsnbench import quantities
from tsnbench.cli.console.completing import frames, run_folders
from tsnbench.cli.console.options import argument, flag, given_ns, json_of, option
from tsnbench.cli.console.output import print_json, print_line, print_message, user_errors
from tsnbench.cli.console.progress import progress
from tsnbench.cli.journeys import print_journey
from tsnbench.cli.parts import replay_page
from tsnbench.errors import InputError
from tsnbench.replay.passages import ReplayError
from tsnbench.replay.waiting import History
from tsnbench.replay.window import (
    MOST_JOURNEYS,
    Journey,
    around,
    as_document,
    journey_named,
    refuse_large,
    slowest,
    window,
)
from tsnbench.runs import Run

MOST_TABLES = 5
"""So many frames are shown without ``--all``."""
Frame = Annotated[
    str | None,
    option(
        "STREAM/SEQ",
        "This frame, such as video/214; default the slowest of each stream.",
        autocompletion=frames,
    ),
]
Page = Annotated[
    Path | None, option("FILE", "Write a page that replays a window of the run; it needs no network.")
]
Begin = Annotated[
    str | None,
    option(
        "TIME",
        "Only frames that talkers hand over from here on; with --output, the begin of the page.",
        "--from",
    ),
]
End = Annotated[
    str | None,
    option("TIME", "Only frames that talkers hand over before; with --output, the end of the page.", "--to"),
]
Lesson = Annotated[
    Path | None,
    option(
        "FILE",
        "With --output, a lesson beside the replay: Markdown whose links to #t=12ms go to this instant.",
        "--lesson",
    ),
]


def replay(
    folder: Annotated[Path, argument("FOLDER", "Run folder of a simulated run.", autocompletion=run_folders)],
    frame: Frame = None,
    output: Page = None,
    begin: Begin = None,
    end: End = None,
    beside: Lesson = None,
    everything: Annotated[bool, flag("--all", "The slowest frames of all streams.")] = False,
    as_json: Annotated[bool, json_of("The parts of each hop")] = False,
) -> None:
    """Show why frames waited, hop by hop, also as an animated page.

    The run's Plan is simulated again, and the simulator writes down what each frame does at each port.
    """
    with user_errors():
        if frame is not None and output is None and (begin is not None or end is not None):
            raise InputError(
                "--frame names one frame, --from and --to the slowest ones of a window: write one"
            )
        first, last = given_ns("--from", begin), given_ns("--to", end)
        _refuse_disorder(first, last)
        if output is None and beside is not None:
            raise InputError("--lesson stands beside a page\nhint: add --output FILE")
        text = "" if beside is None else replay_page.lesson(beside)
        run = Run.open(folder)
        document = run.plan.document
        if output is not None:
            refuse_large(document)
        with progress("replay", 1, 1, document["duration_ns"]) as bar:
            history = History.of(run, bar.progress)
        if frame is None:
            # A page offers the slowest frames of the whole run, wherever its window is.
            handed = (None, None) if output else (first, last)
            journeys = slowest(history, handed=handed)
        else:
            journeys = journey_named(history, frame)
        if not journeys:
            where = "" if output or (first, last) == (None, None) else " in this window"
            raise ReplayError(f"{folder}: no frame arrived at its listener{where}")
        if output is not None:
            _write_page(output, history, journeys, first, last, text)
    if as_json:
        print_json("replay", {"frames": [as_document(history, one) for one in journeys]})
        return
    shown = journeys if everything else journeys[:MOST_TABLES]
    print_line("time from the hand-over at the talker to the arrival at the listener")
    for one in shown:
        print_journey(history, one)
    if hidden := len(journeys) - len(shown):
        print_line(f"… and {hidden} more, farther from their greatest delay: --all, or --frame STREAM/SEQ")
    if output is not None:
        print_line(f"page: {output}")


def _write_page(
    output: Path,
    history: History,
    journeys: Sequence[Journey],
    first: int | None,
    last: int | None,
    text: str,
) -> None:
    """Writes the page of a window, by default around the slowest frame."""
    begin, end = around(journeys[0])
    begin = begin if first is None else first
    end = end if last is None else last
    _refuse_disorder(begin, end)
    content = window(history, history.table, begin, end, journeys[:MOST_JOURNEYS])
    replay_page.write(output, content, text)
    if content["cut"]:
        print_message(
            f"note: the page ends {content['length_ns']} ns after its beginning: more frames would "
            "make it too large\nhint: choose a shorter window with --from and --to"
        )


def _refuse_disorder(first: int | None, last: int | None) -> None:
    if first is not None and last is not None and first >= last:
        after, found = quantities.exact(first), quantities.exact(last)
        raise InputError(f"--to: expected a time after {after}, found {found}")
