"""What the worst case of one stream adds up from, while its text is typed."""

from __future__ import annotations

from typing import TypedDict

from tsnbench.errors import InputError
from tsnbench.plan.bounds.parts import Parts, parts_of
from tsnbench.planning import plan as make_plan
from tsnbench.scenario.loader import read_scenario
from tsnbench.ui.live.numbers import first_problem


class Explained(TypedDict):
    """The answer."""

    parts: Parts | None
    reason: str
    """Why there are none."""


def explained(text: str, file: str, stream: str = "") -> Explained:
    """The parts of a stream's worst case at its slowest listener, in the first run of a text.

    Args:
        text: the scenario.
        file: its path: tables beside it are read.
        stream: the name of the stream.
    """
    try:
        return {"parts": parts_of(make_plan(read_scenario(text, file)[0]), stream), "reason": ""}
    except InputError as error:
        return without_parts(first_problem(error))


def without_parts(reason: str) -> Explained:
    """The answer where there is no Plan, or no such stream."""
    return {"parts": None, "reason": reason}
