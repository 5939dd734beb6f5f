"""Twins of a paper's testbed: what is fitted, what is held out, and how wide a prediction is."""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist, fmean

import pytest
from paper_figures import fitting
from paper_figures.fitting import GRANULARITY_NS, Fit, Simulated, minimum, residual, with_hosts
from paper_figures.number import PrintedNumber, number
from paper_figures.prediction import interval, student
from paper_figures.printed import PAPERS, Entry, Paper, papers
from paper_figures.quantity import Quantity
from paper_figures.recording import Recorded
from paper_figures.twins import Band, Lognormal, Twin, hosts, scenario, twin
from paper_figures.verdicts import Verdict, judge

from tsnbench.scenario import load_variants

TWINS = [(paper, own) for paper in papers() for own in paper.twins]
NAMES = [own.name for _, own in TWINS]


def changed(paper: Paper, own: Twin, rows: Collection[str]) -> Paper:
    """A paper with other printed numbers in these rows."""

    def other(entry: Entry) -> Entry:
        if not entry.table or entry.given or entry.number is None:
            return entry
        if own.row(entry.table, entry.quantity) not in rows:
            return entry
        shown = float(entry.printed.removeprefix("< ").partition(" ")[0])
        return replace(entry, number=number(f"{shown * 1.7 + 1:.4f} us"))

    figures = (replace(one, entries=tuple(map(other, one.entries))) for one in paper.figures)
    return replace(paper, figures=tuple(figures))


@pytest.mark.parametrize(("paper", "own"), TWINS, ids=NAMES)
def test_a_fit_does_not_read_what_is_held_out(paper: Paper, own: Twin) -> None:
    read = fitting.printed(paper, own, own.fit)
    assert {row for row, _ in read} == set(own.fit)
    assert fitting.printed(changed(paper, own, own.predict), own, own.fit) == read
    assert fitting.printed(changed(paper, own, own.fit), own, own.fit) != read


def test_a_fit_is_the_same_with_other_numbers_in_what_is_held_out() -> None:
    """Octet by octet."""
    paper, own = next(one for one in TWINS if one[1].name == "ex-mq1")
    own = replace(own, fit=("1", "2"), predict=("3", "4", "5", "6", "7"), duration="3 ms")
    as_printed, held_out = (
        fitting.fit(one, own, rounds=1).text() for one in (paper, changed(paper, own, own.predict))
    )
    assert as_printed == held_out


@pytest.mark.parametrize(("paper", "own"), TWINS, ids=NAMES)
def test_a_twin_is_what_was_fitted(paper: Paper, own: Twin) -> None:
    """Its scenarios have the parameters of the fit."""
    found = Fit.read(paper.folder, own)
    assert set(found.without) == set(own.fit)
    for file, original in own.scenarios.items():
        before = (PAPERS / paper.folder / f"{original}.yaml").read_text(encoding="utf-8")
        text = (PAPERS / paper.folder / f"twins/{file}.yaml").read_text(encoding="utf-8")
        head = text[: text.index("name:")]
        assert text == scenario(before, own, file, found.parameters, head)
        assert all(old in before for old in own.changes)


@pytest.mark.parametrize("name", ["trdp-tsn", "ex-uct-strict"])
def test_a_fit_simulates_what_is_written(name: str, tmp_path: Path) -> None:
    """A Plan of the run with other hosts is that of the text with them."""
    own = next(one for _, one in TWINS if one.name == name)
    paper = next(paper for paper, one in TWINS if one is own)
    texts = {
        file: (PAPERS / paper.folder / f"{original}.yaml").read_text(encoding="utf-8")
        for file, original in own.scenarios.items()
    }
    parameters = [one * 0.9 for one in own.start]
    software = hosts(own, parameters)
    for file, run in Simulated(own, texts).runs:
        (tmp_path / f"{file}.yaml").write_text(scenario(texts[file], own, file, parameters), encoding="utf-8")
        written = next(one for one in load_variants(tmp_path / f"{file}.yaml") if one.variant == run.variant)
        assert with_hosts(run, software).hosts == written.hosts
        break


def test_every_row_of_a_table_is_fitted_or_held_out() -> None:
    for paper in papers():
        of_twins = {
            (file, stream) for own in paper.twins for file in own.scenarios.values() for stream in own.streams
        }
        tables = [one for figure in paper.figures for one in figure.entries if one.table and not one.given]
        numbers = [one for one in tables if not one.statement and not one.quantity.path.startswith("plan.")]
        without = [one for one in numbers if one.twin is None]
        assert not [one.what for one in without if (one.quantity.file, one.quantity.subject) in of_twins]


def test_a_crosswise_twin_is_the_first_one_with_other_rows() -> None:
    first = {own.name: own for _, own in TWINS if not own.crosswise}
    crosswise = [own for _, own in TWINS if own.crosswise]
    assert crosswise
    for own in crosswise:
        other = first[own.name.removesuffix("-across")]
        assert (own.fit, own.predict) == (other.predict, other.fit)
        assert (own.latencies, own.changes, own.streams) == (other.latencies, other.changes, other.streams)
        assert own.start == other.start


def test_each_number_is_judged_by_the_twin_that_has_not_seen_it() -> None:
    for paper in papers():
        figures = judge(paper, Recorded.read().values)
        numbers = [one for each in figures for one in each.compared if one.entry.twin and one.twin]
        unseen = {one.entry.twin for one in numbers if one.entry.twin and one.inside is not None}
        for one in numbers:
            own = one.entry.twin
            assert own
            assert (own.row(one.entry.table, one.entry.quantity) in own.predict) is (one.inside is not None)
            if own.crosswise and one.verdict is not Verdict.PREDICTED:
                assert one.verdict is Verdict.FITTED
        assert {own for own in paper.twins if own.crosswise} <= unseen


def test_secret_parameters_are_found() -> None:
    """Numbers that a twin gave, with four digits: the fit finds what hosts usually take within 3 %."""
    rows = ("deadline 200 us 1", "deadline 200 us 2")
    latencies = {"zgw1 tx": "band", "default kernel-rx": "band"}
    own = Twin("t", {"t": "ex-ts"}, latencies, rows, (), {"flow4": "driver-rx"}, duration="20 ms")
    text = (PAPERS / "engine/ex-ts.yaml").read_text(encoding="utf-8")
    text = text.replace("[1, 2, ... 7]", "[1, 2]").replace("[200 us, 450 us]", "[200 us]")
    simulated = Simulated(own, {"t": text})
    secret = [math.log(one) for one in (14.0, 6.0, 0.05, 30.0, 240.0, 8.0, 0.02, 100.0)]
    paths = [f"{kind}.{of}" for kind in ("delay", "jitter") for of in ("mean", "median", "p99")]
    wanted = [Quantity("ex-ts", row, "flow4", path) for row in own.fit for path in paths]
    printed: dict[fitting.Number, PrintedNumber] = {}
    for one, value in simulated.values(secret, wanted).items():
        shown = number(f"{value / 1_000:.4f} us")
        assert shown is not None
        printed[one.variant, one] = shown
    found = minimum(simulated, printed, [math.log(one) for one in own.start], rounds=5)
    usual = [math.exp(found[place]) for place in (0, 4)]
    assert usual == pytest.approx([14.0, 240.0], rel=0.03)


def test_a_residual_is_what_the_print_does_not_leave_open() -> None:
    shown = number("0.03 ms")
    assert shown is not None
    assert residual(shown, 25_000) == residual(shown, 35_000) == 0
    assert residual(shown, 70_000) == pytest.approx(math.log(35 / 70))
    assert residual(shown, 12_500) == pytest.approx(math.log(25 / 12.5))
    fine = number("4.2900 us")
    assert fine is not None
    assert residual(fine, 4_290 + GRANULARITY_NS / 2) == 0


def test_what_a_stage_takes_on_average() -> None:
    own = Band.of((100.0, 8.0, 0.04, 50.0))
    histogram = own.histogram()
    values = [int(one.split()[0]) for one in histogram["values"]]
    counts = histogram["counts"]
    mean = sum(value * part for value, part in zip(values, counts, strict=True)) / sum(counts)
    # The tail begins where the band ends, and is `longer` behind it on average.
    assert mean == pytest.approx(100_000 + 0.04 * (4_000 + 50_000), rel=1e-3)
    assert min(values) > 96_000


def test_a_lognormal_stage_takes_its_mean() -> None:
    histogram = Lognormal.of((120.0, 0.8)).histogram()
    values = [int(one.split()[0]) for one in histogram["values"]]
    mean = fmean(values)
    assert mean == pytest.approx(120_000, rel=1e-5)
    assert histogram["counts"] == [1] * 20
    # Twice the mean, times how much more than half of a normal distribution is below half of sigma.
    deviation = fmean(abs(value - mean) for value in values)
    assert deviation == pytest.approx(2 * mean * (2 * NormalDist().cdf(0.4) - 1), rel=0.05)


def test_a_row_is_named_by_its_parameters_its_table_or_its_stream() -> None:
    keys = {"scenario": "s", "latencies": {"a tx": "band"}, "streams": {"f": "", "g": ""}}
    own = twin("t", keys | {"fit": ["T: 1", "2 f"], "predict": ["2"]})
    named = {
        (table, variant, stream): own.row(table, Quantity("s", variant, stream, "delay.mean"))
        for table in "TU"
        for variant in "12"
        for stream in "fgh"
    }
    assert {one: row for one, row in named.items() if row} == {
        ("T", "1", "f"): "T: 1",
        ("T", "1", "g"): "T: 1",
        ("T", "2", "f"): "2 f",
        ("U", "2", "f"): "2 f",
        ("T", "2", "g"): "2",
        ("U", "2", "g"): "2",
    }


def test_the_quantile_of_students_t() -> None:
    """Printed in every table of it; 1 and 2 degrees of freedom have closed forms."""
    assert student(1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-6)
    share = 0.95
    assert student(2) == pytest.approx(share * math.sqrt(2 / (1 - share**2)), rel=1e-6)
    assert [round(student(one), 3) for one in (3, 5, 10, 30)] == [3.182, 2.571, 2.228, 2.042]


def test_one_number_in_each_row_gives_the_interval_of_their_mean_square() -> None:
    rows = {"1": [0.2], "3": [-0.1], "5": [0.3]}
    found = interval(1_000, rows)
    half = student(3) * math.sqrt(fmean(one[0] ** 2 for one in rows.values()))
    assert (found.least, found.most) == pytest.approx((1_000 * math.exp(-half), 1_000 * math.exp(half)))


@pytest.mark.parametrize(("of_row", "own"), [(0.3, 0.1), (0.0, 0.2), (0.1, 0.3)])
def test_new_numbers_are_within_the_interval_as_often_as_it_says(of_row: float, own: float) -> None:
    drawn = random.Random(1)

    def row(count: int) -> list[float]:
        common = drawn.gauss(0, of_row)
        return [common + drawn.gauss(0, own) for _ in range(count)]

    inside = 0
    for _ in range(1_000):
        found = interval(1.0, {str(place): row(4) for place in range(3)})
        inside += found.least <= math.exp(row(1)[0]) <= found.most
    assert inside >= 930, inside


def test_a_row_is_fitted_or_held_out_and_every_key_is_known() -> None:
    keys = {
        "scenario": "s",
        "latencies": {"t tx": "band"},
        "fit": ["1"],
        "predict": ["2"],
        "streams": {"f": ""},
    }
    assert twin("t", keys).predict == ("2",)
    with pytest.raises(ValueError, match="fitted and held out: 1"):
        twin("t", keys | {"predict": ["1"]})
    with pytest.raises(ValueError, match="see wrong"):
        twin("t", keys | {"wrong": 1})
    with pytest.raises(ValueError, match="expected band or lognormal; see wrong"):
        twin("t", keys | {"latencies": {"t tx": "wrong"}})
