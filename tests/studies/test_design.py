"""The runs of a study: values, seeds, random draws; which runs are repeated after a change."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.study_processes import made, rows_of, study
from tsnbench.runs import engine
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.studies import study_file
from tsnbench.studies.design import Source, design


def read(place: Path, text: str) -> study_file.Study:
    return study_file.of_text(text, place / "study.yaml")


def drawn_values(whole: Source, seed: int) -> Iterator[tuple[str, str]]:
    """The values that one seed draws, by path."""
    for one in whole.study.vary:
        if isinstance(one, study_file.Drawn):
            for path, _ in whole._places_of(one):
                yield path, one.draw(path, seed)


def wanted(place: Path, text: str, scenario: str = "port.yaml"):  # type: ignore[no-untyped-def]
    return design(read(place, text), (place / scenario).read_text(encoding="utf-8"))


def test_every_combination_has_the_same_seeds(place: Path) -> None:
    text = (
        "study: a\nscenario: port.yaml\nvary: {streams.loop.pcp: [6, 0], duration: [1 ms, 2 ms]}\nrepeat: 2\n"
    )
    runs = wanted(place, text).runs
    assert [(*run.values.values(), run.seed) for run in runs] == [
        (pcp, duration, seed) for pcp in "60" for duration in ("1 ms", "2 ms") for seed in (1, 2)
    ]
    assert len({run.id for run in runs}) == 8


def test_a_scenario_without_randomness_runs_once_with_a_reason(place: Path) -> None:
    out, said = made(place, "study: once\nscenario: certain.yaml\nrepeat: 10\n")
    assert "note: nothing is random, so each repetition would be the same; run once: once" in said
    assert "1 runs made" in said
    assert out.splitlines()[-1] == "once: 1 of 1 runs met all requirements"


def test_random_values_make_repetitions_differ(place: Path) -> None:
    text = (
        "study: a\nscenario: certain.yaml\nvary: {streams.*.offset: {uniform: [10 us, 40 us], step: 10 us}}\n"
        "repeat: 200\n"
    )
    scenario = (place / "certain.yaml").read_text(encoding="utf-8")
    found = design(read(place, text), scenario)
    assert len(found.runs) == 200
    assert not found.once
    whole = Source(read(place, text), scenario)
    drawn = [dict(drawn_values(whole, run.seed)) for run in found.runs]
    assert set(drawn[0]) == {"streams.loop.offset", "streams.files.offset"}
    for path in drawn[0]:
        often = [
            sum(one[path] == f"{value} ns" for one in drawn) for value in (10_000, 20_000, 30_000, 40_000)
        ]
        assert sum(often) == 200
        assert all(30 <= count <= 70 for count in often)
    assert sum(one["streams.loop.offset"] == one["streams.files.offset"] for one in drawn) < 80
    planned = whole.scenario(found.runs[7])
    assert planned.streams["loop"].pattern.offset == int(drawn[7]["streams.loop.offset"].split()[0])


def drawn_of(place: Path, distribution: str, repeat: int = 400) -> list[str]:
    text = (
        f"study: a\nscenario: certain.yaml\nvary: {{streams.loop.offset: {distribution}}}\nrepeat: {repeat}\n"
    )
    scenario = (place / "certain.yaml").read_text(encoding="utf-8")
    whole = Source(read(place, text), scenario)
    runs = design(read(place, text), scenario).runs
    return [dict(drawn_values(whole, run.seed))["streams.loop.offset"] for run in runs]


def test_chosen_values_are_equally_probable(place: Path) -> None:
    found = Counter(drawn_of(place, "{choose: [0 us, 10 us, 25 us, 70 us]}"))
    assert set(found) == {"0 us", "10 us", "25 us", "70 us"}
    assert all(70 <= count <= 130 for count in found.values())


def test_a_normal_distribution_has_its_mean_and_deviation_on_its_grid(place: Path) -> None:
    values = [int(text.split()[0]) for text in drawn_of(place, "{normal: [100 us, 10 us], step: 500 ns}")]
    assert all(value % 500 == 0 for value in values)
    # The mean of 400 draws has a deviation of 0.5 us; 4 of them are 2 us.
    assert abs(statistics.mean(values) - 100_000) < 2_000
    assert 9_000 < statistics.pstdev(values) < 11_000
    within = sum(abs(value - 100_000) <= 10_000 for value in values)
    assert 240 <= within <= 305, "68 % are within one deviation"


def test_draws_beyond_the_ends_are_the_ends(place: Path) -> None:
    ends = "{normal: [20 us, 20 us], step: 1 us, most: 30 us}"
    values = [int(text.split()[0]) for text in drawn_of(place, ends)]
    # 0 unless given: a time is not negative.
    assert (min(values), max(values)) == (0, 30_000)
    assert values.count(0) > 40
    assert values.count(30_000) > 80


def test_only_changed_plans_run_again(place: Path) -> None:
    both = "parameters: {who: {one: loop, two: files}}\n" + (place / "port.yaml").read_text(encoding="utf-8")
    study_text = "study: again\nscenario: both.yaml\nvary: {duration: [1 ms, 2 ms]}\n"
    (place / "both.yaml").write_text(
        both.replace("payload: 100 B", "payload: 100 B, start: ${start}").replace(
            "{who: {one: loop, two: files}}", "{start: [0 us, 100 us]}"
        ),
        encoding="utf-8",
    )
    assert "4 runs made, 0 were there already" in made(place, study_text)[1]
    assert "0 runs made, 4 were there already" in made(place, study_text)[1]
    text = (place / "both.yaml").read_text(encoding="utf-8")
    (place / "both.yaml").write_text(text.replace("[0 us, 100 us]", "[0 us, 150 us]"), encoding="utf-8")
    made(place, study_text)
    rows = rows_of(place / "made/runs.csv")
    assert [(row["duration"], row["start"], row["reused"]) for row in rows] == [
        (duration, start, str(start == "0 us"))
        for duration in ("1 ms", "2 ms")
        for start in ("0 us", "150 us")
    ]


def test_another_engine_repeats_all_runs_with_a_note(place: Path) -> None:
    text = "study: built\nscenario: port.yaml\nrepeat: 2\n"
    made(place, text)
    path = place / "made/study.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    earlier = "0123456789abcdef"
    assert content["engine"] == engine.identity()
    # The list as the engine wrote it before the last change of the sources.
    content["engine"] = earlier
    for run in content["runs"]:
        run["id"] = run["id"][::-1]
    path.write_text(json.dumps(content), encoding="utf-8")
    _, said = study(place, "work", "made", code=2)
    assert "of another build of tsnbench, 0123456789abcdef" in said
    _, said = made(place, text)
    assert f"the engine changed, {earlier} to {engine.identity()}: all runs are made anew" in said


def test_a_changed_source_or_native_module_is_another_engine(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room/one.py").write_text("a = 1\n")
    (tmp_path / "_native.abi3.so").write_bytes(b"1")
    first = engine.identity_of(tmp_path)
    (tmp_path / "notes.txt").write_text("not of the engine")
    assert engine.identity_of(tmp_path) == first
    (tmp_path / "room/one.py").write_text("a = 2\n")
    second = engine.identity_of(tmp_path)
    (tmp_path / "_native.abi3.so").write_bytes(b"2")
    assert len({first, second, engine.identity_of(tmp_path)}) == 3


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("{streams.loop.priod: [1 ms]}", "study.yaml:3:28: streams.loop.priod: expected a key of a stream"),
        ("{streams.loop.pcp: [9]}", "study.yaml:3:26: streams.loop.pcp: expected"),
        ("{streams.lop.pcp: [6]}", "hint: did you mean loop?"),
        ("{streams.loop.period: {uniform: [1 ms, 2 ms], step: 3 us}}", "expected a step that leads"),
        ("{streams.loop.period: {uniform: [1 ms, 2 s], step: 3 B}}", "expected three values of one kind"),
        ("{streams.loop.period: {gamma: [1 ms, 2 s]}}", "expected a key of a distribution, found gamma"),
        (
            "{streams.loop.period: {normal: [1 ms, 2 us]}}",
            "expected a step, the grid of the values, found none",
        ),
        (
            "{streams.loop.period: {normal: [1 ms, 2 B], step: 1 us}}",
            "expected values of one kind, found 1 ms",
        ),
        ("{streams.loop.period: {normal: [1 ms, 2 us], step: 0 us}}", "expected a step above 0"),
        (
            "{streams.loop.period: {normal: [1 ms, 2 us], step: 1 us, least: 2 ms, most: 1 ms}}",
            "most: expected at least 2 ms, found 1 ms",
        ),
        ("{streams.loop.period: {choose: [1 ms], step: 1 us}}", "expected no step beside choose, found 1 us"),
        (
            "{streams.loop.period: {uniform: [1 ms, 2 ms], step: 1 ms, least: 1 ms}}",
            "no least beside uniform",
        ),
        ("{streams.loop.period: {step: 1 us}}", "expected one of uniform, normal, choose, found none"),
        (
            "{streams.loop.period: {choose: [1 ms], normal: [1 ms, 1 us]}}",
            "expected one of uniform, normal, choose, found normal and choose",
        ),
        ('{"faults[0].at": [1 ms]}', "expected a key of the scenario"),
    ],
)
def test_mistakes_have_their_place_in_the_study(place: Path, vary: str, message: str) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        wanted(place, f"study: a\nscenario: port.yaml\nvary: {vary}\n")
    assert message in str(caught.value)


def test_a_renamed_stream_repeats_the_plans_that_have_it(place: Path) -> None:
    head, _, _ = (place / "port.yaml").read_text(encoding="utf-8").partition("streams:")
    loop = "loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B}"
    files = "files: {from: disk, to: robot, pcp: 0, poisson: 100 Mbit/s, payload: 1472 B}"
    video = "video: {from: disk, to: robot, pcp: 0, period: 1 ms, payload: 200 B}"
    swept = place / "swept.yaml"
    swept.write_text(
        f"parameters:\n  more:\n    no: {{{loop}, {files}}}\n    one: {{{loop}, {files}, {video}}}\n"
        f"{head}streams: ${{more}}\n",
        encoding="utf-8",
    )
    text = "study: named\nscenario: swept.yaml\nrepeat: 3\n"
    assert "6 runs made, 0 were there already" in made(place, text)[1]
    swept.write_text(swept.read_text(encoding="utf-8").replace("video", "camera"), encoding="utf-8")
    made(place, text)
    reused = [(row["more"], row["reused"]) for row in rows_of(place / "made/runs.csv")]
    assert reused == [("no", "True")] * 3 + [("one", "False")] * 3
