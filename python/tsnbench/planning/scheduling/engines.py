"""The engines that search for a schedule: the heuristic, the exact one, or the exact one after the heuristic
failed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.planning.scheduling.exact.budget import Answer
from tsnbench.planning.scheduling.exact.engine import Outcome, solve
from tsnbench.planning.scheduling.exact.explanations import impossible, unknown
from tsnbench.planning.scheduling.impossible_alone import judged_apart
from tsnbench.planning.scheduling.member_streams import entries_of
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Found, Placed, Problem, Reason

MISSING: Reason = {"kind": "engine"}
NO_ORTOOLS = (
    "the exact engine is not here: ortools is missing; install the extra: pip install 'tsnbench[exact]'"
)
NOT_ASKED = (
    "the exact engine, which may find a schedule, is not here: ortools is missing; "
    "install the extra: pip install 'tsnbench[exact]'"
)
CERTAIN = ("pair", "together", "link")
"""Reasons that no search can change."""
_HURRY_S: ContextVar[float] = ContextVar("hurry", default=inf)


@contextmanager
def hurry(seconds: float) -> Iterator[None]:
    """Within, the exact engine searches for at most so many seconds of its work; 0: only where the scenario
    names it."""
    before = _HURRY_S.set(seconds)
    try:
        yield
    finally:
        _HURRY_S.reset(before)


def search(
    wanted: model.Schedule,
    problem: Problem,
    earlier: Sequence[Placed | None] = (),
    links: AbstractSet[int] | None = None,
) -> Found:
    """A schedule for a problem in the form of ``crates/schedule``, or reasons why there is none.

    Streams that are impossible alone come first among the reasons; the others are judged without them.

    Args:
        wanted: the scenario's settings of the engine.
        problem: the problem.
        earlier: by stream the decision of an earlier plan; both engines keep it where possible.
        links: at least whose gate lists are needed; None: of all.
    """
    found = _search(wanted, problem, earlier, links)
    if found["reasons"] == [MISSING]:
        return found
    return judged_apart(found, problem, earlier, lambda rest, kept: search(wanted, rest, kept))


def _search(
    wanted: model.Schedule,
    problem: Problem,
    earlier: Sequence[Placed | None],
    links: AbstractSet[int] | None,
) -> Found:
    text = _native.compact(problem)
    found: Found = json.loads(_native.schedule(text, "{}", _native.compact(list(earlier)), links))
    asked = wanted.engine == "exact" or wanted.objective is not None
    here = find_spec("ortools") is not None and (asked or _HURRY_S.get() > 0)
    if asked and not here:
        return {**found, "reasons": [MISSING], "sentences": [NO_ORTOOLS]}
    if wanted.engine == "heuristic" or not here or not (asked or _stuck(found)) or not _open(found):
        shared = _shared(text, earlier) if _stuck(found) and _open(found) else found
        if shared is None and wanted.engine != "heuristic":
            reasons, sentences = [*found["reasons"], MISSING], [*found["sentences"], NOT_ASKED]
            return {**found, "reasons": reasons, "sentences": sentences}
        return shared or found
    name_paths(problem, found)
    objective = wanted.objective
    short_of_entries = any(_entries(reason) for reason in found["reasons"])
    if objective is None and short_of_entries:
        objective = "fewest-entries"
    # The exact model has no frames that wait for others in one queue.
    placed = [_alone(own) for own in found["outcome"]["placed"]]
    before = {
        number: own for number, own in enumerate(earlier) if _alone(own) is not None and own is not None
    }
    if not _stuck(found) and None in placed:
        return found
    outcome = solve(problem, placed, min(wanted.time / 1e9, _HURRY_S.get()), objective, before)
    if outcome.answer is Answer.FOUND:
        return _taken(problem, text, outcome, found, wanted.objective)
    if shared := _shared(text, earlier):
        return shared
    stuck = [number for number, _ in found["outcome"]["refused"]]
    if outcome.answer is Answer.IMPOSSIBLE:
        reason, sentence = impossible(outcome, stuck)
    else:
        reason, sentence = unknown(wanted.time)
    said = zip(found["reasons"], found["sentences"], strict=True)
    # The results of first fit are not needed any more once there is a proof.
    kept = [own for own in said if outcome.answer is Answer.UNKNOWN or own[0]["kind"] == "without"]
    return {
        **found,
        "reasons": [reason, *(own for own, _ in kept)],
        "sentences": [sentence, *(own for _, own in kept)],
    }


def name_paths(problem: Problem, found: Found) -> None:
    """The paths that the problem gives, at the streams that were placed on them."""
    for stream, placed in zip(problem["streams"], found["outcome"]["placed"], strict=True):
        if placed is not None and "tree" in stream:
            placed["tree"] = entries_of(stream["tree"])


def _shared(text: str, earlier: Sequence[Placed | None]) -> Found | None:
    """A schedule in which frames wait for others in one queue, if first fit finds one."""
    found: Found = json.loads(_native.schedule(text, json.dumps({"share": True}), json.dumps(list(earlier))))
    return None if found["reasons"] else found


def _alone(placed: Placed | None) -> Placed | None:
    """A placement without waits for others."""
    return None if placed is None or placed.get("behind") else placed


def may_leave_more(wanted: model.Schedule) -> bool:
    """Whether the exact engine may search for a schedule that leaves more to others."""
    return wanted.engine != "heuristic" and wanted.objective is None and find_spec("ortools") is not None


def _stuck(found: Found) -> bool:
    """Whether the heuristic has no schedule, and another search may find one."""
    return bool(found["reasons"])


def _open(found: Found) -> bool:
    """Whether no certain reason excludes a schedule."""
    refused = all(refusal["kind"] == "no-room" for _, refusal in found["outcome"]["refused"])
    reasons = [reason for reason in found["reasons"] if reason["kind"] in CERTAIN]
    gates = [reason for reason in found["reasons"] if reason["kind"] == "gates" and not _entries(reason)]
    return refused and not reasons and not gates


def _entries(reason: Reason) -> bool:
    return bool(reason["kind"] == "gates" and reason["refusal"]["kind"] in ("entries", "early"))


def _taken(problem: Problem, text: str, outcome: Outcome, found: Found, objective: str | None) -> Found:
    """The exact engine's result, checked by the first engine; or the first engine's own result, if it is
    better."""
    placed: list[Placed | None] = [outcome.placed[number] for number in range(len(problem["streams"]))]
    taken = json.loads(_native.schedule_placed(text, json.dumps(placed)))
    if taken["refused"]:
        # Both engines have the same definition of a schedule, so one of them is wrong.
        number, refusal = taken["refused"][0]
        raise AssertionError(f"stream {number} cannot be where it was placed: {refusal['kind']}")
    before = found["outcome"]["placed"]
    if not found["reasons"] and None not in before and objective is not None:
        new, old = _cost(problem, placed, taken, objective), _cost(problem, before, found, objective)
        if new > old or taken["reasons"]:
            return found
    return {
        "outcome": {"placed": placed, "refused": []},
        "gates": taken["gates"],
        "reasons": taken["reasons"],
        "sentences": taken["sentences"],
    }


def _cost(problem: Problem, placed: Sequence[Placed | None], found: Found, objective: str) -> float:
    if objective == "shortest-delay":
        return float(sum(own["delay_ps"] for own in placed if own))
    if objective == "fewest-entries":
        return float(sum(len(gates["intervals_ns"]) for gates in found["gates"]))
    cost = 0.0
    for gates in found["gates"]:
        lost = 1542 * 8e9 / problem["links"][gates["link"]]["rate_bps"]
        entries = zip(gates["others"], gates["intervals_ns"], strict=True)
        free = (max(0.0, interval - lost) for others, interval in entries if others)
        cost += 1 - sum(free) / gates["cycle_ns"]
    return cost
