"""The worst case of one stream with one value of a number, and what ``tsnbench tune`` says of that value."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from tsnbench.errors import InputError
from tsnbench.planning import plan as make_plan
from tsnbench.scenario.loader import read_scenario
from tsnbench.tuning.overload import overloads
from tsnbench.tuning.question import judged_by_bounds
from tsnbench.ui.live.numbers import first_problem, streams_of

if TYPE_CHECKING:
    from tsnbench.ui.live.numbers import LiveRow


class Swept(TypedDict):
    """The answer for one value."""

    met: bool | None
    """Whether every requirement that has a bound is proved, and no queue grows without end; None if no
    requirement has a bound."""
    reason: str
    """The requirement that decides, or why there is no Plan."""
    row: LiveRow | None
    """The requirement of the stream that is nearest to its limit; None without one."""
    upper_ns: int | None
    """The greatest delay of the stream; None without a bound."""


def swept(text: str, file: str, stream: str = "") -> Swept:
    """Judges the first run of a text.

    Args:
        text: the scenario with the value.
        file: its path: tables beside it are read.
        stream: the name of the stream whose worst case is wanted.
    """
    try:
        plan = make_plan(read_scenario(text, file)[0])
    except InputError as error:
        return without_value(first_problem(error))
    met: bool | None
    if overload := next(overloads(plan.document), None):
        met, reason = False, str(overload)
    else:
        try:
            met, reason = judged_by_bounds(plan)
        except InputError as error:
            met, reason = None, str(error)
    found = {one["name"]: one for one in streams_of(plan)[0]}
    own = found.get(stream)
    rows = own["requirements"] if own else []
    return {
        "met": met,
        "reason": reason,
        "row": rows[0] if rows else None,
        "upper_ns": own["upper_ns"] if own else None,
    }


def without_value(reason: str) -> Swept:
    """The answer for a value with which there is no Plan."""
    return {"met": False, "reason": reason, "row": None, "upper_ns": None}
