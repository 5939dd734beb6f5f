"""The exact engine: what it finds is a schedule, what it proves is true, what it says can be read."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.golden import messages_match
from support.planned import plan_of
from support.scheduling_problems import LIMITS, random_problem
from tsnbench import _native
from tsnbench.planning import PlanningErrors, plan
from tsnbench.planning.scheduling import engines
from tsnbench.planning.scheduling.exact.budget import Answer
from tsnbench.planning.scheduling.exact.engine import solve
from tsnbench.scenario import load_variants

FOLDER = Path(__file__).parents[2] / "errors" / "planned" / "exact"
CASES = sorted(FOLDER.glob("*.yaml"))
needs_ortools = pytest.mark.skipif(
    find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it"
)


@needs_ortools
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_wording(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    assert isinstance(messages_match(case), PlanningErrors)


def test_without_ortools_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    text = SMALL.format(schedule="objective: fewest-entries")
    with pytest.raises(PlanningErrors, match="ortools is missing"):
        plan_of(text)
    # What the heuristic can do needs nothing else.
    plan_of(SMALL.format(schedule="margin: 0 ns"))


@pytest.mark.parametrize(("engine", "is_named"), [("both", True), ("heuristic", False)])
def test_where_the_heuristic_is_stuck_the_extra_is_named(
    engine: str, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    (scenario,) = load_variants(FOLDER / "impossible.yaml")
    schedule = scenario.schedule.model_copy(update={"engine": engine})
    with pytest.raises(PlanningErrors) as refused:
        plan(scenario.model_copy(update={"schedule": schedule}))
    assert ("hint: install the extra: pip install 'tsnbench[exact]'" in str(refused.value)) is is_named


SMALL = """\
name: small
duration: 10 ms
network: {{stations: [a, b, c, d], bridges: [s], links: {{rate: 100 Mbit/s, between: [a-s, b-s, d-s, s-c]}}}}
schedule: {{{schedule}}}
streams:
  x: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 300 B, scheduled: true, count: 3}}
  y: {{from: b, to: c, pcp: 7, period: 2 ms, frame: 400 B, scheduled: true, count: 2}}
  v: {{from: d, to: c, pcp: 7, period: 1 ms, frame: 500 B, scheduled: true,
      release: {{earliest: 300 us, latest: 600 us}}}}
  w: {{from: d, to: c, pcp: 7, period: 1 ms, frame: 500 B, scheduled: true,
      release: {{earliest: 700 us, latest: 800 us}}}}
  z: {{from: b, to: c, pcp: 0, saturating: true, frame: 1500 B}}
"""


def _entries(text: str) -> int:
    made = plan_of(text)
    return sum(len(port["gates"]["entries"]) for port in made.document["ports"] if "gates" in port)


@needs_ortools
def test_objectives_are_met_better_than_by_first_fit() -> None:
    first_fit = _entries(SMALL.format(schedule="engine: heuristic"))
    for objective in ("fewest-entries", "most-bandwidth-left"):
        assert _entries(SMALL.format(schedule=f"objective: {objective}")) < first_fit
    # What must be kept is asked for without being told to.
    kept = "keep: {0: 55 Mbit/s}"
    with pytest.raises(PlanningErrors, match="left to others at s -> c"):
        plan_of(SMALL.format(schedule=f"{kept}, engine: heuristic"))
    plan_of(SMALL.format(schedule=kept))


@needs_ortools
def test_the_same_problem_has_the_same_answer() -> None:
    text = SMALL.format(schedule="objective: fewest-entries")
    assert plan_of(text).hash == plan_of(text).hash


def _is_schedule(problem: Mapping[str, Any], placed: Sequence[Any]) -> bool:
    taken = json.loads(_native.schedule_placed(json.dumps(problem), json.dumps(placed)))
    return not taken["refused"]


@pytest.mark.parametrize("links", [{1}, {2, 3}, set()])
def test_gate_lists_are_those_of_the_links_that_are_asked_for(links: set[int]) -> None:
    problem = json.dumps(random_problem(random.Random(1), 8, tight=False))
    every = json.loads(_native.schedule(problem, "{}"))
    asked = json.loads(_native.schedule(problem, "{}", "[]", links))
    of_links = [own for own in every["gates"] if own["link"] in links]
    assert asked == {**every, "gates": of_links}
    assert {own["link"] for own in every["gates"]} >= {1, 2, 3}


@needs_ortools
@pytest.mark.parametrize("seed", range(30))
def test_what_is_found_is_a_schedule_and_what_can_be_found_is_not_impossible(seed: int) -> None:
    problem = random_problem(random.Random(seed), 8, tight=seed % 3 > 0)
    first_fit = json.loads(_native.schedule(json.dumps(problem), "{}"))["outcome"]["placed"]
    outcome = solve(problem, [None] * 8, 5)
    if None not in first_fit:
        assert outcome.answer is Answer.FOUND
    if outcome.answer is Answer.FOUND:
        assert _is_schedule(problem, [outcome.placed[number] for number in range(8)])


def _places(problem: Mapping[str, Any], stream: Mapping[str, Any], queues: int) -> list[Any]:
    """Every release, every wait in whole ticks at every bridge: all that there is for a stream on its own."""
    alone = {**problem, "streams": [stream]}
    (paths,) = json.loads(_native.candidate_paths(json.dumps(alone), 1))
    steps = paths[0]["steps"] if paths else []
    found: list[Any] = []
    for offset, queue in itertools.product(
        range(stream["earliest_ns"], stream["latest_ns"] + 1, 10_000),
        [stream["queue"]] if "queue" in stream else range(queues),
    ):
        partial: list[tuple[list[int], int]] = [([], 0)]
        for place, step in enumerate(steps):
            longer = []
            for starts, arrived in partial:
                at = arrived + step["processing_ps"]
                first_tick = -(-(at + offset * 1_000 + 1) // 10**7) * 10**7 - offset * 1_000
                waits = [] if place == 0 else range(first_tick, stream["deadline_ns"] * 1_000, 10**7)
                longer += [([*starts, start], start + step["arrives_ps"][0]) for start in (at, *waits)]
            partial = longer
        for starts, delay in partial:
            placed = {
                "offset_ns": offset,
                "tree": stream["tree"],
                "starts_ps": starts,
                "queue": queue,
                "delay_ps": delay,
            }
            if _is_schedule(alone, [placed]):
                found.append(placed)
    return found


def _exists(problem: Mapping[str, Any]) -> bool:
    """Whether there is a schedule, from looking at all."""
    streams = problem["streams"]
    queues = problem["links"][0]["queues"]
    places = [_places(problem, stream, queues) for stream in streams]
    links = [{hop["link"] for hop in stream["tree"]} for stream in streams]
    fits = {
        (a, b): {
            (x, y)
            for (x, one), (y, other) in itertools.product(enumerate(places[a]), enumerate(places[b]))
            if _is_schedule({**problem, "streams": [streams[a], streams[b]]}, [one, other])
        }
        for a, b in itertools.combinations(range(len(streams)), 2)
        if links[a] & links[b]
    }
    return any(
        all((chosen[a], chosen[b]) in pairs for (a, b), pairs in fits.items())
        for chosen in itertools.product(*(range(len(own)) for own in places))
    )


@needs_ortools
def test_there_is_a_schedule_if_and_only_if_it_says_so() -> None:
    answers = {Answer.FOUND: 0, Answer.IMPOSSIBLE: 0}
    for seed in range(48):
        problem = random_problem(random.Random(1_000 + seed), 3, tight=True)
        outcome = solve(problem, [None] * 3, 5)
        assert outcome.answer is (Answer.FOUND if _exists(problem) else Answer.IMPOSSIBLE), seed
        answers[outcome.answer] += 1
        if outcome.conflict is not None and outcome.conflict.minimal:
            numbers = outcome.conflict.streams
            for gone in numbers:
                part = [problem["streams"][number] for number in numbers if number != gone]
                assert _exists({**problem, "streams": part}), (seed, gone)
            assert not _exists({**problem, "streams": [problem["streams"][number] for number in numbers]})
    assert min(answers.values()) >= 3, answers


@needs_ortools
@pytest.mark.parametrize(
    ("queues", "answer"), [((0, 0), False), ((1, 1), False), ((0, 1), True), ((1, None), True)]
)
def test_a_frame_that_waits_is_alone_in_its_queue(queues: tuple[int | None, ...], answer: bool) -> None:
    """Two frames come to a link at once: the one that waits needs another queue than the one that passes."""
    nodes = [{"processing_ps": 0, "forwards": True}] + [{"processing_ps": 0, "forwards": False}] * 3
    fast = {"rate_bps": 100_000_000, "propagation_ps": 0, "margin_ps": 0, "queues": 2, "limits": LIMITS}
    links = [{"from": a, "to": b, **fast} for a, b in [(1, 0), (2, 0), (0, 3)]]
    streams = [
        {
            "talker": 1 + number,
            "listeners": [3],
            "period_ns": 10**6,
            "frames": [1000],
            "deadline_ns": 300_000,
            "earliest_ns": 0,
            "latest_ns": 0,
            **({} if queue is None else {"queue": queue}),
            "tree": [{"link": number}, {"link": 2, "parent": 0}],
        }
        for number, queue in enumerate(queues)
    ]
    problem = {"nodes": nodes, "links": links, "streams": streams, "granularity_ns": 1}
    assert solve(problem, [None, None], 5).answer is (Answer.FOUND if answer else Answer.IMPOSSIBLE)
