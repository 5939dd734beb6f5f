"""A program compares printed figures: the comparison, the recorded results, the generated tables."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from paper_figures.expression import evaluate
from paper_figures.number import number
from paper_figures.page import FRONT, OVERVIEW, blocks, details, front, overview
from paper_figures.printed import PAPERS, Paper, PrintedError, papers, read
from paper_figures.quantity import Quantity, parse
from paper_figures.recording import Recorded, shipped, take
from paper_figures.taking import NoQuantityError, Taken
from paper_figures.verdicts import Compared, Verdict, compare, judge

from support.shipped import MS, simulated, variants
from tsnbench.backends.simulation import Simulation
from tsnbench.measure import measure_run
from tsnbench.planning import plan
from tsnbench.runs import Run

ALL = papers()
FOLDERS = [paper.folder for paper in ALL]
QUICK = (
    "cots/ex-c1",
    "engine/ex-ucc-f",
    "flextest/frame-sizes",
    "flextest/sender-precision",
    "ocora/frer",
    "ocora/planned-windows",
    "ocora/trdp-ring",
    "ocora/two-windows",
)
"""The tests run these again, at their own durations: small runs of each kind."""


@pytest.mark.parametrize(
    ("printed", "ours", "agrees"),
    [
        ("12.0 us", 12_049, True),
        ("12.0 us", 12_051, False),
        ("12 us", 12_499, True),
        ("0.03 ms", 9_840, False),
        ("52 to 53 us", 51_150, False),
        ("52 to 53 us", 53_499, True),
        ("< 14 ns", 14, False),
        ("< 14 ns", 13.9, True),
        ("<= 96 %", 0.96, True),
        ("97.96 %", 0.97964, True),
        ("97.96 %", 0.9797, False),
        ("-998784 ns", -998_784, True),
        ("-998784 ns", -998_785, False),
        ("250 Mbit/s", 250_400_000, True),
    ],
)
def test_a_result_agrees_if_it_rounds_to_the_printed_number(printed: str, ours: float, agrees: bool) -> None:
    found = number(printed)
    assert found is not None
    assert found.agrees(ours) is agrees


def test_a_stated_tolerance_replaces_that_of_the_printed_number() -> None:
    found = number("230 Mbit/s", "5 Mbit/s")
    assert found is not None
    assert found.agrees(234.9e6)
    assert not found.agrees(235.1e6)


def test_a_unit_has_to_be_known() -> None:
    assert number("YES*") is None
    with pytest.raises(ValueError, match="parsec"):
        number("3 parsec")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("a < b", True),
        ("b < a", False),
        ("several > a", False),  # not for all of them
        ("several >= a", True),
        ("increasing(several)", True),
        ("increasing([b, a])", False),
        ("steps(several) == [1, 2]", True),
        ("abs(several - 2) <= 2 * ns", True),
        ("a < b < 3 and not b < a", True),
        ("grade(1, 1, 3, 2)", "YES*"),
        ("grade(1, 1, 2, 2)", "YES"),
        ("grade(3, 1, 3, 2)", "NO"),
        ("near(several[2], 5, 0.2)", True),
        ("near(several[2], 5, 0.1)", False),
    ],
)
def test_conditions(condition: str, holds: object) -> None:
    assert evaluate(condition, {"a": 1, "b": 2, "several": [1, 2, 4]}) == holds


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.real", "unknown < 1", "[a for a in several]", "a if a else b"]
)
def test_a_condition_is_arithmetic_alone(text: str) -> None:
    with pytest.raises(ValueError, match="no arithmetic"):
        evaluate(text, {"a": 1, "several": [1]})


def test_a_name_of_several_quantities_keeps_their_order() -> None:
    found = parse("ex-mq1[1|2] flow4|flow3 delay.mean")
    assert [str(one) for one in found.members] == [
        "ex-mq1[1] flow4 delay.mean",
        "ex-mq1[1] flow3 delay.mean",
        "ex-mq1[2] flow4 delay.mean",
        "ex-mq1[2] flow3 delay.mean",
    ]
    assert parse("tas[1 15 us alone] dut -> node0 plan.open-rate.3").members == (
        Quantity("tas", "1 15 us alone", "dut -> node0", "plan.open-rate.3"),
    )


FIGURE = """
paper: P
heading: H
figures:
  - figure: Fig. 1
    what: w
    scenarios: [spq]
"""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("    wrong: 1\n", "unknown wrong"),
        ("    values: {a: 'spq[alone] x delay.mean'}\n", "values that nothing uses: a"),
        ("    statements: [{says: s, where: here, holds: b < 1}]\n", "no values b"),
        (
            "    tables: [{where: T, columns: [delay.mean], rows: {'spq[alone] x': ['1', '2']}}]\n",
            "expected 1 numbers",
        ),
        (
            "    numbers: [{what: n, where: w, printed: 1 us, ours: s x delay.max, tolerance: {of: 1 us}}]\n",
            "a size .of. and a reason",
        ),
    ],
)
def test_a_file_of_printed_numbers_is_read_strictly(more: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "printed.yml"
    path.write_text(FIGURE + more)
    with pytest.raises(PrintedError, match=words):
        read(path)


def _compared(paper: Paper) -> list[tuple[str, Compared]]:
    recorded = Recorded.read()
    return [(one.figure.name, compared) for one in judge(paper, recorded.values) for compared in one.compared]


@pytest.mark.parametrize("paper", ALL, ids=FOLDERS)
def test_exactly_the_differing_numbers_have_a_reason(paper: Paper) -> None:
    """One reason covers all numbers of a table, some of which differ."""
    found = _compared(paper)
    silent = [
        (name, one.entry.what) for name, one in found if one.verdict is Verdict.DIFFERS and not one.entry.why
    ]
    assert not silent
    without_a_twin = (Verdict.DIFFERS, Verdict.PREDICTED, Verdict.FITTED)
    differing = {
        (name, one.entry.table or one.entry.what) for name, one in found if one.verdict in without_a_twin
    }
    stale = [
        (name, one.entry.what)
        for name, one in found
        if one.entry.why and (name, one.entry.table or one.entry.what) not in differing
    ]
    assert not stale


@pytest.mark.parametrize("paper", ALL, ids=FOLDERS)
def test_every_reason_of_a_number_is_supported_by_an_experiment(paper: Paper) -> None:
    results = Recorded.read().values
    figures = judge(paper, results)
    whys = {one.entry.why for each in figures for one in each.of(Verdict.DIFFERS, statements=False)}
    shown = [compare(one, paper.folder, results) for one in paper.experiments]
    assert not [one.entry.what for one in shown if one.verdict is not Verdict.STATEMENT_HOLDS]
    assert {one.entry.why for one in shown} == whys


def test_another_result_is_another_verdict() -> None:
    """A figure that is met differs if the result is 10 % off."""
    (entry,) = (
        one
        for paper in ALL
        for figure in paper.figures
        for one in figure.entries
        if figure.name == "Table V" and one.what == "slots of 500 us: min"
    )
    recorded = Recorded.read().values
    assert compare(entry, "flextest", recorded).verdict is Verdict.FIGURE_MET
    spoilt = {name: value * 1.1 for name, value in recorded.items()}
    assert compare(entry, "flextest", spoilt).verdict is Verdict.DIFFERS
    (statement,) = (
        one
        for paper in ALL
        for figure in paper.figures
        for one in figure.entries
        if figure.name == "Fig. 11" and one.what.startswith("without cross traffic latency")
    )
    assert compare(statement, "flextest", recorded).verdict is Verdict.STATEMENT_HOLDS
    assert (
        compare(replace(statement, expression="not increasing(alone)"), "flextest", recorded).verdict
        is Verdict.DIFFERS
    )


def test_the_overview_is_what_the_program_writes() -> None:
    text = OVERVIEW.read_text(encoding="utf-8")
    recorded = Recorded.read().values
    assert sorted(blocks(text)) == FOLDERS
    judged = {paper.folder: (paper, judge(paper, recorded)) for paper in ALL}
    assert overview(text, judged) == text, "write it anew: make papers PAPERS=--tables"
    page = FRONT.read_text(encoding="utf-8")
    figures = [one for _, several in judged.values() for one in several]
    assert front(page, figures) == page
    assert front(page, []) != page


@pytest.mark.parametrize("paper", ALL, ids=FOLDERS)
def test_the_list_of_all_numbers_is_what_the_program_writes(paper: Paper) -> None:
    results = Recorded.read().values
    made = details(paper, judge(paper, results), results)
    assert (PAPERS / paper.folder / "figures.md").read_text(encoding="utf-8") == made


OURS = {"flextest/matrix"}
"""Scenarios of studies for which the paper prints no figure."""


def test_every_scenario_of_a_paper_is_compared_and_every_file_exists() -> None:
    listed = {
        f"{paper.folder}/{name}" for paper in ALL for figure in paper.figures for name in figure.scenarios
    } | {f"{paper.folder}/{one.file}" for paper in ALL for own in paper.experiments for one in own.quantities}
    assert listed | OURS == {
        str(path.relative_to(PAPERS).with_suffix("")) for path in shipped() if path.is_relative_to(PAPERS)
    }
    for paper in ALL:
        for figure in paper.figures:
            used = {one.file for one in figure.quantities()}
            extra = used - set(figure.scenarios)
            assert not extra - {name for other in paper.figures for name in other.scenarios}, figure.name


def test_results_are_of_the_scenarios_own_durations() -> None:
    for name, duration in Recorded.read().durations_ns.items():
        assert {run.duration for run in variants(f"papers/{name}").values()} == {duration}, name


@pytest.mark.parametrize("name", QUICK)
def test_recorded_results_are_up_to_date(name: str, tmp_path: Path) -> None:
    folder, _, file = name.partition("/")
    paper = next(paper for paper in ALL if paper.folder == folder)
    wanted = paper.quantities()[file]
    runs = []
    for place, scenario in enumerate(variants(f"papers/{name}").values()):
        into = tmp_path / str(place)
        Simulation().execute(plan(scenario), into)
        measure_run(into)
        runs.append(Run.open(into))
    recorded = Recorded.read().values
    found = take(runs, wanted, PAPERS / f"{name}.yaml")
    assert found == {name: pytest.approx(recorded[name], rel=1e-12) for name in found}
    assert len(found) == len(wanted)


def test_quantities_agree_with_a_plain_join() -> None:
    """Two computations of one number: a join of observations here, the measuring engine there."""
    name, variant, duration = "papers/flextest/spq", "alone", 50 * MS
    ours = simulated(name, variant, duration)
    scenario = variants(name)[variant].model_copy(update={"duration": duration})
    with tempfile.TemporaryDirectory() as folder:
        Simulation().execute(plan(scenario), Path(folder) / "run")
        measure_run(Path(folder) / "run")
        taken = Taken(Run.open(Path(folder) / "run"))

        def value(subject: str, path: str) -> float:
            return taken.value(Quantity("spq", variant, subject, path))

        delays = ours.delays("theta-high")
        assert value("theta-high", "delay.mean") == pytest.approx(float(delays.mean() or 0))
        assert value("theta-high", "delay.max") == delays.max()
        assert value("theta-high", "jitter.max") == delays.diff().abs().max()
        assert value("theta-high", "frames.at=12240") == (delays == 12_240).mean()
        assert value("theta-high", "frames.above=13000") == (delays > 13_000).sum()
        everything = ours.frames["delay_ns"]
        assert value("*", "frames.at=12240") == (everything == 12_240).mean()
        own = ours.frames.filter(pl.col("stream") == "theta-high").sort("seq")
        latency = own["t_rx_ns"] - own["seq"].cast(pl.Int64) * 200_000
        assert value("theta-high", "latency.max") == latency.max()
        assert value("theta-high", "latency.least-above=20000") == latency.filter(latency > 20_000).min()
        assert (
            value("theta-high", "latency.outside=10000") == ((latency - latency.mean()).abs() > 10_000).mean()
        )
        with pytest.raises(NoQuantityError, match="expected one stream nobody"):
            value("nobody", "delay.mean")
        with pytest.raises(NoQuantityError, match=r"nothing at delay\.p12"):
            value("theta-high", "delay.p12")


def test_outliers_are_those_of_a_box_plot() -> None:
    from paper_figures.taking import _outliers

    assert _outliers(pl.Series([10, 11, 12, 13, 14, 100, -100])) == 2
    assert _outliers(pl.Series([5] * 9 + [6])) == 1
    # The box is from 24 to 75, and the whiskers may reach from -52.5 to 151.5.
    assert _outliers(pl.Series([*range(101), -52, 151])) == 0
    assert _outliers(pl.Series([*range(101), -53, 152])) == 2


def test_names_of_stages_have_dashes_too() -> None:
    from paper_figures.taking import two_stages

    assert two_stages("interval-start-app-rx") == ("interval-start", "app-rx")
    assert two_stages("driver-rx") == ("driver", "rx")
    with pytest.raises(NoQuantityError, match="no two stages: driver"):
        two_stages("driver")
