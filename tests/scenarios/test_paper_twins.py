"""Twins of a paper's testbed: what is fitted, what is held out, and how wide a prediction is."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from paper_figures import fitting
from paper_figures.fitting import GRANULARITY_NS, Fit, Simulated, minimum, residual
from paper_figures.number import number
from paper_figures.prediction import interval, student
from paper_figures.printed import PAPERS, Paper, papers, read
from paper_figures.quantity import Quantity
from paper_figures.twins import Latency, Twin, scenario, twin

TWINS = [(paper, own) for paper in papers() for own in paper.twins]
ROWS = re.compile(r'("ex-mq1\[(\d)\]": )\[(.*)\]')


def changed(folder: Path, rows: Callable[[str], bool]) -> tuple[Paper, Twin]:
    """EnGINE's printed numbers, with other ones in these rows of Table 9."""

    def other(found: re.Match[str]) -> str:
        if not rows(found[2]):
            return found[0]
        numbers = [f'"{float(one) * 1.7 + 1:.2f}"' for one in re.findall(r'"([\d.]+)"', found[3])]
        return f"{found[1]}[{', '.join(numbers)}]"

    text = (PAPERS / "engine/printed.yml").read_text(encoding="utf-8")
    file = folder / "engine/printed.yml"
    file.parent.mkdir(parents=True)
    file.write_text(ROWS.sub(other, text), encoding="utf-8")
    paper = read(file)
    (own,) = (one for one in paper.twins if one.name == "ex-mq1")
    return paper, replace(own, fit=("1", "2"), predict=("3", "4", "5", "6", "7"))


def test_a_fit_does_not_read_what_is_held_out(tmp_path: Path) -> None:
    """With other numbers in all rows that are held out it is the same, octet by octet."""
    made = [
        changed(tmp_path / name, rows)
        for name, rows in (
            ("as printed", lambda _: False),
            ("held out", lambda row: row not in "12"),
            ("fitted", lambda row: row in "12"),
        )
    ]
    as_printed, held_out = (fitting.fit(*one, duration="3 ms", rounds=1).text() for one in made[:2])
    assert as_printed == held_out
    read_by_fit = [fitting.printed(paper, own, own.fit) for paper, own in made]
    assert read_by_fit[0] == read_by_fit[1] != read_by_fit[2]


@pytest.mark.parametrize(("paper", "own"), TWINS, ids=[own.name for _, own in TWINS])
def test_a_twin_is_what_was_fitted(paper: Paper, own: Twin) -> None:
    """Its scenario has the parameters of the fit, and every row of the tables is fitted or held out."""
    found = Fit.read(paper.folder, own)
    original = (PAPERS / paper.folder / f"{own.scenario}.yaml").read_text(encoding="utf-8")
    text = (PAPERS / paper.folder / f"twins/{own.name}.yaml").read_text(encoding="utf-8")
    head = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("#"))
    assert text == scenario(original, own, found.parameters, head)
    assert set(found.without) == set(own.fit)


def test_every_row_of_a_table_is_fitted_or_held_out() -> None:
    for paper in papers():
        rows: dict[str, set[str]] = {}
        for own in paper.twins:
            rows.setdefault(own.scenario, set()).update((*own.fit, *own.predict))
        tables = [one for figure in paper.figures for one in figure.entries if one.table and not one.given]
        numbers = [one.quantity for one in tables if not one.quantity.path.startswith("plan.")]
        assert not [str(one) for one in numbers if one.file in rows and one.variant not in rows[one.file]]


def test_secret_parameters_are_found() -> None:
    """Numbers that a twin gave, with four digits: the fit finds what hosts usually take within 3 %."""
    own = Twin("t", "ex-ts", "zgw1", ("deadline 200 us 1", "deadline 200 us 2"), (), {"flow4": "driver-rx"})
    text = (PAPERS / "engine/ex-ts.yaml").read_text(encoding="utf-8")
    simulated = Simulated(
        own, text.replace("[1, 2, ... 7]", "[1, 2]").replace("[200 us, 450 us]", "[200 us]"), "20 ms"
    )
    secret = [math.log(one) for one in (14.0, 6.0, 0.05, 30.0, 240.0, 8.0, 0.02, 100.0)]
    paths = [f"{kind}.{of}" for kind in ("delay", "jitter") for of in ("mean", "median", "p99")]
    wanted = [Quantity("ex-ts", row, "flow4", path) for row in own.fit for path in paths]
    printed = {}
    for one, value in simulated.values(secret, wanted).items():
        shown = number(f"{value / 1_000:.4f} us")
        assert shown is not None
        printed[one] = shown
    found = minimum(simulated, printed, [math.log(one) for one in fitting.START], rounds=5)
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
    own = Latency.of((100.0, 8.0, 0.04, 50.0))
    histogram = own.histogram()
    values = [int(one.split()[0]) for one in histogram["values"]]
    counts = histogram["counts"]
    mean = sum(value * part for value, part in zip(values, counts, strict=True)) / sum(counts)
    # The tail begins where the band ends, and is `longer` behind it on average.
    assert mean == pytest.approx(100_000 + 0.04 * (4_000 + 50_000), rel=1e-3)
    assert min(values) > 96_000


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
    keys = {"scenario": "s", "talker": "t", "fit": ["1"], "predict": ["2"], "streams": {"f": ""}}
    assert twin("t", keys).predict == ("2",)
    with pytest.raises(ValueError, match="fitted and held out: 1"):
        twin("t", keys | {"predict": ["1"]})
    with pytest.raises(ValueError, match="see wrong"):
        twin("t", keys | {"wrong": 1})
