"""Kept schedules with all that streams can be: copies, several queues, the exact engine."""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.commands import Done, tsnbench
from support.scheduling_problems import random_problem
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.engine import solve
from tsnbench.planning.scheduling.exact.job import jobs_of
from tsnbench.planning.scheduling.exact.model import Model, same
from tsnbench.planning.scheduling.incremental import changes
from tsnbench.planning.scheduling.schedule import prove
from tsnbench.scenario import read_scenario

needs_ortools = pytest.mark.skipif(
    find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it"
)

RING = """\
name: copies
duration: 10 ms
network:
  stations: [a, b]
  bridges: {s1: {processing: 1 us}, s2: {processing: 1 us}, s3: {processing: 1 us}, s4: {processing: 1 us}}
  links: {rate: 1 Gbit/s, between: [a-s1, s1-s2, s2-s4, s1-s3, s3-s4, s4-b]}
streams:
"""
COPIES = (
    "  twice: {from: a, to: b, pcp: 7, period: 1 ms, payload: 200 B, scheduled: true, frer: {disjoint: 2}}\n"
)
OTHER = "  first: {from: b, to: a, pcp: 7, period: 500 us, payload: 300 B, scheduled: true, count: 3}\n"
BESIDE = "  beside: {from: a, to: b, pcp: 7, period: 2 ms, payload: 700 B, scheduled: true, count: 2}\n"

QUEUES = """\
name: queues
duration: 10 ms
schedule: {pcps: [7, 6]}
network:
  stations: [a, b, c]
  bridges: {s1: {processing: 1 us}, s2: {processing: 1 us}}
  links: {rate: 100 Mbit/s, between: [a-s1, b-s1, s1-s2, s2-c]}
streams:
"""
TIGHT = """\
  x: {from: a, to: c, pcp: 7, period: 400 us, frame: 900 B, scheduled: true,
    release: {earliest: 0 us, latest: 10 us}}
  y: {from: b, to: c, pcp: 7, period: 400 us, frame: 900 B, scheduled: true,
    release: {earliest: 0 us, latest: 10 us}}
"""
NEW = "  new: {from: b, to: c, pcp: 7, period: 400 us, frame: 600 B, scheduled: true}\n"

WINDOWS = """\
name: windows
duration: 10 ms
network: {stations: [a, b, c], bridges: [s], links: {rate: 1 Gbit/s, between: [a-s, b-s, s-c]}}
shapers: {'s -> c': {gates: plan}}
streams:
"""


def _plan(text: str, earlier: Plan | None = None) -> Plan:
    return plan(read_scenario(text)[0], earlier)


def _moved(before: Plan, after: Plan) -> dict[str, str]:
    return {one.flow: one.what for one in changes(before.document, after.document)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RING + COPIES + OTHER, RING + OTHER + BESIDE + COPIES),
        (QUEUES + TIGHT, QUEUES + NEW + TIGHT),
    ],
    ids=["copies", "queues"],
)
def test_copies_and_those_that_wait_stay_beside_new_ones(old: str, new: str) -> None:
    before = _plan(old)
    after = _plan(new, before)
    found = _moved(before, after)
    assert {what for name, what in found.items() if name in _scheduled(before)} == {"kept"}
    assert prove(after.document, after.to_json()) == []
    for name, stream in _scheduled(before).items():
        # Its priority is its queue: it stays, too.
        for key in ("scheduled", "pcp", "route"):
            assert _scheduled(after)[name].get(key) == stream.get(key)


def _scheduled(made: Plan) -> dict[str, Any]:
    return {s["name"]: s for s in made.document["streams"] if "scheduled" in s}


def test_two_queues_are_needed_and_kept() -> None:
    """What the case above is worth: one of both streams waits, in a queue of its own."""
    streams = _scheduled(_plan(QUEUES + TIGHT)).values()
    assert {stream["pcp"] for stream in streams} == {6, 7}


def test_copies_that_have_another_way_are_planned_anew() -> None:
    before = _plan(RING + COPIES + OTHER)
    shorter = RING.replace("s1-s3, s3-s4", "s1-s4")
    after = _plan(shorter + COPIES + OTHER, before)
    found = {one.flow: one for one in changes(before.document, after.document)}
    assert found["twice"].what == "moved"
    assert "which is no more" in found["twice"].why
    assert prove(after.document, after.to_json()) == []


def test_run_keeps_the_schedule_of_an_earlier_run(tmp_path: Path) -> None:
    def run(*words: str) -> Done:
        return tsnbench("run", *words, cwd=tmp_path)

    (tmp_path / "old.yaml").write_text(RING + COPIES + OTHER, encoding="utf-8")
    (tmp_path / "new.yaml").write_text(RING + OTHER + BESIDE + COPIES, encoding="utf-8")
    first = run("old.yaml", "--into", "first", "--no-report")
    assert first.returncode == 0, first.stderr
    second = run("new.yaml", "--into", "second", "--no-report", "--keep-schedule", "first/plan.json")
    assert second.returncode == 0, second.stderr
    assert "scheduled streams: 4 kept, 0 moved, 2 added, 0 removed" in second.stderr
    ran = [json.loads((tmp_path / name / "plan.json").read_text()) for name in ("first", "second")]
    starts = [{s["name"]: s["scheduled"] for s in one["streams"]} for one in ran]
    assert starts[0].items() <= starts[1].items()
    manifest = json.loads((tmp_path / "second" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["command"][-2:] == ["--keep-schedule", "first/plan.json"]
    assert run("new.yaml", "--keep-schedule", "none.json").returncode == 2


@needs_ortools
def test_an_objective_is_about_new_streams_where_others_are_kept() -> None:
    head = WINDOWS.replace("shapers: {'s -> c': {gates: plan}}", "schedule: {objective: fewest-entries}")
    old = "  one: {from: a, to: c, pcp: 7, period: 1 ms, frame: 500 B, scheduled: true, offset: 300 us}\n"
    new = "  two: {from: b, to: c, pcp: 7, period: 1 ms, frame: 700 B, scheduled: true}\n"
    before = _plan(head + old)
    free = old.replace(", offset: 300 us", "")
    after = _plan(head + free + new, before)
    assert _moved(before, after) == {"one": "kept", "two": "added"}
    # Afresh it would be elsewhere, and with it the new one shares a window: two entries and the rest's.
    assert _scheduled(_plan(head + free + new))["one"]["pattern"]["offset_ns"] != 300_000
    ports = {port["name"]: port for port in after.document["ports"]}
    assert len(ports["s -> c"]["gates"]["entries"]) <= 3


@needs_ortools
@pytest.mark.parametrize("seed", range(12))
def test_the_exact_engine_moves_as_few_as_can_be(seed: int) -> None:
    """One more comes to others: nobody moves where that is possible, else the fewest."""
    draw = random.Random(seed)
    problem = random_problem(draw, 7, tight=True)
    everybody = problem["streams"]
    some = {**problem, "streams": everybody[:-1]}
    first = solve(some, [None] * 6, 2.0)
    if first.answer is not Answer.FOUND:
        return
    earlier = dict(first.placed)
    # Only what an earlier plan had is known, as if the heuristic had kept them all and been stuck.
    found = solve(problem, [*(earlier[n] for n in range(6)), None], 4.0, earlier=earlier)
    jobs = jobs_of(problem, 4)
    if found.answer is not Answer.FOUND:
        return
    moved = [number for number in earlier if not same(earlier[number], found.placed[number])]
    for count, fixed in _fewer(list(earlier), len(moved)):
        # Whoever else had stayed: with fewer moved there is none.
        stay = {number: earlier[number] for number in fixed}
        model = Model(problem, jobs, waits=True, stay=stay)
        answer, _ = Budget(5.0).solve(model.model)
        assert answer is not Answer.FOUND, (count, fixed, moved)


def _fewer(numbers: list[int], moved: int) -> list[tuple[int, list[int]]]:
    """Every choice of who stays with fewer moved than ``moved``."""
    from itertools import combinations

    return [
        (gone, [number for number in numbers if number not in out])
        for gone in range(moved)
        for out in combinations(numbers, gone)
    ]
