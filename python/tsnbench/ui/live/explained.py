"""What the worst case of one stream adds up from, while its text is typed."""

from __future__ import annotations

from typing import TypedDict

from tsnbench.errors import InputError
from tsnbench.plan.bounds.parts import Parts, Start, parts_of
from tsnbench.planning import plan as make_plan
from tsnbench.scenario.loader import read_scenario
from tsnbench.ui.live.numbers import first_problem, streams_of

STARTS: dict[str, Start] = {"delay": "stamp", "delay from release": "release"}
"""Where the delay of a requirement begins."""
TRIED_S = 0.8
"""Seconds in which changes are tried: who types does not wait for them."""


class Explained(TypedDict):
    """The answer."""

    parts: Parts | None
    reason: str
    """Why there are none."""


def explained(text: str, file: str, stream: str = "") -> Explained:
    """The parts of a stream's worst case in the first run of a text: of the one that its bar shows.

    Without a limit of its delay, at the slowest listener.

    Args:
        text: the scenario.
        file: its path: tables beside it are read.
        stream: the name of the stream.
    """
    try:
        plan = make_plan(read_scenario(text, file)[0])
        own = next((one for one in streams_of(plan)[0] if one["name"] == stream), None)
        row = own["requirements"][0] if own and own["requirements"] else None
        if row is None or row["requirement"] not in STARTS:
            return {"parts": parts_of(plan, stream, within_s=TRIED_S), "reason": ""}
        start = STARTS[row["requirement"]]
        return {"parts": parts_of(plan, stream, row["listener"], start, TRIED_S), "reason": ""}
    except InputError as error:
        return without_parts(first_problem(error))


def without_parts(reason: str) -> Explained:
    """The answer where there is no Plan, or no such stream."""
    return {"parts": None, "reason": reason}
