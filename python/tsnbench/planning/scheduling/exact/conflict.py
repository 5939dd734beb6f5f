"""Streams that cannot be scheduled together: a small set, and whether each of them is needed for the
conflict.

QuickXplain (Junker 2004), with the exact engine as the judge: a stream without an answer in time counts as
needed, and then the set is not called minimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.job import Job
from tsnbench.planning.scheduling.exact.model import Model

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Problem

QUESTION = 1.0
"""Most deterministic seconds for one question."""


@dataclass
class Conflict:
    streams: list[int]
    minimal: bool


@dataclass
class Judge:
    problem: Problem
    jobs: Sequence[Job]
    budget: Budget
    sure: bool = True
    known: dict[frozenset[int], bool] = field(default_factory=dict)

    def impossible(self, numbers: Sequence[int]) -> bool:
        """Whether it is proved that these streams alone have no schedule, independent of all others."""
        key = frozenset(numbers)
        if key not in self.known:
            self.known[key] = self._ask(numbers)
        return self.known[key]

    def _ask(self, numbers: Sequence[int]) -> bool:
        jobs = [self.jobs[number] for number in numbers]
        for waits in (False, True):
            model = Model(self.problem, jobs, waits=waits)
            answer, _ = self.budget.solve(model.model, QUESTION)
            if answer is Answer.FOUND:
                return False
            if waits and answer is Answer.UNKNOWN:
                self.sure = False
        return answer is Answer.IMPOSSIBLE


def reduced(problem: Problem, jobs: Sequence[Job], numbers: Sequence[int], budget: Budget) -> Conflict:
    """The part of an impossible set that is needed for the proof.

    It is impossible itself, in any case: questions without an answer in time only leave more streams in it.
    """
    judge = Judge(problem, jobs, budget)
    found = _reduce(judge, [], False, list(numbers))
    return Conflict(sorted(found), judge.sure)


def _reduce(judge: Judge, beside: list[int], grown: bool, numbers: list[int]) -> list[int]:
    """A part of ``numbers`` that is impossible together with ``beside``, as all of them are."""
    if grown and judge.impossible(beside):
        return []
    if len(numbers) <= 1:
        return numbers
    one, two = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    second = _reduce(judge, beside + one, bool(one), two)
    first = _reduce(judge, beside + second, bool(second), one)
    return first + second
