"""Results as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.conform.catalogue import CLOCKS
from tsnbench.quantities import exact
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.conform.catalogue import Test
    from tsnbench.conform.judge import Error, Verdict
    from tsnbench.conform.run import Outcome, Prepared

WORDS = {
    "pass": "pass",
    "fail": "FAIL",
    "not-decidable": "not decidable",
    "not-run": "not run",
    "not-offered": "not offered",
}


def results_table(outcome: Outcome) -> Sheet:
    """One row for each test and port; sentences about all that did not pass are below."""
    columns = [
        Column("test", left=True),
        Column("port", name=True),
        Column("found"),
        Column("limit"),
        Column("verdict", left=True),
    ]
    sheet = Sheet("", columns)
    offered = [one for one in outcome.results if one.verdict != "not-offered"]
    for one in offered:
        sheet.rows.append([one.test, one.port, one.shown, one.wanted, WORDS[one.verdict]])
    said: dict[tuple[str, str], list[str]] = {}
    for one in offered:
        if one.sentence and one.verdict != "not-run":
            said.setdefault((one.port, one.sentence), []).append(one.test)
    for (port, sentence), tests in said.items():
        sheet.captions.append(f"{', '.join(tests)}, {port}: {sentence}")
    tested = {one.test for one in offered}
    if missing := dict.fromkeys(one.test for one in outcome.results if one.test not in tested):
        sheet.captions.append(f"not offered by the scenario's device: {', '.join(missing)}")
    return sheet


def counts(outcome: Outcome) -> str:
    """How many tests have each verdict."""
    found = outcome.verdicts
    words: dict[Verdict, str] = {
        "pass": "passed",
        "fail": "failed",
        "not-decidable": "not decidable here",
        "not-run": "not run",
        "not-offered": "not offered",
    }
    return f"{', '.join(f'{found[one]} {text}' for one, text in words.items() if one in found)}."


def error_words(error: Error, later: bool = False) -> str:
    """What the testers can decide; ``later``: readings during the run may show the error of the clocks."""
    own = error.own_ns
    if own is None and later:
        return f"stamps {exact(error.stamps_ns)}; the run's readings of clocks decide about times on them"
    clocks = "clocks unknown" if error.clock_ns is None else f"clocks {exact(error.clock_ns)}"
    if own is None:
        return f"stamps {exact(error.stamps_ns)}, {clocks}: times on the device's clock are not decidable"
    smallest = error.tolerance_ns(own) + 2 * own
    return f"stamps {exact(error.stamps_ns)}, {clocks}; smallest certain shift {exact(smallest)}"


def stimuli_table(prepared: Prepared) -> Sheet:
    """What would be sent, and how long it takes."""
    columns = [
        Column("stimulus", left=True),
        Column("port", name=True),
        Column("streams"),
        Column("duration"),
        Column("", wraps=True),
    ]
    sheet = Sheet("", columns)
    for _, one in prepared.stimuli:
        plan = one.plan.document
        span = exact(plan["duration_ns"] + plan["drain_ns"])
        sheet.rows.append([one.name, one.port, str(len(one.streams)), span, one.about])
    sheet.captions.append(f"together {exact(prepared.duration_ns)} in the scenario's time")
    return sheet


def catalogue_table(tests: Sequence[Test]) -> Sheet:
    """The catalogue of tests."""
    columns = [
        Column("test", left=True),
        Column("clause", left=True),
        Column("clock", wraps=True),
        Column("computed", wraps=True),
        Column("limit", wraps=True),
    ]
    rows: list[Sequence[str]] = [
        [one.id, one.clause, CLOCKS[one.clock], one.formula, one.limit] for one in tests
    ]
    return Sheet("", columns, rows)
