"""Repetitions are added until the intervals are narrow; every worker finds the same number at any time."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.study_processes import ended, kill_group, made, rows_of, runs_of, start, study, wait_for
from tsnbench.cli.study import crew
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.studies import sequence, statistics, study_file
from tsnbench.studies.sequence import Progress, Repetitions
from tsnbench.studies.statistics import State
from tsnbench.studies.store import FORMAT, Content, Store
from tsnbench.studies.study_file import Until, Width
from tsnbench.studies.table import narrowness
from tsnbench.studies.worker import keep, note

from .conftest import SCENARIO

UNTIL = """study: narrow
scenario: port.yaml
vary: {streams.files.poisson: [100 Mbit/s, 400 Mbit/s]}
repeat: {until: {mean of loop: 12 %}, most: 60, batch: 5}
"""
TABLES = ("results.parquet", "results.csv", "until.csv")


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished study, which no test changes."""
    place = tmp_path_factory.mktemp("narrow")
    (place / "port.yaml").write_text(SCENARIO, encoding="utf-8")
    made(place, UNTIL)
    return place / "made"


def half_width(rows: list[dict[str, str]]) -> float:
    """The half-width of the t interval by its formula, from the means of equally many frames."""
    means = [float(row["delay mean"]) for row in rows]
    mean = sum(means) / len(means)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in means) / (len(means) - 1))
    # Student's t at 97.5 %, by degrees of freedom.
    t = {9: 2.262, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045, 34: 2.032, 39: 2.023, 44: 2.015, 49: 2.010}
    return t[len(means) - 1] * deviation / math.sqrt(len(means)) / mean


def test_each_combination_stops_at_the_second_narrow_look_in_a_row(narrow: Path) -> None:
    found = {row["streams.files.poisson"]: row for row in rows_of(narrow / "until.csv")}
    rows = [row for row in rows_of(narrow / "results.csv") if row["stream"] == "loop"]
    counts = {}
    for load, row in found.items():
        own = [one for one in rows if one["streams.files.poisson"] == load]
        counts[load] = int(row["repetitions"])
        assert len(own) == counts[load]
        assert row["state"] == "reached"
        looks = [half_width(own[:look]) <= 0.12 for look in range(10, counts[load] + 1, 5)]
        assert looks[-2:] == [True, True]
        assert not any(one and two for one, two in itertools.pairwise(looks[:-1]))
        assert float(row["reached"]) == pytest.approx(half_width(own), rel=1e-3)
    assert all(10 < count < 60 for count in counts.values())


def test_the_rule_is_evaluated_again_only_after_another_result(
    narrow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers evaluate the rule after every run; one of 10,000 combinations has a new result."""
    store = Store(narrow)
    found = Repetitions(store, store.read())
    asked = 0

    def counting(*words: Any) -> Progress:
        nonlocal asked
        asked += 1
        return decided(*words)

    decided = sequence._decided
    monkeypatch.setattr(sequence, "_decided", counting)
    first = found.progress()
    assert asked == 2
    assert (found.progress(), asked) == (first, 2)


def test_a_kill_and_any_number_of_workers_give_the_same_table(place: Path) -> None:
    file = place / "port.yaml"
    slow = file.read_text(encoding="utf-8").replace("duration: 2 ms", "duration: 100 ms")
    file.write_text(slow, encoding="utf-8")
    made(place, UNTIL.replace("12 %", "0.6 %"))
    assert max(int(row["repetitions"]) for row in rows_of(place / "made/until.csv")) > 15
    there = 0
    for _ in range(2):
        begun = start(place, "run", "study.yaml", "--into", "two", "--workers", "2")
        wait_for(lambda: len(runs_of(place / "two")) >= there + 7, begun)  # noqa: B023
        kill_group(begun)
        there = len(runs_of(place / "two"))
    for one in [start(place, "run", "study.yaml", "--into", "two", "--workers", "1") for _ in range(2)]:
        ended(one)
    for name in TABLES:
        assert (place / "two" / name).read_bytes() == (place / "made" / name).read_bytes()
    assert len(runs_of(place / "two")) == len(rows_of(place / "made/runs.csv"))


def test_status_shows_progress_and_the_last_line_missed_widths(place: Path) -> None:
    text = UNTIL.replace("12 %", "0.1 %").replace("most: 60", "most: 20")
    out, _ = made(place, text)
    assert out.splitlines()[-1].endswith("2 of 2 combinations are less exact than asked")
    assert "narrow enough in 0 of 2 combinations; NOT narrow enough in 2 after" in " ".join(out.split())
    assert "until all intervals" not in out
    out, _ = study(place, "status", "made")
    assert out.splitlines()[0] == "narrow: 40 of 40 runs made, 0 under way, 0 left"
    assert "20 repetitions, NOT narrow enough; widest: delay mean of loop at robot ± " in out
    assert "asked 0.100%" in out
    # More repetitions are allowed now: existing runs count, and the status names the next look.
    for run in json.loads((place / "made/study.json").read_text(encoding="utf-8"))["runs"][3:10]:
        (place / "made/runs" / f"{run['id']}.json").unlink()
    out, _ = study(place, "status", "made")
    # Three runs of the first look at ten repetitions exist, and all twenty of the other combination.
    assert out.splitlines()[0] == "narrow: 23 of 30 runs made, 0 under way, 7 left"
    assert "streams.files.poisson 100 Mbit/s: the next look is at 10 repetitions" in out
    told = json.loads(study(place, "status", "made", "--json")[0])
    assert [one["state"] for one in told["until"]] == ["continue", "not-reached"]
    out, _ = study(place, "report", "made", code=None)
    assert "NOT narrow enough in 1 after" in " ".join(out.split())
    assert "1 combination needs more repetitions" in " ".join(out.split())


def test_a_scenario_without_randomness_runs_once(place: Path) -> None:
    text = "study: once\nscenario: certain.yaml\nrepeat: {until: {mean of loop: 3 %}, most: 60}\n"
    assert "1 runs made" in made(place, text)[1]


def test_a_quantile_of_too_few_frames_ends_at_the_first_look_and_says_why(place: Path) -> None:
    text = "study: few\nscenario: port.yaml\nrepeat: {until: {p99 of loop: 3 %}, most: 60}\n"
    assert "10 runs made" in made(place, text)[1]
    (row,) = rows_of(place / "made/until.csv")
    assert row["state"] == "not-reached"
    assert row["reason"] == "delay p99 of loop needs 1000 frames in each repetition, found 8"


def listed(place: Path, until: Until, values: list[dict[str, float]]) -> tuple[Store, Content]:
    """A study whose repetitions have these means, by stream."""
    text = "study: a\nscenario: port.yaml\nrepeat: {until: {mean of loop: 3 %}, most: 60}\n"
    made(place, text, "--workers", "0")
    store = Store(place / "made")
    content = store.read()
    for run, means in zip(content.runs, values, strict=False):
        rows: list[dict[str, Any]] = [
            {"stream": name, "listener": "robot", "delay mean": mean, "received": 8}
            for name, mean in means.items()
        ]
        keep(store, run.id, {"format": FORMAT, "rows": rows, "met": True})
        note(store, run, run.id, reused=False, seconds=0, worker="")
    return store, replace(content, until=until)


def test_several_intervals_share_the_error(place: Path) -> None:
    """± 2.262 s / sqrt(10) for one interval, ± 2.685 s / sqrt(10) for two; the request is between."""
    means = [{"loop": 100 + (-1) ** n * 2.0, "files": 100 + (-1) ** n * 0.1} for n in range(60)]
    deviation = 2 * math.sqrt(10 / 9 / 10) / 100
    asked = 2.45 * deviation
    one = Until(10, 1, 11, (Width("delay mean", "loop", asked),))
    store, content = listed(place, one, means)
    (alone,) = Repetitions(store, content).progress()
    assert (alone.state, len(alone.runs)) == (State.REACHED, 11)
    both = Until(10, 1, 11, (Width("delay mean", "*", asked),))
    content = replace(content, until=both)
    (shared,) = Repetitions(store, content).progress()
    assert [look.confidence for look in shared.looks] == pytest.approx([0.975, 0.975])
    assert len(shared.looks) == 2
    assert shared.state == State.NOT_REACHED


def test_repetitions_after_the_decision_do_not_count(place: Path) -> None:
    until = Until(10, 5, 60, (Width("delay mean", "loop", 0.1),))
    store, content = listed(place, until, [{"loop": 100.0 + n % 3} for n in range(60)])
    (found,) = Repetitions(store, content).progress()
    assert (found.state, len(found.runs)) == (State.REACHED, 15)
    assert len(Repetitions(store, content).counted().runs) == 15
    assert not Repetitions(store, content).unmade()


def test_as_many_workers_may_help_as_runs_may_follow(place: Path) -> None:
    """After a kill one run of a look may be missing: the looks after it are work for every core."""
    until = Until(10, 5, 60, (Width("delay mean", "loop", 0.001),))
    store, content = listed(place, until, [{"loop": 100.0 + 10 * (n % 3)} for n in range(9)])
    wanted = Repetitions(store, content)
    assert (len(wanted.unmade()), wanted.most()) == (1, 51)


def test_a_look_with_one_run_left_does_not_bind_the_number_of_workers(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = Until(10, 5, 60, (Width("delay mean", "loop", 0.001),))
    store, content = listed(place, until, [{"loop": 100.0 + 10 * (n % 3)} for n in range(9)])
    begun: list[Any] = []

    class Begun(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            begun.append(self)

    monkeypatch.setattr(crew.subprocess, "Popen", Begun)
    crew.crew(store, Repetitions(store, content), 3, "bar", quiet=True)
    assert len(begun) == 3


def test_a_repetition_without_a_frame_ends_it_at_the_next_look(place: Path) -> None:
    """This holds also if an earlier list had more repetitions made, and these are narrow."""
    until = Until(10, 5, 60, (Width("delay mean", "loop", 0.01),))
    means = [{"loop": 100.0 + (40 if n < 15 else 0) * (n % 2)} for n in range(60)]
    store, content = listed(place, until, means)
    file = store.folder / f"made/{content.runs[12].id}.json"
    result = json.loads(file.read_text(encoding="utf-8"))
    result["rows"][0] |= {"delay mean": None, "received": 0}
    file.write_text(json.dumps(result), encoding="utf-8")
    (found,) = Repetitions(store, content).progress()
    assert (found.state, len(found.runs)) == (State.NOT_REACHED, 15)
    assert found.reason == "a repetition received no frame of loop at robot"


def test_the_caption_says_how_many_are_narrow() -> None:
    reached, wide, going = (
        Progress((), state) for state in (State.REACHED, State.NOT_REACHED, State.CONTINUE)
    )
    assert narrowness([reached, reached]).startswith("Repetitions were added until all intervals")
    assert narrowness([reached, wide, going, going]) == (
        "Intervals in until.csv: narrow enough in 1 of 4 combinations; NOT narrow enough in 1 after all "
        "repetitions that the study allows; 2 combinations need more repetitions."
    )


def test_no_worker_may_help_after_the_intervals_are_narrow(place: Path) -> None:
    reached = Until(10, 5, 60, (Width("delay mean", "loop", 0.1),))
    store, content = listed(place, reached, [{"loop": 100.0 + n % 3} for n in range(15)])
    assert Repetitions(store, content).most() == 0


@pytest.mark.parametrize(
    ("repeat", "said"),
    [
        ("{until: {mean of loop: 3 %}}", "most"),
        ("{until: {mean of loop: 3 %}, most: 9}", "a whole number from 10"),
        ("{until: {mean of loop: 3 %}, most: 90, least: 9}", "a whole number from 10"),
        ("{until: {mean of loop: 3 %}, most: 90, batch: 0}", "a whole number from 1"),
        ("{until: {mean of loop: 3}, most: 90}", "a share"),
        ("{until: {max of loop: 3 %}, most: 90}", "a quantity of a stream"),
        ("{until: {}, most: 90}", "at least one quantity"),
        ("{until: {mean of lop: 3 %}, most: 90}", "the streams are files, loop"),
    ],
)
def test_mistakes_have_a_place_and_a_hint(place: Path, repeat: str, said: str) -> None:
    from tsnbench.studies.design import design

    text = f"study: a\nscenario: port.yaml\nrepeat: {repeat}\n"
    with pytest.raises(ScenarioErrors) as caught:
        design(
            study_file.of_text(text, place / "study.yaml"), (place / "port.yaml").read_text(encoding="utf-8")
        )
    assert said in str(caught.value)
    assert "study.yaml:3:" in str(caught.value)


def test_the_least_number_is_that_of_the_rule() -> None:
    assert statistics.LEAST == 10


def test_the_narrowest_width_applies_and_a_quantile_weighs_one() -> None:
    widths = (
        Width("delay mean", "*", 0.05),
        Width("delay mean", "loop", 0.02),
        Width("delay p99", "loop", 0.1),
    )
    until = Until(10, 10, 20, widths)
    assert sequence._asked(until, "delay mean", "loop", "robot") == 0.02
    assert sequence._asked(until, "delay mean", "files", "robot") == 0.05
    row = {"stream": "loop", "listener": "robot", "received": 5000, "delay mean": 7.5, "delay p99": 9}
    assert sequence._estimate([row], "delay mean", "loop", "robot") == (7.5, 5000)
    assert sequence._estimate([row], "delay p99", "loop", "robot") == (9, 1)
