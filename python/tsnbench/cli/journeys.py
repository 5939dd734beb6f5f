"""The way of one frame through the network: a table or JSON with the parts of its time at each hop."""

from __future__ import annotations

from tsnbench import quantities
from tsnbench.cli.console.output import print_table
from tsnbench.plan.types import PlanDocument
from tsnbench.replay.waiting import History, Part, Reason, names_of_streams
from tsnbench.replay.window import CLOCKS, Journey
from tsnbench.sheet import Column, Sheet

UNKNOWN = "unknown: nothing shows the reason: for example a gate list that changes or is wrong."


def title_of(document: PlanDocument, journey: Journey) -> str:
    """``loop/50 to robot: 14.882 us``."""
    stream = document["streams"][journey.stream]["name"]
    listener = document["nodes"][journey.listener]["name"]
    total = quantities.exact(journey.total_ns)
    return f"{stream}/{journey.seq} to {listener}: {total}"


def print_journey(history: History, journey: Journey) -> None:
    """Prints the journey as one table with a row for each part of each hop."""
    document = history.document
    clocks = [Column("its clock")] if history.clocks else []
    sheet = Sheet(
        title_of(document, journey),
        [Column("port", name=True), Column("from"), *clocks, Column("for"), Column("because", left=True)],
    )
    for passage, parts in history.hops(journey.passages):
        port = document["ports"][passage.port]["name"]
        clock = history.clock_of(passage)
        for part in summed(parts):
            shown = [quantities.exact(clock.shows(part.begin_ns))] if clock else [] if not clocks else [""]
            sheet.rows.append(
                (
                    port,
                    quantities.exact(part.begin_ns),
                    *shown,
                    quantities.exact(part.length_ns),
                    because(document, part),
                )
            )
            port = ""
    if any(row[-1] == Reason.UNKNOWN for row in sheet.rows):
        sheet.captions.append(UNKNOWN)
    if clocks:
        delay = quantities.exact(journey.delay_ns)
        sheet.captions.append(
            f"{CLOCKS} The delay that is measured is the difference of two clocks: {delay}."
        )
    print_table(sheet)


def summed(parts: list[Part], most: int = 12) -> list[Part]:
    """The parts of a long wait, summed by reason, in the order in which the reasons begin."""
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
    return f"{part.reason.value}: {names_of_streams(document)[part.stream]}"
