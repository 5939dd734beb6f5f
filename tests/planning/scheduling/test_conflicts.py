"""Streams that have no schedule together: the least part of them, what it costs to find it, and its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

from tsnbench.planning.scheduling.exact import conflict as module
from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.conflict import Conflict, Judge, reduced
from tsnbench.planning.scheduling.exact.engine import Outcome
from tsnbench.planning.scheduling.exact.explanations import impossible, unknown

needs_ortools = pytest.mark.skipif(
    find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it"
)
NOTHING: Any = None


@needs_ortools
def test_a_budget_is_spent_by_work() -> None:
    """Two variables of 0 to 9 whose sum is 18 are both 9; their sum is not 19."""
    from ortools.sat.python import cp_model

    for total, answer in ((18, Answer.FOUND), (19, Answer.IMPOSSIBLE)):
        model = cp_model.CpModel()
        one, other = model.new_int_var(0, 9, ""), model.new_int_var(0, 9, "")
        model.add(one + other == total)
        budget = Budget(3.0)
        given, solver = budget.solve(model, 2.0)
        assert given is answer
        assert budget.left == 3.0 - solver.deterministic_time
        limits = solver.parameters
        assert (limits.num_workers, limits.random_seed, limits.max_deterministic_time) == (1, 1, 2.0)
        if answer is Answer.FOUND:
            assert (solver.value(one), solver.value(other)) == (9, 9)
        _, solver = Budget(3.0).solve(model, 4.0)
        assert solver.parameters.max_deterministic_time == 3.0
        _, solver = Budget(3.0).solve(model)
        assert solver.parameters.max_deterministic_time == 3.0
        # What is spent cannot be negative.
        _, solver = Budget(-1.0).solve(model)
        assert solver.parameters.max_deterministic_time == 0.0


class Status:
    """A solver that ends with a status that is given."""

    def __init__(self, status: Any) -> None:
        self.parameters, self.status, self.deterministic_time = SimpleNamespace(), status, 0.25

    def solve(self, model: Any) -> Any:
        return self.status


@needs_ortools
@pytest.mark.parametrize(
    ("status", "answer"),
    [
        ("OPTIMAL", Answer.FOUND),
        ("FEASIBLE", Answer.FOUND),
        ("INFEASIBLE", Answer.IMPOSSIBLE),
        ("UNKNOWN", Answer.UNKNOWN),
        ("MODEL_INVALID", Answer.UNKNOWN),
    ],
)
def test_what_the_solver_says(monkeypatch: pytest.MonkeyPatch, status: str, answer: Answer) -> None:
    from ortools.sat.python import cp_model

    solver = Status(getattr(cp_model, status))
    monkeypatch.setattr(cp_model, "CpSolver", lambda: solver)
    budget = Budget(1.0)
    assert budget.solve(None) == (answer, solver)
    assert budget.left == 0.75


def judged(monkeypatch: pytest.MonkeyPatch, ask: Callable[[Judge, Sequence[int]], bool]) -> list[list[int]]:
    """Streams are judged by a function; returns what it is asked."""
    asked: list[list[int]] = []

    def kept(self: Judge, numbers: Sequence[int]) -> bool:
        asked.append(list(numbers))
        return ask(self, numbers)

    monkeypatch.setattr(Judge, "_ask", kept)
    return asked


@pytest.mark.parametrize("needed", [[0], [7], [3, 4], [0, 7], [2, 5, 6], [0, 1, 2, 3, 4, 5, 6, 7]], ids=str)
def test_the_streams_that_are_needed(monkeypatch: pytest.MonkeyPatch, needed: list[int]) -> None:
    asked = judged(monkeypatch, lambda _, numbers: set(needed) <= set(numbers))
    assert reduced(NOTHING, [], [6, 7, *range(6)], Budget(1.0)) == Conflict(needed, minimal=True)
    # No set is judged twice, and that all have no schedule is known.
    assert len({frozenset(numbers) for numbers in asked}) == len(asked)
    assert frozenset(range(8)) not in {frozenset(numbers) for numbers in asked}


def test_a_judge_has_the_problem_its_streams_and_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    problem: Any = {"streams": []}
    streams: list[Any] = ["a", "b"]
    budget = Budget(1.0)
    judges: list[Judge] = []

    def ask(judge: Judge, numbers: Sequence[int]) -> bool:
        judges.append(judge)
        return set(numbers) == {0, 1}

    judged(monkeypatch, ask)
    assert reduced(problem, streams, [0, 1], budget) == Conflict([0, 1], minimal=True)
    assert judges
    for judge in judges:
        assert judge.problem is problem
        assert judge.jobs is streams
        assert judge.budget is budget


def test_the_first_half_is_tried_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 0, 1, 2 and 3 two are needed, 1 and 3. A half without effect is not looked into."""
    asked = judged(monkeypatch, lambda _, numbers: {1, 3} <= set(numbers))
    assert reduced(NOTHING, [], [0, 1, 2, 3], Budget(1.0)).streams == [1, 3]
    assert asked == [[0, 1], [0, 1, 2], [0, 1, 3], [3], [3, 0], [3, 1]]


def test_a_judge_that_is_not_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 and 3 are needed. What is not known counts as possible, so that more than they may be left."""

    def never(self: Judge, numbers: Sequence[int]) -> bool:
        self.sure = False
        return False

    judged(monkeypatch, never)
    assert reduced(NOTHING, [], [3, 1, 2], Budget(1.0)) == Conflict([1, 2, 3], minimal=False)

    def at_times(self: Judge, numbers: Sequence[int]) -> bool:
        if 0 not in numbers:
            self.sure = False
            return False
        return {0, 1} <= set(numbers)

    judged(monkeypatch, at_times)
    assert reduced(NOTHING, [], [0, 1, 2, 3], Budget(1.0)) == Conflict([0, 1], minimal=False)

    # The last set is one that the judge does not know, so there is no proof for it.
    def pairs(self: Judge, numbers: Sequence[int]) -> bool:
        if len(numbers) == 2:
            self.sure = False
            return False
        return len(numbers) > 2

    judged(monkeypatch, pairs)
    found = reduced(NOTHING, [], [4, 3, 2, 1], Budget(1.0))
    assert len(found.streams) == 3
    assert not found.minimal


class Answers:
    """A budget with answers that are given, and how much of it each question may spend."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.most: list[tuple[Any, float]] = []

    def solve(self, model: Any, most: float) -> tuple[Answer, None]:
        self.most.append((model, most))
        return self.answers.pop(0), None


@pytest.mark.parametrize(
    ("answers", "is_impossible", "sure"),
    [
        ([Answer.FOUND], False, True),
        ([Answer.IMPOSSIBLE, Answer.FOUND], False, True),
        ([Answer.UNKNOWN, Answer.FOUND], False, True),
        ([Answer.IMPOSSIBLE, Answer.IMPOSSIBLE], True, True),
        ([Answer.UNKNOWN, Answer.IMPOSSIBLE], True, True),
        ([Answer.IMPOSSIBLE, Answer.UNKNOWN], False, False),
        ([Answer.UNKNOWN, Answer.UNKNOWN], False, False),
    ],
)
def test_a_question_without_waits_and_then_with_them(
    monkeypatch: pytest.MonkeyPatch, answers: list[Answer], is_impossible: bool, sure: bool
) -> None:
    def model(problem: Any, jobs: Any, *, waits: bool) -> Any:
        return SimpleNamespace(model=(problem, jobs, waits))

    monkeypatch.setattr(module, "Model", model)
    budget: Any = Answers(*answers)
    problem: Any = "problem"
    jobs: Any = ["a", "b", "c"]
    judge = Judge(problem, jobs, budget)
    assert judge.impossible([2, 0]) is is_impossible
    assert judge.sure is sure
    asked = [(("problem", ["c", "a"], waits), 1.0) for waits in (False, True)]
    assert budget.most == asked[: len(answers)]
    # Known now, in whatever order.
    assert judge.impossible([0, 2]) is is_impossible
    assert len(budget.most) == len(answers)


MODEL = "in which frames are forwarded at once, or wait alone in their queue"
BEHIND = "and no schedule was found in which frames wait behind others in one queue"
SMALLER = "a smaller set may have no schedule either"


@pytest.mark.parametrize(
    ("streams", "minimal", "all_paths", "about", "words"),
    [
        ([4], True, True, 4, f"stream 4 alone has no schedule {MODEL}"),
        ([4], True, False, 4, f"stream 4 alone has no schedule on the paths that were tried {MODEL}"),
        (
            [1, 7],
            True,
            True,
            7,
            f"streams 1 and 7 have no schedule {MODEL}, {BEHIND}; "
            "without any one of them the others have a schedule",
        ),
        (
            [1, 2, 3],
            False,
            False,
            1,
            f"streams 1, 2 and 3 have no schedule on the paths that were tried {MODEL}, {BEHIND}; {SMALLER}",
        ),
    ],
)
def test_a_proof_in_words(streams: list[int], minimal: bool, all_paths: bool, about: int, words: str) -> None:
    outcome = Outcome(Answer.IMPOSSIBLE, {}, Conflict(streams, minimal), all_paths)
    reason = {"kind": "impossible", "stream": about, "streams": streams, "minimal": minimal}
    assert impossible(outcome, [7, 9]) == (reason, f"proved: {words}")


def test_neither_a_schedule_nor_a_proof() -> None:
    words = "none within 1.5 s of the exact engine, and no proof that none exists; "
    words += "whether a schedule exists is not known"
    assert unknown(1_500_000_000) == ({"kind": "unknown"}, words)
