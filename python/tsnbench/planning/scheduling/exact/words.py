"""What the exact engine has to say where it has no schedule, as data and as a sentence."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tsnbench.planning.scheduling.exact.engine import Outcome
from tsnbench.quantities import time

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Reason


def impossible(outcome: Outcome, stuck: Collection[int]) -> tuple[Reason, str]:
    """There is no schedule: who finds none together. It is said of one of those that were ``stuck``."""
    conflict = outcome.conflict
    assert conflict is not None
    numbers = conflict.streams
    about = next((number for number in numbers if number in stuck), numbers[0])
    reason: Reason = {
        "kind": "impossible",
        "stream": about,
        "streams": numbers,
        "minimal": conflict.minimal,
    }
    who = f"stream {numbers[0]} alone has" if len(numbers) == 1 else f"streams {_listed(numbers)} have"
    ways = "" if outcome.all_ways else " by the ways that were tried"
    model = "in which frames go on at once, or wait alone in their queue"
    if len(numbers) == 1:
        return reason, f"proved: {who} no schedule{ways} {model}"
    more = ", and none was found in which frames wait behind others in one queue"
    hint = (
        "without any one of them the others have one"
        if conflict.minimal
        else "fewer of them may be enough for that"
    )
    return reason, f"proved: {who} no schedule{ways} {model}{more}; {hint}"


def unknown(outcome: Outcome, limit: int) -> tuple[Reason, str]:
    """Nothing was found and nothing proved."""
    return (
        {"kind": "unknown"},
        f"none was found within {time(limit)} of the exact engine, and none was proved to be impossible; "
        "whether there is one is not known",
    )


def _listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last
