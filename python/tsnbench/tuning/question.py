"""A tuning question: one parameter of a sweep, the end from which it is searched, and the judge.

The grid is the parameter's list in the scenario, in its order: ``[10 Mbit/s, 11 Mbit/s, ... 60 Mbit/s]``.
Every combination of the sweep's other parameters is a question of its own.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.netns import Namespaces
from tsnbench.backends.vm.backend import VirtualMachine
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import InputError
from tsnbench.measure.refuted import in_words
from tsnbench.measure.verdict import counting, worst_cases
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.quantities import some
from tsnbench.scenario.model import Scenario
from tsnbench.scenario.model.traffic import Answer as RequestDriven
from tsnbench.scenario.selection import shortened
from tsnbench.tuning.bisection import first, greatest
from tsnbench.tuning.overload import overloads
from tsnbench.tuning.tightest import Tightest, tightest

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Backend


class Judge(StrEnum):
    """The judge of a value: the worst case, a simulation, or a kernel."""

    BOUNDS = "bounds"
    """The worst case: it holds for all phases and seeds."""
    SIMULATION = "simulation"
    """Runs of each value with one seed or more."""
    VM = "vm"
    """Runs on the Linux kernel of a guest."""
    NETNS = "netns"
    """Runs on this machine's Linux kernel."""


@dataclass(frozen=True)
class Evaluation:
    """One value, and whether it meets every requirement."""

    value: str
    met: bool
    reason: str
    """The requirement that decides, or why there is no Plan."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    others: dict[str, str]
    """The values of the sweep's other parameters."""
    value: str | None
    """The value that is searched; none if no evaluated value meets."""
    evaluations: list[Evaluation]
    """In the order of the grid."""
    values: int
    """Number of values of the grid."""
    certain: bool
    """Whether no assumption was needed: see :class:`tsnbench.tuning.bisection.Found`."""
    back: str | None
    """A value beyond the answer that does not meet: the requirements come and go along the grid."""
    command: str | None
    """The command that shows the answer's run."""


def judged_by_bounds(plan: Plan) -> tuple[bool, str]:
    """Whether the worst case meets every requirement that has a bound, and the first broken requirement.

    Raises:
        InputError: no stream has a requirement that has a bound.
    """
    every = worst_cases(plan.document, plan.bounds())
    rows = counting(plan.document, every, every=True)
    if not rows:
        raise InputError("expected a requirement with a worst case (delay, jitter, loss), found none")
    broken = [row for row in rows if row["proof"] != "proved"]
    if broken:
        row = broken[0]
        why = row["worst_case_reason"] or f"worst case {row['worst_case']} {row['limit_unit']}"
        return False, f"{row['stream']} to {row['listener']}: {row['requirement']}: {why}"
    rest = len(every) - len(rows)
    return True, f"{_count(len(rows))} proved" + (f", {rest} without a bound not judged" if rest else "")


def _count(requirements: int) -> str:
    return "1 requirement" if requirements == 1 else f"{requirements} requirements"


def judged_by_simulation(plan: Plan) -> tuple[bool, str]:
    """Whether one simulation meets every requirement; the run is not kept.

    Raises:
        InputError: no stream has a requirement.
    """
    return _judged_by_run(plan, None)


def judged_by_guest(plan: Plan) -> tuple[bool, str]:
    """Whether one run on a guest's kernel meets every requirement; the run is not kept.

    Raises:
        InputError: no stream has a requirement.
        BackendError: the guest cannot run here, or does not support the Plan.
    """
    return _judged_by_run(plan, VirtualMachine())


def judged_by_namespaces(plan: Plan) -> tuple[bool, str]:
    """Whether one run on this machine's kernel meets every requirement; the run is not kept.

    Raises:
        InputError: no stream has a requirement.
        BackendError: this machine's kernel does not support the Plan, or root is needed.
    """
    return _judged_by_run(plan, Namespaces())


def _judged_by_run(plan: Plan, on: Backend | None) -> tuple[bool, str]:
    if not any(stream.get("requirements") for stream in plan.document["streams"]):
        raise InputError("expected a stream with a requirement, found none")
    with tempfile.TemporaryDirectory(prefix="tsnbench-") as folder:
        verdict = run_one(plan, Path(folder) / "run", Options(report=False), on=on).verdict
    rows = verdict["rows"]
    if refuted := verdict["refuted"]:
        return False, in_words(refuted[0])
    broken = [row for row in rows if row["met"] != "yes"]
    if broken:
        row = broken[0]
        found = "nothing was measured" if row["found"] is None else row["found"]
        return False, f"{row['stream']} to {row['listener']}: {row['requirement']}: {found}"
    return True, f"{_count(len(rows))} met"


JUDGES: dict[Judge, Callable[[Plan], tuple[bool, str]]] = {
    Judge.BOUNDS: judged_by_bounds,
    Judge.SIMULATION: judged_by_simulation,
    Judge.VM: judged_by_guest,
    Judge.NETNS: judged_by_namespaces,
}


def answers(
    scenarios: Sequence[Scenario],
    parameter: str,
    judge: Judge,
    *,
    file: str,
    greatest: bool = False,
    every: bool = False,
    seeds: int = 1,
) -> list[Answer]:
    """Tunes a parameter: one answer for each combination of the other parameters.

    Args:
        scenarios: every run of a scenario file.
        parameter: the sweep's parameter, as in ``--only``.
        judge: who decides.
        file: the scenario, for commands.
        greatest: the last value of the list that meets, in place of the first.
        every: judge every value, in place of bisection.
        seeds: simulations of each value, from the scenario's seed on; all have to meet every requirement.

    Raises:
        InputError: the sweep has no such parameter, or the scenario has no requirement.
    """
    known = sorted({name for scenario in scenarios for name in scenario.variant})
    if parameter not in known:
        hint = (
            f"the sweep's parameters: {', '.join(known)}"
            if known
            else (
                f"give the scenario a list to search, as parameters: {{{parameter}: [1 ms, 2 ms, 4 ms]}}, "
                f"and write ${{{parameter}}} where the value belongs"
            )
        )
        raise InputError(f"expected a parameter of the sweep, found {parameter}\n  hint: {hint}")
    groups: dict[tuple[tuple[str, str], ...], list[Scenario]] = {}
    for scenario in scenarios:
        if parameter in scenario.variant:
            others = tuple((key, value) for key, value in scenario.variant.items() if key != parameter)
            groups.setdefault(others, []).append(scenario)
    return [
        _answer(dict(others), grid[::-1] if greatest else grid, parameter, judge, file, every, seeds)
        for others, grid in groups.items()
    ]


@dataclass(frozen=True)
class Fitting:
    """The greatest number of flows of one stream that the network carries."""

    stream: str
    others: dict[str, str]
    """The values of a sweep's parameters."""
    now: int
    """The flows that the scenario has."""
    count: int | None
    """The greatest number of flows with which every requirement is kept; none if one flow is too many."""
    evaluations: list[Evaluation]
    certain: bool
    """Whether no assumption was needed: that fewer flows also meet every requirement."""
    tightest: Tightest | None
    """What runs out first with that number of flows."""


MOST_FLOWS = 10_000
"""As many as a scenario may give one stream."""


def fitting(scenario: Scenario, stream: str, judge: Judge, most: int = MOST_FLOWS, seeds: int = 1) -> Fitting:
    """The greatest ``count`` of a stream, from 1 to ``most``, with which every requirement is met.

    The requirements of all streams count, also those of the flows that are added, and no queue on the way of
    a stream with a requirement may grow without end. The number is searched from the present one, in steps
    that double, then by bisection.

    Raises:
        InputError: the scenario has no such stream, or no requirement, or ``most`` is no number of flows.
    """
    if stream not in scenario.streams:
        hint = f"the streams: {some(sorted(scenario.streams))}"
        raise InputError(f"expected a stream of the scenario, found {stream}\n  hint: {hint}")
    if not 1 <= most <= MOST_FLOWS:
        raise InputError(f"expected a number of flows from 1 to {MOST_FLOWS}, found {most}")
    own = scenario.streams[stream]
    if isinstance(own.pattern, RequestDriven):
        hint = f"ask for {own.pattern.answers}: each of its flows has its own answer"
        raise InputError(
            f"expected a stream that releases frames itself, found {stream}, an answer\n  hint: {hint}"
        )
    chain = _chain(scenario, stream)
    seen: dict[int, Evaluation] = {}
    plans: dict[int, Plan] = {}

    def meets(count: int) -> bool:
        grown = {name: scenario.streams[name].model_copy(update={"count": count}) for name in chain}
        streams = {**scenario.streams, **grown}
        met, reason, made = _judged(scenario.model_copy(update={"streams": streams}), judge, seeds)
        seen[count] = Evaluation(str(count), met, reason)
        if made is not None and met:
            plans.clear()
            plans[count] = made
        return met

    found = greatest(min(own.count, most), most, meets)
    left = plans.get(found.place or 0)
    return Fitting(
        stream=stream,
        others=dict(scenario.variant),
        now=own.count,
        count=found.place,
        evaluations=[seen[count] for count in sorted(seen)],
        certain=found.certain,
        tightest=None if left is None else tightest(left),
    )


def _chain(scenario: Scenario, request: str) -> list[str]:
    """A stream, those that answer it, those that answer these, and so on."""
    answers: dict[str, list[str]] = {}
    for name, stream in scenario.streams.items():
        if isinstance(stream.pattern, RequestDriven):
            answers.setdefault(stream.pattern.answers, []).append(name)
    chain = [request]
    for name in chain:
        chain += answers.get(name, [])
    return chain


def _judged(scenario: Scenario, judge: Judge, seeds: int) -> tuple[bool, str, Plan | None]:
    """Whether every requirement is kept, why, and the Plan of the first seed.

    The first seed that breaks a requirement decides: further ones are not simulated.
    """
    first: Plan | None = None
    reason = ""
    for seed in range(scenario.seed, scenario.seed + seeds):
        try:
            plan = make_plan(scenario if seed == scenario.seed else shortened(scenario, None, seed))
        except InputError as error:
            # A shaper or window that is too small has no Plan: the value fails, and the error is the reason.
            return False, str(error).splitlines()[0], first
        first = first or plan
        for overload in overloads(plan.document):
            return False, str(overload), first
        met, reason = JUDGES[judge](plan)
        if not met:
            return False, reason + (f" (seed {seed})" if seeds > 1 else ""), first
    return True, reason + (f" with each of {seeds} seeds" if seeds > 1 else ""), first


def _answer(
    others: dict[str, str],
    grid: list[Scenario],
    parameter: str,
    judge: Judge,
    file: str,
    every: bool,
    seeds: int,
) -> Answer:
    seen: dict[int, Evaluation] = {}
    values = [scenario.variant[parameter] for scenario in grid]

    def meets(place: int) -> bool:
        met, reason, _ = _judged(grid[place], judge, seeds)
        seen[place] = Evaluation(values[place], met, reason)
        return met

    found = first(len(grid), meets, every)
    command = None
    if found.place is not None:
        chosen = {**others, parameter: values[found.place]}
        only = [word for key, value in chosen.items() for word in ("--only", f"{key}={value}")]
        after = ["plan", file, *only, "--bounds"] if judge is Judge.BOUNDS else ["run", file, *only]
        after += ["--on", judge.value] if judge in (Judge.VM, Judge.NETNS) else []
        command = shlex.join(["tsnbench", *after])
    return Answer(
        others=others,
        value=None if found.place is None else values[found.place],
        evaluations=[seen[place] for place in sorted(seen)],
        values=len(grid),
        certain=found.certain,
        back=None if found.back is None else values[found.back],
        command=command,
    )
