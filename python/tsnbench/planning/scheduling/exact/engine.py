"""Places streams that the heuristic cannot place, or all of them for the optimum; or proves that there is no
schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.conflict import Conflict, reduced
from tsnbench.planning.scheduling.exact.job import Job, jobs_of
from tsnbench.planning.scheduling.exact.model import Model, any_held, on_path, same
from tsnbench.planning.scheduling.exact.objective import make_best

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Placed, Problem

WAYS = 4
"""Number of paths per stream, if paths are free."""
REGION = 48
"""Number of streams that are placed again if some have no place."""
MOST = 400
"""Most streams in one model."""


@dataclass
class Outcome:
    answer: Answer
    placed: dict[int, Placed]
    conflict: Conflict | None = None
    """The streams that cannot be scheduled together, if there is no schedule."""
    all_paths: bool = True
    """Whether every possible path was examined, or only some of the free ones."""


def solve(
    problem: Problem,
    before: Sequence[Placed | None],
    seconds: float,
    objective: str | None = None,
    earlier: Mapping[int, Placed] | None = None,
) -> Outcome:
    """A schedule for all streams of a problem.

    Args:
        before: by stream, its place in the heuristic's result.
        seconds: deterministic seconds.
        objective: the value to optimise; None: any schedule.
        earlier: places of streams in an earlier plan. First all streams that still exist stay; if that is
            impossible, as few as possible move. The objective concerns the others.
    """
    earlier = earlier or {}
    jobs = jobs_of(problem, WAYS)
    all_paths = all("tree" in stream for stream in problem["streams"])
    budget = Budget(seconds)
    placed = {number: own for number, own in enumerate(before) if own is not None}
    stuck = [job.number for job in jobs if job.number not in placed]
    kept = {number: own for number, own in placed.items() if same(own, earlier.get(number))}
    found: dict[int, Placed] | None = placed if not stuck else None
    if found is None:
        near = _near(jobs, stuck)
        others = [number for number in near if number not in kept]
        if kept and len(stuck) + len(others) <= MOST:
            found = _place(problem, jobs, [*stuck, *others], placed, budget, seconds / 8)
        region = [*stuck, *near[:REGION]]
        if found is None and len(region) < len(jobs):
            found = _place(problem, jobs, region, placed, budget, seconds / 4, earlier)
        if found is None:
            conflict = _conflict(problem, jobs, [*stuck, *near], budget)
            if conflict is not None:
                return Outcome(Answer.IMPOSSIBLE, placed, conflict, all_paths)
            everybody = [job.number for job in jobs]
            if len(everybody) <= MOST and len(near) + len(stuck) < len(everybody):
                conflict = _conflict(problem, jobs, everybody, budget)
                if conflict is not None:
                    return Outcome(Answer.IMPOSSIBLE, placed, conflict, all_paths)
            if len(everybody) <= MOST:
                found = _place(problem, jobs, everybody, placed, budget, budget.left / 2, earlier)
        if found is None:
            return Outcome(Answer.UNKNOWN, placed, all_paths=all_paths)
    if objective is not None and len(jobs) <= MOST:
        stay = {number: own for number, own in found.items() if same(own, earlier.get(number))}
        found = make_best(problem, jobs, found, objective, budget, stay)
    return Outcome(Answer.FOUND, found, all_paths=all_paths)


def _near(jobs: Sequence[Job], stuck: Sequence[int]) -> list[int]:
    """Jobs that share links with the jobs without a place; those with the most shared links come first."""
    links = {time.link for number in stuck for path in jobs[number].paths for time in path.occupied}
    shared: Counter[int] = Counter()
    for job in jobs:
        if job.number not in stuck:
            own = {time.link for path in job.paths for time in path.occupied}
            shared[job.number] = len(own & links)
    return [number for number, count in shared.most_common() if count]


def _place(
    problem: Problem,
    jobs: Sequence[Job],
    region: Sequence[int],
    placed: Mapping[int, Placed],
    budget: Budget,
    most: float,
    earlier: Mapping[int, Placed] | None = None,
) -> dict[int, Placed] | None:
    """Times for a region, with all other streams fixed; few leave their earlier places."""
    inside = set(region)
    stay = {number: own for number, own in placed.items() if number not in inside}
    # The model has no variable for a path that only the heuristic has.
    if not all(any(on_path(path, own) for path in jobs[number].paths) for number, own in stay.items()):
        return None
    near = {time.link for number in region for path in jobs[number].paths for time in path.occupied}
    touched = [
        job
        for job in jobs
        if job.number in inside or any(time.link in near for path in job.paths for time in path.occupied)
    ]
    for waits in (True,) if any_held(jobs, stay) else (False, True):
        model = Model(problem, touched, waits=waits, stay=stay)
        model.hint({**placed, **(earlier or {})})
        model.move_few(earlier or {})
        answer, solver = budget.solve(model.model, most / 2)
        if answer is Answer.FOUND:
            return {**placed, **model.placed(solver)}
    return None


def _conflict(
    problem: Problem, jobs: Sequence[Job], numbers: Sequence[int], budget: Budget
) -> Conflict | None:
    """Whether it is proved that some streams have no schedule, and which of them suffice for that."""
    if len(numbers) > MOST:
        return None
    some = [jobs[number] for number in numbers]
    # Without waiting there are fewer variables: often all streams fit.
    if budget.solve(Model(problem, some, waits=False).model, budget.left / 8)[0] is Answer.FOUND:
        return None
    model = Model(problem, some, waits=True, assume=True)
    answer, solver = budget.solve(model.model, budget.left / 4)
    if answer is not Answer.IMPOSSIBLE:
        return None
    by_literal = {literal.index: number for number, literal in model.assumed.items()}
    core = [by_literal[index] for index in solver.sufficient_assumptions_for_infeasibility()]
    return reduced(problem, jobs, sorted(core) or list(numbers), budget)
