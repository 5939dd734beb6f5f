"""Searches and sensitivity analyses: known fronts and indices, constraints, kills, mistakes of the file."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from support.profile import PROFILE
from support.study_processes import ended, kill_group, made, rows_of, runs_of, start, study, wait_for
from tsnbench.report.figures.study.curves import drawings
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.studies import study_file
from tsnbench.studies.exploring.evaluation import NO_PLAN, Evaluation, evaluation, front
from tsnbench.studies.exploring.questions import BATCH, Goal, Search, Sensitivity
from tsnbench.studies.exploring.search import Point, Searcher
from tsnbench.studies.exploring.sensitivity import indices, points
from tsnbench.studies.page import facts
from tsnbench.studies.store import Store
from tsnbench.studies.table import tables

GOALS = (Goal("a", "delay max", "a", great=False), Goal("b", "delay max", "b", great=False))
AXIS = tuple(f"{n} us" for n in range(20))
SEEDS = range({"quick": 1, "test": 1, "nightly": 10}[PROFILE])


def numbers(point: Point) -> tuple[int, ...]:
    return tuple(int(one.split()[0]) for one in point)


def convex(point: Point) -> tuple[float, float]:
    """Zitzler, Deb and Thiele's first problem: the front is at b = 0, and random points are far from it."""
    a, b = (one / 19 for one in numbers(point))
    rest = 1 + 9 * b
    return a, rest * (1 - (a / rest) ** 0.5)


def concave(point: Point) -> tuple[float, float]:
    """Zitzler, Deb and Thiele's second problem, with its front at b = 7."""
    a, b = numbers(point)
    rest = 1 + 9 * abs(b - 7) / 19
    return a / 19, rest * (1 - (a / 19 / rest) ** 2)


def hypervolume(found: list[tuple[float, ...]], worst: tuple[float, float]) -> float:
    """The area that two goals reach, up to the worst point."""
    area, last = 0.0, worst[1]
    for x, y in sorted(found):
        if x < worst[0] and y < last:
            area += (worst[0] - x) * (last - y)
            last = y
    return area


def searched(
    search: Search, axes: list[tuple[str, ...]], value: Callable[[Point], Evaluation]
) -> dict[Point, Evaluation]:
    searcher = Searcher(search, axes)
    while batch := searcher.ask():
        assert len(batch) <= BATCH
        assert len(set(batch)) == len(batch)
        searcher.tell({point: value(point) for point in batch})
    return searcher.found


@pytest.mark.parametrize("problem", [convex, concave])
def test_a_quarter_of_all_combinations_finds_the_front(
    problem: Callable[[Point], tuple[float, float]],
) -> None:
    every = [problem(point) for point in itertools.product(AXIS, AXIS)]
    # The worst point of the front: a search cannot earn area far from the front.
    best = [one for one in every if not any(a <= one[0] and b < one[1] for a, b in every)]
    worst = (max(a for a, _ in best) + 0.1, max(b for _, b in best) + 0.1)
    whole = hypervolume(every, worst)
    for seed in SEEDS:
        search = Search(GOALS, 100, seed=seed)
        found = searched(search, [AXIS, AXIS], lambda point: Evaluation(problem(point), 0.0))
        assert len(found) == 100
        values = [problem(point) for point in front(GOALS, found)]
        assert hypervolume(values, worst) >= 0.95 * whole
    if problem is convex:
        chance = random.Random(1).sample(every, 100)
        assert hypervolume(chance, worst) < 0.95 * whole


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_the_same_results_lead_to_the_same_combinations(sampler: str) -> None:
    def order(seed: int) -> list[Point]:
        search = Search(GOALS, 60, sampler, seed)
        return list(searched(search, [AXIS, AXIS], lambda one: Evaluation(convex(one), 0.0)))

    assert order(3) == order(3)
    assert order(3) != order(4)


def test_broken_requirements_keep_a_search_away() -> None:
    # Without the constraint, the least value is at 0 us; only values from 13 us on are allowed.
    def value(point: Point) -> Evaluation:
        a, b = numbers(point)
        return Evaluation((float(a + b),), 0.0 if a >= 13 else float(13 - a))

    goals = GOALS[:1]
    found = searched(Search(goals, 60), [AXIS, AXIS], value)
    assert front(goals, found) == {("13 us", "0 us")}


def test_a_small_grid_is_tried_as_a_whole() -> None:
    axes = [("red", "green", "blue"), ("1", "2", "3", "4")]
    found = searched(Search(GOALS[:1], 500), axes, lambda one: Evaluation((float(one[1]),), 0.0))
    assert set(found) == set(itertools.product(*axes))


def result(met: bool, *rows: tuple[str, str, float | None, bool | None], lost: int = 0) -> dict[str, object]:
    return {
        "met": met,
        "rows": [
            {"stream": stream, "listener": listener, "delay max": value, "delay mean": value, "met": own}
            | {"lost": lost}
            for stream, listener, value, own in rows
        ],
    }


def test_goals_over_repetitions() -> None:
    made = [
        result(True, ("video", "a", 10, True), ("video", "b", 30, True), ("files", "a", 90, None), lost=1),
        result(False, ("video", "a", 20, False), ("video", "b", 10, True), ("files", "a", 70, None)),
    ]
    goals = [
        Goal("", "delay max", "video", great=False),
        Goal("", "delay mean", "video", great=False),
        Goal("", "delay max", "*", great=False),
        Goal("", "lost", "video", great=False),
        Goal("", "", "streams.video.period", great=True),
    ]
    found = evaluation(goals, {"streams.video.period": 500.0}, made)
    # Means: the worst listener of each repetition, 30 and 20.
    assert found == Evaluation((30, 25, 90, 2, 500), 1.0)
    assert evaluation(goals[:1], {}, made, requirements=False).violation == 0
    assert evaluation(goals[:1], {}, [{"problem": "no window"}]).violation == NO_PLAN
    nothing = [result(True, ("video", "a", None, None))]
    assert evaluation(goals[:1], {}, nothing) == Evaluation((None,), NO_PLAN)


def test_a_front_is_what_nothing_surpasses() -> None:
    goals = (Goal("cost", "lost", "a", great=False), Goal("load", "", "b", great=True))
    found = {
        ("best of both",): Evaluation((1, 10), 0.0),
        ("as good",): Evaluation((1, 10), 0.0),
        ("dearer",): Evaluation((2, 10), 0.0),
        ("more load",): Evaluation((2, 11), 0.0),
        ("not allowed",): Evaluation((0, 99), 1.0),
    }
    assert front(goals, found) == {("best of both",), ("as good",), ("more load",)}


def test_morris_finds_the_effects_of_a_line() -> None:
    axes = {"a": [str(n) for n in range(100)], "b": [str(n) for n in range(100)], "c": ["0", "1"]}
    asked = Sensitivity("morris", 8, ())
    values = [3.0 * int(a) - int(b) for a, b, _ in points(asked, axes)]
    rows = {row["parameter"]: row for row in indices(asked, axes, values)}
    # An effect is the change over the whole list, here 99 steps.
    assert rows["a"]["mu star"] == pytest.approx(297, rel=0.01)
    assert rows["b"]["mu"] == pytest.approx(-99, rel=0.01)
    assert rows["b"]["mu star"] == pytest.approx(99, rel=0.01)
    assert (rows["c"]["mu star"], rows["c"]["sigma"]) == (0, 0)
    assert rows["a"]["sigma"] < 3


def test_sobol_finds_shares_of_the_variance() -> None:
    axes = {name: [str(n) for n in range(100)] for name in "abc"}
    asked = Sensitivity("sobol", 512, ())
    design = points(asked, axes)
    assert points(asked, axes) == design
    # a and b alone: variances 9 to 1.
    rows = {
        row["parameter"]: row for row in indices(asked, axes, [3.0 * int(a) + int(b) for a, b, _ in design])
    }
    assert rows["a"]["first"] == pytest.approx(0.9, abs=0.03)
    assert rows["b"]["total"] == pytest.approx(0.1, abs=0.03)
    assert rows["c"]["total"] == pytest.approx(0, abs=1e-9)
    # A product around 0: nothing alone, everything together.
    centred = [(int(a) - 49.5) * (int(b) - 49.5) for a, b, _ in design]
    rows = {row["parameter"]: row for row in indices(asked, axes, centred)}
    assert rows["a"]["first"] == pytest.approx(0, abs=0.1)
    assert rows["a"]["total"] == pytest.approx(1, abs=0.15)


SEARCH = """study: most
scenario: port.yaml
vary:
  streams.files.poisson: [50 Mbit/s, 100 Mbit/s, ... 900 Mbit/s]
  streams.files.payload: [200 B, 300 B, ... 1400 B]
search:
  maximise: [value of streams.files.poisson]
  minimise: [mean of loop]
  evaluations: 14
"""


def test_a_search_goes_on_after_kills_with_the_same_combinations(place: Path) -> None:
    out, _ = made(place, SEARCH)
    assert "14 combinations tried, 14 met all requirements" in out
    begun = start(place, "run", "study.yaml", "--into", "killed", "--workers", "1")
    # In the second batch, which depends on the results of the first one.
    wait_for(lambda: len(runs_of(place / "killed")) > 10, begun)
    kill_group(begun)
    there = len(runs_of(place / "killed"))
    assert 11 <= there < 14
    _, said = study(place, "run", "study.yaml", "--into", "killed")
    assert f"{14 - there} runs made, {there} were there already" in said
    _has_the_same_tables(place, "killed")

    rows = rows_of(place / "made/search.csv")
    best = {
        (float(row["mean of loop"]), float(row["value of streams.files.poisson"]))
        for row in rows
        if row["best"] == "yes"
    }
    every = {(float(row["mean of loop"]), float(row["value of streams.files.poisson"])) for row in rows}
    assert len(rows) == 14
    assert best == {
        one for one in every if not any(o[0] <= one[0] and o[1] >= one[1] and o != one for o in every)
    }
    page = facts(*tables(Store(place / "made"), Store(place / "made").read()))
    (drawing,) = drawings(page)
    assert drawing.name == "study-front"
    assert drawing.spoken.count("mean of loop (us)") == sum(row["best"] == "yes" for row in rows)
    assert "Pareto front" in (place / "made/report.html").read_text(encoding="utf-8")


def _has_the_same_tables(place: Path, other: str) -> None:
    for name in ("search.csv", "results.csv", "results.parquet"):
        assert (place / other / name).read_bytes() == (place / "made" / name).read_bytes()


def test_workers_alone_go_on_with_a_search(place: Path) -> None:
    made(place, SEARCH)
    _, said = study(place, "run", "study.yaml", "--into", "alone", "--workers", "0")
    assert "10 runs listed" in said
    both = [start(place, "work", "alone") for _ in range(2)]
    assert sum(int(ended(one).split()[0]) for one in both) == 14
    # A worker that comes later finds nothing to do.
    assert "0 runs made" in study(place, "work", "alone")[1]
    study(place, "export", "alone")
    _has_the_same_tables(place, "alone")


def test_a_late_list_of_a_slow_worker_does_not_stay(place: Path) -> None:
    made(place, SEARCH, "--workers", "0")
    listed = place / "made/study.json"
    first = listed.read_bytes()
    study(place, "work", "made")
    last = listed.read_bytes()
    assert first != last
    listed.write_bytes(first)
    assert "0 runs made" in study(place, "work", "made")[1]
    assert listed.read_bytes() == last


def test_a_search_without_an_answer_says_so(place: Path) -> None:
    scenario = (place / "port.yaml").read_text(encoding="utf-8")
    (place / "port.yaml").write_text(scenario.replace("delay: 100 us", "delay: 10 ns"), encoding="utf-8")
    out, _ = made(place, SEARCH.replace("evaluations: 14", "evaluations: 4"), code=1)
    assert "most: 4 combinations tried, 0 met all requirements; NO ANSWER" in out


def test_a_sensitivity_analysis_names_the_value_that_matters(place: Path) -> None:
    text = (
        "study: matters\nscenario: certain.yaml\n"
        "vary:\n  streams.loop.payload: [100 B, 200 B, ... 900 B]\n  streams.files.payload: [100 B, 200 B]\n"
        "sensitivity: {morris: 4, of: [mean of loop, lost of *]}\n"
    )
    assert "matters: 2 of 2 quantities explained by 2 parameters" in made(place, text)[0]
    rows = rows_of(place / "made/sensitivity.csv")
    effect = {(row["of"], row["parameter"]): float(row["mu star"]) for row in rows}
    # 800 octets more on two links of 1 Gbit/s, at the departure and behind the switch.
    assert 6_000 < effect["mean of loop", "streams.loop.payload"] < 14_000
    assert effect["mean of loop", "streams.files.payload"] < 1_000
    assert effect["lost of *", "streams.loop.payload"] == 0


MISTAKES = {
    "minimise: [speed of loop]": "expected a quantity of a stream, found speed of loop",
    "minimise: [value of streams.loop.period]": "a path that is varied by a list, found streams.loop",
    "minimise: [mean of loop], sampler: cmaes": "search.sampler: expected tpe or nsga2, found cmaes",
    "minimise: []": "expected goals, found an empty list",
    "sampler: tpe": "expected minimise or maximise, found none",
    "maximise: [value of streams.loop.payload]": "numbers of one kind, found 100 B, 5 us",
}


@pytest.mark.parametrize(("keys", "said"), MISTAKES.items())
def test_mistakes_of_a_search_have_their_place(keys: str, said: str, place: Path) -> None:
    text = (
        "study: wrong\nscenario: port.yaml\n"
        "vary: {streams.files.poisson: [1 Mbit/s, 2 Mbit/s], streams.loop.payload: [100 B, 5 us]}\n"
        f"search: {{{keys}, evaluations: 10}}\n"
    )
    with pytest.raises(ScenarioErrors) as raised:
        study_file.of_text(text, place / "wrong.yaml")
    assert said in str(raised.value)
    assert ":4:" in str(raised.value)


def test_a_search_needs_a_list_and_a_number_of_repetitions(place: Path) -> None:
    until = "evaluations: 25\nrepeat: {until: {mean of loop: 5 %}, most: 20}"
    alone = "study: a\nscenario: b.yaml\nsensitivity: {sobol: 12, of: [mean of loop]}\n"
    listed = alone.replace("sensitivity", "vary: {a: [1, 2]}\nsensitivity")
    for text, said in (
        (SEARCH.replace("evaluations: 14", until), "expected a number beside search, found until"),
        (alone, "expected vary, with a list of values, found none"),
        (listed, "expected a power of two, found 12"),
        (
            listed.replace("sobol: 12", "sobol: 16, morris: 4"),
            "expected one of morris, sobol, found morris and sobol",
        ),
    ):
        with pytest.raises(ScenarioErrors, match=said):
            study_file.of_text(text, place / "wrong.yaml")


def test_a_goal_of_an_unknown_stream_and_a_sweep_are_refused(place: Path) -> None:
    _, said = made(place, SEARCH.replace("mean of loop", "mean of lop"), code=2)
    assert "search: expected a stream, found lop" in said
    scenario = (place / "port.yaml").read_text(encoding="utf-8")
    (place / "port.yaml").write_text(
        scenario.replace("period: 250 us", "period: [250 us, 500 us]"), encoding="utf-8"
    )
    _, said = made(place, SEARCH, code=2)
    assert "expected a single run, found a sweep of 2 runs" in said
