"""What ``tsnbench run`` prints of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tsnbench.campaign.campaign import Outcome
from tsnbench.cli.console.output import data, print_json, print_line, print_message, print_table
from tsnbench.measure import (
    MOST_ROWS,
    clock_notes,
    headline,
    measures_table,
    runs_table,
    streams_table,
    sweep_headline,
    verdict_rows,
    verdict_table,
)
from tsnbench.runs.tables import repeats
from tsnbench.sheet import Sheet


def tell(
    outcomes: list[Outcome], as_json: bool, everything: bool, quiet: bool, more: Sequence[Sheet] = ()
) -> None:
    """Prints the verdicts and ``more`` tables, as tables for people, or the verdicts as JSON for programs."""
    if as_json:
        runs = [
            {
                "folder": str(o.run.folder),
                "variant": o.run.manifest["variant"],
                "reused": o.reused,
                "verdict": o.verdict,
            }
            for o in outcomes
        ]
        print_json("runs", {"runs": runs})
        return
    labels = [", ".join(f"{k} {v}" for k, v in o.run.manifest["variant"].items()) for o in outcomes]
    many = len(outcomes) > 1
    if not quiet:
        for label, outcome in zip(labels, outcomes, strict=True):
            if everything and label:
                data().rule(label)
            if everything or not many:
                _print_run(outcome, everything)
        for table in more:
            print_table(table)
        if many:
            print_table(runs_table(labels, [(o.verdict, o.reused) for o in outcomes]))
    if many:
        print_line(sweep_headline(labels, [o.verdict for o in outcomes], sum(o.reused for o in outcomes)))
    else:
        print_line(headline(outcomes[0].verdict))
        if outcomes[0].reused and not quiet:
            print_message("the run was there already and is used again; --force runs it anew")


def _print_run(outcome: Outcome, everything: bool) -> None:
    """Prints the tables of one run: the most important rows, or all."""
    measures, verdict = outcome.run.measures(), outcome.verdict
    if everything:
        print_table(measures_table(measures))
        print_table(verdict_table(verdict))
        return
    # Streams in the order of the verdict: those that failed, or have the least margin, first.
    first = list(dict.fromkeys((row["group"], row["listener"]) for row in verdict_rows(verdict)))
    print_table(streams_table(measures, MOST_ROWS, first))
    if verdict["rows"]:
        print_table(verdict_table(verdict, MOST_ROWS))


def _of_clocks(outcomes: Sequence[Outcome]) -> list[str]:
    """What the clocks of each run did; the variant of a run is named if there are several."""
    every = [(one.run.manifest["variant"], clock_notes(one.verdict, one.run.measures())) for one in outcomes]
    named = [("".join(f"{k} {v}: " for k, v in variant.items()), notes) for variant, notes in every]
    return [f"{name}{note}" for name, notes in named for note in notes]


def print_places(outcomes: Sequence[Outcome], into: Path, page: Path | None) -> None:
    """Prints on stderr what kernels and hosts say about the delays, the folder, and the page if there is one.

    The reports have the notes, too.
    """
    told = [one.run.manifest.get("host") or {} for one in outcomes]
    notes = [str(note) for one in told for key in ("warnings", "notes") for note in one.get(key) or ()]
    found = [repeats.steady(one.run.folder) for one in outcomes]
    notes += [repeats.told(one) for one in found if one is not None]
    for note in dict.fromkeys(notes + _of_clocks(outcomes)):
        print_message(f"note: {note}")
    print_message(f"run folder: {into}")
    if page is not None:
        print_message(f"report: {page}")
