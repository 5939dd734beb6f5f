"""What a simulation of the text says beside the worst cases, if it ends within its budget of time."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict

from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import BackendError, InputError
from tsnbench.measure.headline import headline
from tsnbench.measure.tables import verdict_rows
from tsnbench.planning import plan as make_plan
from tsnbench.report.parts.bars import bar
from tsnbench.scenario.loader import read_scenario

if TYPE_CHECKING:
    from tsnbench.runs.measures import VerdictRow

BUDGET_S = 0.5
"""For planning, simulating and measuring together."""
LONG = f"a simulation takes longer than {BUDGET_S:g} s: Run makes it"


class SeenRow(TypedDict):
    """The measured value of one requirement."""

    stream: str
    """Its name in the text."""
    listener: str
    requirement: str
    found: float | None
    place: float | None
    """On the line of the worst case."""
    met: str


class Seen(TypedDict):
    """The answer for one text."""

    reason: str
    """Why there is no verdict; the other values are then empty."""
    line: str
    """The last line of ``tsnbench run``."""
    rows: list[SeenRow]


class OverBudgetError(Exception):
    """The simulation takes too long."""


def simulated(text: str, file: str, budget_s: float = BUDGET_S) -> Seen:
    """Simulates the first run of a text in a folder that does not stay.

    Args:
        text: the scenario, which may not be saved.
        file: its path: tables beside it are read.
        budget_s: the time after which it ends without a verdict.
    """
    end = time.monotonic() + budget_s

    def go_on(*_: object) -> None:
        if time.monotonic() > end:
            raise OverBudgetError

    try:
        plan = make_plan(read_scenario(text, file)[0])
        with TemporaryDirectory(prefix="tsnbench-live-") as scratch:
            done = run_one(plan, Path(scratch) / "run", Options(report=False), go_on, stage=go_on)
        go_on()
    except OverBudgetError:
        return without_verdict(LONG)
    except (InputError, BackendError) as error:
        return without_verdict(str(error).splitlines()[0])
    return {
        "reason": "",
        "line": headline(done.verdict),
        "rows": [_row(row) for row in verdict_rows(done.verdict)],
    }


def without_verdict(reason: str) -> Seen:
    """The answer for a text without a verdict."""
    return {"reason": reason, "line": "", "rows": []}


def _row(row: VerdictRow) -> SeenRow:
    return {
        "stream": row["group"],
        "listener": row["listener"],
        "requirement": row["requirement"],
        "found": row["found"],
        "place": bar(row["requirement"], row["limit"], row["found"], None).found,
        "met": row["met"],
    }
