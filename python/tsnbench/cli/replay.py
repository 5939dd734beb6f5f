"""``tsnbench replay``: why frames waited, and a page that shows them move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tsnbench.cli.console.options import argument, option
from tsnbench.cli.console.output import print_json, print_line, print_message, print_table, user_errors
from tsnbench.cli.console.progress import progress

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument
    from tsnbench.replay.waiting import History, Part
    from tsnbench.replay.window import Journey

UNKNOWN = "unknown: sightings do not show it: for example a gate list that changes or is wrong."

MOST_TABLES = 5
"""So many frames are shown without ``--all``."""


def replay(
    folder: Annotated[Path, argument("FOLDER", "Run folder of a simulated run.")],
    frame: Annotated[
        str | None, option("STREAM/SEQ", "This frame, such as video/214; default the slowest of each stream.")
    ] = None,
    html: Annotated[
        Path | None, option("FILE", "Write a page that replays a window of the run; it needs no network.")
    ] = None,
    begin: Annotated[
        str | None,
        option(
            "TIME",
            "Only frames that talkers hand over from here on; with --html, the begin of the page.",
            "--from",
        ),
    ] = None,
    end: Annotated[
        str | None,
        option(
            "TIME", "Only frames that talkers hand over before; with --html, the end of the page.", "--until"
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        option(
            "FILE",
            "With --html, a lesson beside the replay: Markdown whose links to #t=12ms go to this instant.",
            "--lesson",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="The slowest frames of all streams.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The parts of each hop as JSON on stdout.")] = False,
) -> None:
    """Show why frames waited, hop by hop, and replay a window of the run in a page.

    The run's Plan is simulated again with taps at all ports.
    """
    from tsnbench import quantities
    from tsnbench.cli.run import duration_ns
    from tsnbench.errors import InputError
    from tsnbench.replay.page import lesson, write
    from tsnbench.replay.passages import passages
    from tsnbench.replay.sightings import counters_of, sightings_of
    from tsnbench.replay.waiting import History
    from tsnbench.replay.window import MOST_JOURNEYS, around, journey_named, refuse_large, slowest, window
    from tsnbench.runs import Run

    with user_errors():
        if frame is not None and html is None and (begin is not None or end is not None):
            raise InputError(
                "--frame names one frame, --from and --until the slowest ones of a window: write one"
            )
        first = None if begin is None else duration_ns("--from", begin)
        last = None if end is None else duration_ns("--until", end)
        if first is not None and last is not None and first >= last:
            after, found = quantities.exact(first), quantities.exact(last)
            raise InputError(f"--until: expected a time after {after}, found {found}")
        if html is None and beside is not None:
            raise InputError("--lesson stands beside a page\nhint: add --html FILE")
        text = "" if beside is None else lesson(beside)
        run = Run.open(folder)
        document = run.plan.document
        if html is not None:
            refuse_large(document)
        with progress("replay", 1, 1, document["duration_ns"]) as bar:
            table = passages(document, sightings_of(run, bar.simulated if bar else None))
        history = History(document, table, counters_of(run))
        journeys = (
            # A page offers the slowest frames of the whole run, wherever its window is.
            slowest(document, history, table, handed=(None, None) if html else (first, last))
            if frame is None
            else journey_named(document, history, frame)
        )
        if not journeys:
            where = "" if html or (first, last) == (None, None) else " in this window"
            raise InputError(f"{folder}: no frame arrived at its listener{where}")
        if html is not None:
            margins = around(journeys[0])
            first = margins[0] if first is None else first
            last = margins[1] if last is None else last
            if first >= last:
                after, found = quantities.exact(first), quantities.exact(last)
                raise InputError(f"--until: expected a time after {after}, found {found}")
            content = window(history, table, first, last, journeys[:MOST_JOURNEYS])
            write(html, content, text)
            if content["cut"]:
                print_message(
                    f"note: the page ends {content['length_ns']} ns after its beginning: more frames would "
                    "make it too large\nhint: choose a shorter window with --from and --until"
                )
    if as_json:
        print_json([as_document(document, history, one) for one in journeys])
        return
    shown = journeys if everything else journeys[:MOST_TABLES]
    print_line("time from the hand-over at the talker to the arrival at the listener")
    for one in shown:
        print_journey(document, history, one)
    if hidden := len(journeys) - len(shown):
        print_line(f"… and {hidden} more, farther from their greatest delay: --all, or --frame STREAM/SEQ")
    if html is not None:
        print_line(f"page: {html}")


def title_of(document: PlanDocument, journey: Journey) -> str:
    """``loop/50 to robot: 14.882 us``."""
    from tsnbench import quantities

    stream = document["streams"][journey.stream]["name"]
    listener = document["nodes"][journey.listener]["name"]
    total = quantities.exact(journey.total_ns)
    return f"{stream}/{journey.seq} to {listener}: {total}"


def print_journey(document: PlanDocument, history: History, journey: Journey) -> None:
    """Prints the journey as one table with a row for each part of each hop."""
    from tsnbench import quantities
    from tsnbench.replay.waiting import Reason
    from tsnbench.sheet import Column, Sheet

    sheet = Sheet(
        title_of(document, journey),
        [Column("port", name=True), Column("from"), Column("for"), Column("because", left=True)],
    )
    for passage in journey.passages:
        port = document["ports"][passage.port]["name"]
        for part in summed(history.parts(passage)):
            sheet.rows.append(
                (
                    port,
                    quantities.exact(part.begin_ns),
                    quantities.exact(part.length_ns),
                    because(document, part),
                )
            )
            port = ""
    if any(row[-1] == Reason.UNKNOWN for row in sheet.rows):
        sheet.captions.append(UNKNOWN)
    print_table(sheet)


def summed(parts: list[Part], most: int = 12) -> list[Part]:
    """The parts of a long wait, summed by reason, in the order in which the reasons begin."""
    from tsnbench.replay.waiting import Part

    if len(parts) <= most:
        return parts
    sums: dict[tuple[str, int | None], Part] = {}
    for part in parts:
        key = (part.reason, part.stream)
        before = sums.get(key)
        sums[key] = (
            part
            if before is None
            else Part(part.reason, before.begin_ns, before.end_ns + part.length_ns, part.stream)
        )
    return list(sums.values())


def because(document: PlanDocument, part: Part) -> str:
    """The reason, with the stream whose frames the port sent."""
    if part.stream is None:
        return part.reason.value
    return f"{part.reason.value}: {document['streams'][part.stream]['name']}"


def as_document(document: PlanDocument, history: History, journey: Journey) -> dict[str, Any]:
    """A frame's way for ``--json``; all times in ns."""
    return {
        "stream": document["streams"][journey.stream]["name"],
        "seq": journey.seq,
        "listener": document["nodes"][journey.listener]["name"],
        "total_ns": journey.total_ns,
        "hops": [
            {
                "port": document["ports"][passage.port]["name"],
                "came_ns": passage.came_ns,
                "arrived_ns": passage.arrived_ns,
                "parts": [
                    {
                        "reason": part.reason.value,
                        "begin_ns": part.begin_ns,
                        "length_ns": part.length_ns,
                        **(
                            {}
                            if part.stream is None
                            else {"stream": document["streams"][part.stream]["name"]}
                        ),
                    }
                    for part in history.parts(passage)
                ],
            }
            for passage in journey.passages
        ],
    }
