"""The objectives of a schedule: few gate entries, short delays, much bandwidth for others.

Windows that follow each other without a gap count as one: that saves entries, and the time before a window in
which others' frames do not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import lcm
from typing import TYPE_CHECKING, Any

from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.job import Job, folded, on_one_link
from tsnbench.planning.scheduling.exact.model import Model, Stream, any_held

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Placed, Problem

LARGEST = 1542 * 8
"""Bits of others' largest frame on the wire."""


def make_best(
    problem: Problem,
    jobs: Sequence[Job],
    placed: dict[int, Placed],
    objective: str,
    budget: Budget,
    stay: Mapping[int, Placed] | None = None,
) -> dict[int, Placed]:
    """The best schedule found in time, by the model's count; the given one if there is none.

    Args:
        stay: streams that are not moved.
    """
    waiting = any_held(jobs, placed)
    # Waits mean longer delays and more windows: a schedule without them is tried first.
    bound = any_held(jobs, stay or {})
    for waits in (True,) if bound else (False, True) if waiting else (False,):
        model = Model(problem, jobs, waits=waits, stay=stay)
        model.hint(placed)
        if objective == "shortest-delay":
            goal = _delays(model)
        else:
            goal = _gaps(model, problem, entries=objective == "fewest-entries")
        model.model.minimize(goal)
        answer, solver = budget.solve(model.model, budget.left / (2 if waiting and not waits else 1))
        if answer is Answer.FOUND:
            return model.placed(solver)
    return placed


def _delays(model: Model) -> Any:
    """The sum of all streams' delays, ns."""
    terms: list[Any] = []
    for own in model.streams:
        for place, (path, chosen) in enumerate(zip(own.job.paths, own.taken, strict=True)):
            if not model.waits:
                terms.append(chosen * (path.delay // 1_000))
                continue
            delay = model.model.new_int_var(0, 1 << 50, "")
            model.model.add(delay * 1_000 >= own.delays[place]).only_enforce_if(chosen)
            terms.append(delay)
    return sum(terms)


def _gaps(model: Model, problem: Problem, *, entries: bool) -> Any:
    """The time that frames and the guards before windows take from others, or the number of entries; less for
    windows that are one."""
    cycles: dict[int, int] = defaultdict(lambda: 1)
    for own in model.streams:
        for path in own.job.paths:
            for time in path.occupied:
                cycles[time.link] = lcm(cycles[time.link], own.job.period)
    terms: list[Any] = []

    def price(link: int, period: int, length: int) -> int:
        """The cost of a window: in entries, or in parts of 10^9 of the link's time."""
        if entries:
            return 2 * (cycles[link] // period)
        lost: int = LARGEST * 10**12 // problem["links"][link]["rate_bps"]
        return (lost + length) * 10**9 // period

    for own in model.streams:
        for path, chosen in zip(own.job.paths, own.taken, strict=True):
            terms += [chosen * price(time.link, own.job.period, time.length) for time in path.occupied]
    if model.waits:
        return sum(terms)
    before: dict[tuple[int, int], list[Any]] = defaultdict(list)
    behind: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for pair in model.together:
        period = pair[0].job.period
        if period != pair[1].job.period:
            continue
        for early, late, link, joined in _joined(model, *pair):
            before[late.job.number, link].append(joined)
            behind[early.job.number, link].append(joined)
            terms.append(-price(link, period, 0) * joined)
    for every in (*before.values(), *behind.values()):
        model.model.add_at_most_one(every)
    return sum(terms)


def _joined(
    model: Model, one: Stream, other: Stream, size: int, later: Any
) -> Iterator[tuple[Stream, Stream, int, Any]]:
    """The stream that is first, the one right behind it, their link, and the variable that says so."""
    common = one.job.period
    pairs = product(
        zip(one.job.paths, one.taken, strict=True), zip(other.job.paths, other.taken, strict=True)
    )
    for (path, mine), (their_path, theirs) in pairs:
        for a, b in on_one_link(path.occupied, their_path.occupied):
            first = (a.length + a.at - b.at, a.length + a.at - b.at + a.silence)
            second = (a.at - b.at - b.length - b.silence, a.at - b.at - b.length)
            for (low, high), (early, late) in ((first, (one, other)), (second, (other, one))):
                spans = folded(low % common, low % common + high - low, model.grain, size)
                if spans:
                    joined = model.model.new_bool_var("")
                    model.within(later, spans, joined)
                    model.model.add_implication(joined, mine)
                    model.model.add_implication(joined, theirs)
                    yield early, late, a.link, joined
