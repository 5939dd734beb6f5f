"""One combination of values in a search: its goals, and the number of broken requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tsnbench.studies.exploring.questions import EVERY, Goal
from tsnbench.studies.store import Record, Row

NO_PLAN = 1e9
"""The violation of a combination without a Plan, or without a value for a goal: worse than any other."""


@dataclass(frozen=True)
class Evaluation:
    """The results of the repetitions of one combination."""

    values: tuple[float | None, ...]
    """By goal; None where no repetition has a value."""
    violation: float
    """0: an allowed answer. Otherwise the number of (stream, listener) that broke a requirement."""


def evaluation(
    goals: Sequence[Goal],
    numbers: Mapping[str, float],
    made: Sequence[Record],
    requirements: bool = True,
) -> Evaluation:
    """The evaluation of one combination.

    Args:
        goals: the quantities to minimise or maximise.
        numbers: the combination's values by path, for goals of the kind ``value of``.
        made: the results of its repetitions.
        requirements: whether broken requirements count.
    """
    values = tuple(numbers[goal.who] if not goal.quantity else measured(goal, made) for goal in goals)
    if any(one.get("problem") for one in made) or None in values:
        return Evaluation(values, NO_PLAN)
    if not requirements:
        return Evaluation(values, 0.0)
    broken = sum(row["met"] is False for one in made for row in one["rows"])
    # A requirement may have no row, for example without any frame.
    unmet = sum(not one["met"] for one in made)
    return Evaluation(values, float(max(broken, unmet)))


def measured(goal: Goal, made: Iterable[Record]) -> float | None:
    """The value of a goal over all repetitions, of the worst listener (and of the worst stream for ``*``).

    The mean over repetitions; of greatest delays the greatest; of lost frames the sum. Times in ns.
    """
    found = []
    for one in made:
        own = [_value(row, goal) for row in one.get("rows", ()) if goal.who in (EVERY, row["stream"])]
        there = [value for value in own if value is not None]
        if not there:
            return None
        found.append(sum(there) if goal.quantity == "lost" else max(there))
    if not found:
        return None
    if goal.quantity == "lost":
        return float(sum(found))
    return max(found) if goal.quantity == "delay max" else sum(found) / len(found)


def _value(row: Row, goal: Goal) -> float | None:
    value = row[goal.quantity]
    return None if value is None else float(value)


def front(goals: Sequence[Goal], found: Mapping[tuple[str, ...], Evaluation]) -> set[tuple[str, ...]]:
    """The allowed combinations to which no other one is equal or better in all goals and better in one."""
    costs: dict[tuple[str, ...], tuple[float, ...]] = {}
    for point, one in found.items():
        values = [value for value in one.values if value is not None]
        if not one.violation and len(values) == len(goals):
            costs[point] = tuple(
                -value if goal.great else value for goal, value in zip(goals, values, strict=True)
            )
    return {
        point for point, cost in costs.items() if not any(_better(other, cost) for other in costs.values())
    }


def _better(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
