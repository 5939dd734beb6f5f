"""Which streams the exact engine places, with how much of its time, and what it takes as a proof."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tsnbench.planning.scheduling.exact import engine as module
from tsnbench.planning.scheduling.exact import objective
from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.conflict import Conflict
from tsnbench.planning.scheduling.exact.engine import Outcome, solve
from tsnbench.planning.scheduling.exact.job import Job, Occupied, Path


def job(number: int, *paths: tuple[int, ...]) -> Job:
    """A stream with paths of these links: its frames leave by a link with its number, in ps."""
    made = tuple(
        Path(
            [{"link": link} for link in links],
            (),
            tuple(links),
            tuple(Occupied(link, 0, 1, 0) for link in links),
            0,
            0,
            0,
        )
        for links in paths
    )
    return Job(number, 1, 0, 0, 0, None, None, 1, made)


def place(offset: int, *links: int, **changed: Any) -> Any:
    """On a path of these links, at once."""
    tree = [{"link": link} for link in links]
    return {"offset_ns": offset, "tree": tree, "starts_ps": list(links), "queue": 0, **changed}


JOBS = [job(0, (1, 2)), job(1, (2, 3), (4, 5)), job(2, (1, 2, 3)), job(3, (3,)), job(4, (7,))]
"""The first three share links; the fourth shares one with two of them, and the last one shares none."""


def test_who_shares_links_with_those_without_a_place() -> None:
    near = module._near
    assert near(JOBS, [0]) == [2, 1]
    assert near(JOBS, [1]) == [2, 0, 3]
    assert near(JOBS, [3]) == [1, 2]
    assert near(JOBS, [4]) == []
    assert near(JOBS, [0, 3]) == [2, 1]


class Engine:
    """What is tried, with results that are given: of each try of places, and of each proof."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, places: Any = (), proofs: Any = ()) -> None:
        self.tries: list[Any] = []
        left, proved = list(places), list(proofs)

        def place_region(
            problem: Any,
            jobs: Any,
            region: Any,
            placed: Any,
            budget: Budget,
            most: float,
            earlier: Any = None,
        ) -> Any:
            self.check(problem, jobs, budget)
            assert placed
            assert all(EVERY[number] == own for number, own in placed.items())
            self.tries.append(("place", list(region), most, earlier))
            budget.left -= 1
            return left.pop(0)

        def conflict(problem: Any, jobs: Any, numbers: Any, budget: Budget) -> Any:
            self.check(problem, jobs, budget)
            self.tries.append(("proof", list(numbers)))
            return proved.pop(0)

        def best(problem: Any, jobs: Any, placed: Any, objective: Any, budget: Budget, stay: Any) -> Any:
            self.check(problem, jobs, budget)
            self.tries.append(("best", placed, objective, budget.left, stay))
            return "best"

        def jobs_of(problem: Any, ways: int) -> Any:
            self.check(problem, JOBS, Budget(0.0))
            assert ways == 4
            return JOBS

        for name, function in (("_place", place_region), ("_conflict", conflict), ("make_best", best)):
            monkeypatch.setattr(module, name, function)
        monkeypatch.setattr(module, "jobs_of", jobs_of)

    def check(self, problem: Any, jobs: Any, budget: Any) -> None:
        assert any(problem is one for one in (TREES, FREE))
        assert jobs is JOBS
        assert isinstance(budget, Budget)


TREES: Any = {"streams": [{"tree": []}] * 5}
FREE: Any = {"streams": [{"tree": []}] * 4 + [{}]}
EVERY = [place(1, 1, 2), place(2, 2, 3), place(3, 1, 2, 3), place(4, 3), place(5, 7)]
STUCK = [None, *EVERY[1:]]
PLACED = {number: place for number, place in enumerate(STUCK) if place}
ALL = dict(enumerate(EVERY))
CONFLICT = Conflict([0, 2], minimal=True)


def test_nothing_is_tried_where_all_have_places(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch)
    assert solve(TREES, EVERY, 16) == Outcome(Answer.FOUND, ALL, None, all_paths=True)
    assert solve(FREE, EVERY, 16) == Outcome(Answer.FOUND, ALL, None, all_paths=False)
    assert engine.tries == []


def test_the_best_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has its earlier place stays; a release or a queue that differs is another place."""
    engine = Engine(monkeypatch)
    earlier = {0: EVERY[0], 1: place(9, 2, 3), 2: place(3, 1, 2, 3, queue=1)}
    assert solve(TREES, EVERY, 16, "shortest-delay", earlier) == Outcome(Answer.FOUND, "best")  # type: ignore[arg-type]
    assert engine.tries == [("best", ALL, "shortest-delay", 16, {0: EVERY[0]})]
    monkeypatch.setattr(module, "MOST", 5)
    solve(TREES, EVERY, 16, "shortest-delay")
    assert engine.tries[1:] == [("best", ALL, "shortest-delay", 16, {})]
    monkeypatch.setattr(module, "MOST", 4)
    assert solve(TREES, EVERY, 16, "shortest-delay").placed == ALL
    assert len(engine.tries) == 2


def test_those_near_are_placed_again_and_then_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the time for 0, 2 and 1; no proof for them, and none for all; half of the rest for all."""
    engine = Engine(monkeypatch, [None, ALL], [None, None])
    assert solve(TREES, STUCK, 16) == Outcome(Answer.FOUND, ALL)
    everybody = [0, 1, 2, 3, 4]
    assert engine.tries == [
        ("place", [0, 2, 1], 4, {}),
        ("proof", [0, 2, 1]),
        ("proof", everybody),
        ("place", everybody, 7.5, {}),
    ]
    engine = Engine(monkeypatch, [ALL])
    assert solve(TREES, STUCK, 16) == Outcome(Answer.FOUND, ALL)
    assert len(engine.tries) == 1
    engine = Engine(monkeypatch, [None, None], [None, None])
    assert solve(FREE, STUCK, 16) == Outcome(Answer.UNKNOWN, PLACED, None, all_paths=False)
    engine = Engine(monkeypatch, [ALL])
    solve(TREES, STUCK, 16, "fewest-entries")
    assert engine.tries[1:] == [("best", ALL, "fewest-entries", 15, {})]


def test_a_proof_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch, [None], [CONFLICT])
    assert solve(FREE, STUCK, 16) == Outcome(Answer.IMPOSSIBLE, PLACED, CONFLICT, all_paths=False)
    assert len(engine.tries) == 2
    engine = Engine(monkeypatch, [None], [None, CONFLICT])
    assert solve(FREE, STUCK, 16) == Outcome(Answer.IMPOSSIBLE, PLACED, CONFLICT, all_paths=False)
    assert len(engine.tries) == 3


def test_kept_streams_stay_if_the_others_have_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 has its earlier place. 0 and 1 are placed without moving it, in an eighth of the time."""
    earlier = {1: place(9, 2, 3), 2: EVERY[2]}
    engine = Engine(monkeypatch, [ALL])
    assert solve(TREES, STUCK, 16, earlier=earlier) == Outcome(Answer.FOUND, ALL)
    assert engine.tries == [("place", [0, 1], 2, None)]
    engine = Engine(monkeypatch, [None, ALL])
    solve(TREES, STUCK, 16, earlier=earlier)
    assert engine.tries[1:] == [("place", [0, 2, 1], 4, earlier)]
    # Two are the most for one model.
    for most, tries in ((2, 2), (1, 1)):
        monkeypatch.setattr(module, "MOST", most)
        engine = Engine(monkeypatch, [None] * tries, [None])
        assert solve(TREES, STUCK, 16, earlier=earlier).answer is Answer.UNKNOWN
        assert len([one for one in engine.tries if one[0] == "place"]) == tries
        # All five are too many.
        assert [one for one in engine.tries if one[0] == "proof"] == [("proof", [0, 2, 1])]


def test_a_region_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the nearest is placed again, and the proof is for all that are near."""
    monkeypatch.setattr(module, "REGION", 1)
    engine = Engine(monkeypatch, [None, ALL], [None, None])
    solve(TREES, STUCK, 16)
    assert engine.tries[:2] == [("place", [0, 2], 4, {}), ("proof", [0, 2, 1])]
    assert module.REGION == 1


def test_a_region_of_all_is_not_placed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 and 4 are stuck, and all others share links with 1: the proof is for all."""
    stuck = [EVERY[0], None, EVERY[2], EVERY[3], None]
    engine = Engine(monkeypatch, [ALL], [None])
    solve(TREES, stuck, 16)
    everybody = [0, 1, 2, 3, 4]
    assert engine.tries == [("proof", [1, 4, 2, 0, 3]), ("place", everybody, 8, {})]
    monkeypatch.setattr(module, "MOST", 5)
    engine = Engine(monkeypatch, [None, ALL], [None, None])
    solve(TREES, STUCK, 16)
    assert len(engine.tries) == 4


class Solved:
    """Models that are not solved, and a budget with answers that are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
        self.models: list[Any] = []
        self.most: list[float] = []
        self.answers, self.left = list(answers), 16.0

        def model(problem: Any, jobs: Any, **settings: Any) -> Any:
            assert problem is TREES
            made = SimpleNamespace(model=len(self.models), numbers=[job.number for job in jobs], **settings)
            made.hint = lambda places: setattr(made, "start", places)
            made.move_few = lambda places: setattr(made, "few", places)
            made.placed = lambda solver: {0: (solver, made.model)}
            made.assumed = {number: SimpleNamespace(index=10 + number) for number in made.numbers}
            self.models.append(made)
            return made

        monkeypatch.setattr(module, "Model", model)

    def solve(self, model: int, most: float) -> tuple[Answer, Any]:
        assert model == len(self.models) - 1
        self.most.append(most)
        core = SimpleNamespace(sufficient_assumptions_for_infeasibility=lambda: [12, 10])
        answer = self.answers.pop(0)
        return answer, core if answer is Answer.IMPOSSIBLE else "values"


def placed_again(solved: Any, region: list[int], places: Any, earlier: Any = None) -> Any:
    return module._place(TREES, JOBS, region, places, solved, 8, earlier)


def test_a_region_is_placed_beside_those_that_it_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 and 1 are placed again, on links 1 to 5: 2 and 3 have links among them, and 4 has not."""
    solved = Solved(monkeypatch, Answer.UNKNOWN, Answer.FOUND)
    earlier = {1: place(9, 2, 3), 4: place(8, 7)}
    assert placed_again(solved, [0, 1], PLACED, earlier) == {**PLACED, 0: ("values", 1)}
    stay = {number: PLACED[number] for number in (2, 3, 4)}
    for model, waits in zip(solved.models, (False, True), strict=True):
        assert (model.numbers, model.waits, model.stay) == ([0, 1, 2, 3], waits, stay)
        assert model.start == {1: earlier[1], 2: PLACED[2], 3: PLACED[3], 4: earlier[4]}
        assert model.few == earlier
    assert solved.most == [4, 4]
    solved = Solved(monkeypatch, Answer.FOUND)
    assert placed_again(solved, [4], ALL) == {**ALL, 0: ("values", 0)}
    assert solved.models[0].numbers == [4]
    assert (solved.models[0].start, solved.models[0].few) == (ALL, {})
    solved = Solved(monkeypatch, Answer.IMPOSSIBLE, Answer.UNKNOWN)
    assert placed_again(solved, [0], PLACED) is None
    assert [model.waits for model in solved.models] == [False, True]


def test_frames_that_wait_already_need_a_model_with_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 leaves by its second link 4 ps later than at once. On its other path it would be another time."""
    waiting = {**PLACED, 1: place(2, 2, 3, starts_ps=[2, 7])}
    solved = Solved(monkeypatch, Answer.FOUND)
    assert placed_again(solved, [0], waiting) is not None
    assert [model.waits for model in solved.models] == [True]
    # In the region, it may be placed without.
    solved = Solved(monkeypatch, Answer.FOUND)
    placed_again(solved, [0, 1], waiting)
    assert [model.waits for model in solved.models] == [False]
    solved = Solved(monkeypatch, Answer.UNKNOWN)
    assert placed_again(solved, [0], waiting) is None


def test_a_path_that_the_model_does_not_have_cannot_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = Solved(monkeypatch, Answer.FOUND)
    other = {**PLACED, 3: place(4, 5)}
    assert placed_again(solved, [0], other) is None
    assert solved.models == []
    assert placed_again(solved, [0, 3], other) is not None


def test_a_proof_is_one_of_waits_with_the_streams_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def least(problem: Any, jobs: Any, numbers: Any, budget: Any) -> Any:
        assert (problem, jobs) == (TREES, JOBS)
        asked.append((numbers, budget))
        return CONFLICT

    monkeypatch.setattr(module, "reduced", least)

    def proved(solved: Any, numbers: list[int]) -> Any:
        return module._conflict(TREES, JOBS, numbers, solved)

    solved = Solved(monkeypatch, Answer.UNKNOWN, Answer.IMPOSSIBLE)
    assert proved(solved, [2, 1, 0]) is CONFLICT
    assert asked == [([0, 2], solved)]
    assert [(model.numbers, model.waits) for model in solved.models] == [
        ([2, 1, 0], False),
        ([2, 1, 0], True),
    ]
    assert solved.models[1].assume is True
    # An eighth of what is left, then a quarter.
    assert solved.most == [2, 4]
    solved = Solved(monkeypatch, Answer.FOUND)
    assert proved(solved, [0, 1]) is None
    for answer in (Answer.FOUND, Answer.UNKNOWN):
        solved = Solved(monkeypatch, Answer.IMPOSSIBLE, answer)
        assert proved(solved, [0, 1]) is None
    monkeypatch.setattr(module, "MOST", 2)
    assert proved(Solved(monkeypatch), [0, 1, 2]) is None
    solved = Solved(monkeypatch, Answer.IMPOSSIBLE, Answer.IMPOSSIBLE)
    assert proved(solved, [0, 2]) is CONFLICT


def test_a_proof_without_names_is_one_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream without a path makes the model impossible whatever is assumed."""
    solved = Solved(monkeypatch, Answer.UNKNOWN, Answer.IMPOSSIBLE)
    empty = SimpleNamespace(sufficient_assumptions_for_infeasibility=list)
    answers = iter([(Answer.UNKNOWN, None), (Answer.IMPOSSIBLE, empty)])
    monkeypatch.setattr(solved, "solve", lambda model, most: next(answers))
    monkeypatch.setattr(module, "reduced", lambda problem, jobs, numbers, budget: numbers)
    budget: Any = solved
    assert module._conflict(TREES, JOBS, [2, 1], budget) == [2, 1]  # type: ignore[comparison-overlap]


class Goals:
    """Models for the best schedule that are not solved: whether with waits, and the time of each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
        self.asked: list[Any] = []
        self.left, answers_left = 8.0, list(answers)
        budget = self

        def model(problem: Any, jobs: Any, *, waits: bool, stay: Any) -> Any:
            assert problem is TREES
            assert jobs is JOBS
            inner = SimpleNamespace(minimize=lambda goal: budget.asked.append([waits, goal, stay]))
            made = SimpleNamespace(model=inner, placed=lambda solver: solver)
            made.hint = lambda places: setattr(budget, "start", places)
            return made

        def solve(model: Any, most: float) -> Any:
            self.asked[-1].append(most)
            self.left -= 1
            return answers_left.pop(0), "best"

        self.solve = solve
        monkeypatch.setattr(objective, "Model", model)
        monkeypatch.setattr(objective, "_delays", lambda model: "delays")
        monkeypatch.setattr(objective, "_gaps", lambda model, problem, *, entries: entries)


@pytest.mark.parametrize(
    ("name", "goal"), [("shortest-delay", "delays"), ("fewest-entries", True), ("most-bandwidth-left", False)]
)
def test_the_time_for_the_best_schedule(monkeypatch: pytest.MonkeyPatch, name: str, goal: Any) -> None:
    """All of it, or half of it for a schedule without waits where there are some, and then the rest."""

    def asked(places: Any, stay: Any, *answers: Answer) -> Any:
        goals: Any = Goals(monkeypatch, *answers)
        found = objective.make_best(TREES, JOBS, places, name, goals, stay)
        assert goals.start is places
        assert found == ("best" if answers[-1] is Answer.FOUND else places)
        return goals.asked

    waiting = {**ALL, 1: place(2, 2, 3, starts_ps=[2, 7])}
    assert asked(ALL, None, Answer.FOUND) == [[False, goal, None, 8]]
    assert asked(ALL, ALL, Answer.FOUND) == [[False, goal, ALL, 8]]
    assert asked(ALL, None, Answer.UNKNOWN) == [[False, goal, None, 8]]
    assert asked(waiting, None, Answer.FOUND) == [[False, goal, None, 4]]
    both = [[False, goal, None, 4], [True, goal, None, 7]]
    assert asked(waiting, None, Answer.UNKNOWN, Answer.FOUND) == both
    assert asked(waiting, None, Answer.IMPOSSIBLE, Answer.UNKNOWN) == both
    # Who stays and waits needs a model with waits.
    stay = {1: waiting[1]}
    assert asked(waiting, stay, Answer.FOUND) == [[True, goal, stay, 8]]
