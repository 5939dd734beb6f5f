"""Reasons of the exact engine when it has no schedule, as data and as a sentence."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tsnbench.planning.scheduling.exact.engine import Outcome
from tsnbench.quantities import time

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Reason


def impossible(outcome: Outcome, stuck: Collection[int]) -> tuple[Reason, str]:
    """Streams that cannot be scheduled together. The reason names one of the ``stuck`` streams."""
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
    paths = "" if outcome.all_paths else " on the paths that were tried"
    model = "in which frames are forwarded at once, or wait alone in their queue"
    if len(numbers) == 1:
        return reason, f"proved: {who} no schedule{paths} {model}"
    more = ", and no schedule was found in which frames wait behind others in one queue"
    hint = (
        "without any one of them the others have a schedule"
        if conflict.minimal
        else "a smaller set may have no schedule either"
    )
    return reason, f"proved: {who} no schedule{paths} {model}{more}; {hint}"


def unknown(limit: int) -> tuple[Reason, str]:
    """The engine found no schedule and proved nothing."""
    return (
        {"kind": "unknown"},
        f"none within {time(limit)} of the exact engine, and no proof that none exists; "
        "whether a schedule exists is not known",
    )


def _listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}"
