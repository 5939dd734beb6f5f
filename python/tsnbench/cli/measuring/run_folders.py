"""``tsnbench measure`` of a run folder: its measures and verdict, the stages of its hosts, its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.campaign.campaign import judge_run
from tsnbench.cli.console.forms import Form, print_found
from tsnbench.cli.console.output import Exit, fail, print_line, print_message
from tsnbench.cli.measuring.asked import Asked
from tsnbench.cli.parts import stage_figure
from tsnbench.measure import clock_notes, headline, measure_run, measures_table, verdict_rows, verdict_table
from tsnbench.measure.answers import FORMAT, answered, answers_table
from tsnbench.measure.stages import by_stage, stages_table, wakeups_table
from tsnbench.measure.tidy import of_answers, of_measures, of_stages, of_verdict, text_of
from tsnbench.runs import Run
from tsnbench.sheet import Sheet

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


def run(asked: Asked) -> Exit:
    """The measures of a run and its verdict; between two stages there are measures alone."""
    if asked.file is None:
        fail(Exit.INPUT_WRONG, "expected captures of both ends: --tx and --rx")
    one = Run.open(asked.folder)
    measures = measure_run(asked.folder, asked.start, asked.end)
    if asked.start is not None or asked.end is not None:
        # Requirements concern the network, not the time between two stages: there is no verdict.
        print_found(
            asked.form,
            {"measures": measures},
            lambda: text_of(of_measures(measures)),
            lambda: [measures_table(measures, most=asked.most)],
        )
        return Exit.MET
    verdict = judge_run(one, measures)

    def tables() -> Iterator[Sheet | Group]:
        if asked.quiet:
            return
        first = [(row["group"], row["listener"]) for row in verdict_rows(verdict)]
        yield measures_table(measures, most=asked.most, first=list(dict.fromkeys(first)))
        yield verdict_table(verdict, asked.most)

    print_found(
        asked.form,
        {"measures": measures, "verdict": verdict},
        lambda: text_of([*of_measures(measures), *of_verdict(verdict)]),
        tables,
    )
    if asked.form is Form.TABLES:
        for note in clock_notes(verdict, measures):
            print_message(f"note: {note}")
        print_line(headline(verdict))
    return Exit.MET if verdict["met"] else Exit.REQUIREMENT_FAILED


def answers(asked: Asked) -> Exit:
    """Times from a request to the reception of its answers."""
    found = answered(asked.folder)
    print_found(
        asked.form,
        {"format": FORMAT, "answers": [one.as_dict() for one in found]},
        lambda: text_of(of_answers(found)),
        lambda: [answers_table(found, asked.most)],
    )
    return Exit.MET


def stages(asked: Asked) -> Exit:
    """OCORA's tables and box plot."""
    found = by_stage(asked.folder)
    drawn = stage_figure.write(found, asked.folder)

    def tables() -> Iterator[Table]:
        for one in found:
            yield stages_table(one)
            if one.wakeups:
                yield wakeups_table(one)

    print_found(
        asked.form,
        {"streams": [one.as_dict() for one in found]},
        lambda: text_of(of_stages(found)),
        tables,
    )
    if asked.form is Form.TABLES:
        print_message(f"box plot: {', '.join(map(str, drawn))}")
    return Exit.MET
