"""``tsnbench reproduce``: names of figures, and printed numbers beside results in the same axes."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paper_figures.campaigns import campaigns
from paper_figures.gallery import drawing, page, panels
from paper_figures.names import find, known, slug
from paper_figures.printed import PAPERS, Figure, papers
from paper_figures.quantity import Quantity
from paper_figures.recording import Recorded
from paper_figures.repeated import Part, Repeated, beside, column, explained, part_of, place_of, words
from paper_figures.taking import NoQuantityError, Taken
from paper_figures.verdicts import Compared, JudgedFigure, Verdict, judge

from support.commands import Done, started
from tsnbench.runs import Run
from tsnbench.studies import study_file
from tsnbench.studies.design import design
from tsnbench.studies.rerun import again
from tsnbench.studies.store import Store
from tsnbench.studies.table import tables

ROOT = Path(__file__).parents[2]


def judged(name: str) -> JudgedFigure:
    paper, figure = find(name, papers())
    every = judge(paper, Recorded.read().values)
    return next(one for one in every if one.figure is figure)


def test_every_compared_figure_has_a_name_of_its_own() -> None:
    every = known(papers())
    compared = sum(any(not e.given for e in figure.entries) for paper in papers() for figure in paper.figures)
    assert len(every) == compared
    assert {"engine/fig22", "engine/table9", "ocora/fig25-28", "flextest/fig12-13", "cots/l3-fig5"} <= set(
        every
    )
    for text, name in {
        "Table 1 to 3, 7": "table1-3-7",
        "Tables 6 to 13": "table6-13",
        "Table IV": "tableiv",
        "Fig. 31, 32": "fig31-32",
    }.items():
        assert slug(Figure(text, "", (), ())) == name


def test_a_part_of_a_name_is_enough_if_it_is_one_figure() -> None:
    assert find("engine/fig24", papers())[1].name == "Fig. 23, 24"
    assert find("engine/fig21", papers())[1].name == "Table 8, Fig. 21"
    with pytest.raises(LookupError, match="found engine/fig99\nhint: engine/table8-fig21"):
        find("engine/fig99", papers())


def test_printed_numbers_and_ours_share_their_axes() -> None:
    one = judged("engine/table9")
    found = panels(one)
    recorded = Recorded.read().values
    numbers = {point.label: point for panel in found for point in panel.points if "delay.mean" in panel.title}
    label = next(label for label in numbers if label.endswith("ex-mq1[7] flow1"))
    assert numbers[label].ours[0] == pytest.approx(
        recorded["engine/ex-mq1[7] flow1 delay.mean"] / 1e6, abs=0.0006
    )
    entry = next(
        compared.entry
        for compared in one.compared
        if compared.entry.what.endswith("ex-mq1[7] flow1 delay.mean")
    )
    assert numbers[label].least == pytest.approx(float(entry.printed.split()[0]))
    made = drawing(one, "engine/table9")
    assert made is not None
    assert f"{label}: printed {numbers[label].least:g}" in made.spoken


def test_a_page_has_every_figure() -> None:
    paper, figure = find("farzaneh/fig3", papers())
    one = judged("farzaneh/fig3")
    text = page("Figures & more", [("farzaneh/fig3", paper, one)])
    assert "<title>Figures &amp; more</title>" in text
    assert 'id="farzaneh-fig3"' in text
    assert text.count("</tr>") == len(one.compared) + 1
    assert figure.what.split("&")[0][:20] in text


def test_one_command_reproduces_a_figure(tmp_path: Path) -> None:
    words = ["reproduce", "flextest/fig7", "--duration", "20 ms", "--into", str(tmp_path / "made")]
    done = started(*words, cwd=ROOT)
    assert done.returncode in (0, 1), done.stderr
    assert "flextest/fig7: " in done.stdout
    assert 'id="flextest-fig7"' in (tmp_path / "made/printed.html").read_text(encoding="utf-8")
    assert list((tmp_path / "made/frame-sizes").glob("**/manifest.json"))
    assert not (tmp_path / "made/figures").exists()  # statements alone: nothing to draw
    done = started("reproduce", "--papers", tmp_path, cwd=ROOT)
    assert done.returncode == 2
    assert "expected the papers' scenarios, found none" in done.stderr


def test_every_study_of_a_paper_has_a_list_of_runs(tmp_path: Path) -> None:
    runs = {
        "engine/hops-cs1": 7,
        "engine/hops-cs2": 7,
        "engine/hops-cm1": 70,
        "engine/hops-cm2": 70,
        "engine/hops-mq1": 70,
        "engine/hops-mq2": 70,
        "engine/hops-ts": 140,
        "engine/hops-tm": 42,
        "flextest/matrix": 8 * 2 * 5 * 5,
        "ocora/messages": 80,
        "ocora/trdp-messages": 40,
    }
    assert set(campaigns()) == set(runs)
    for name, file in campaigns().items():
        made = study_file.read(file)
        wanted = design(made, made.scenario.read_text(encoding="utf-8"))
        assert len(wanted.runs) == runs[name], name


def test_one_command_runs_a_study(tmp_path: Path) -> None:
    papers_ = tmp_path / "papers"
    shutil.copytree(ROOT / "scenarios/papers", papers_)
    scenario = papers_ / "engine/ex-cs1.yaml"
    scenario.write_text(
        scenario.read_text(encoding="utf-8").replace("duration: 10 s", "duration: 10 ms"), encoding="utf-8"
    )
    words = ["--papers", str(papers_), "--into", str(tmp_path / "made")]

    def reproduce(*more: str) -> Done:
        return started("reproduce", "engine/hops-cs1", *words, *more, cwd=tmp_path)

    done = reproduce("--figures", "csv,pgf")
    # All runs met, and printed numbers differ.
    assert done.returncode == 1, done.stderr
    assert "engine-hops-cs1: 7 of 7 runs met all requirements" in done.stdout
    assert "mean delay over 7 hops, EX_CS1: printed 1.43 ms, ours 0.069 ms: differs" in done.stdout
    assert "engine/hops-cs1: **figure met** 1 of 3" in done.stdout
    assert (tmp_path / "made/intervals.csv").exists()
    page_ = (tmp_path / "made/report.html").read_text(encoding="utf-8")
    assert '<h2 id="printed">' in page_
    assert "differs: each hop of the paper is a Linux host" in page_
    assert "A cross is a number that the paper prints." in page_
    with (tmp_path / "made/figures/study-delay.csv").open() as file:
        rows = {row["hops"]: row for row in csv.DictReader(file)}
    assert rows["7"]["printed_us_least"] == "1430.0"
    assert [rows[hops]["printed_us_least"] for hops in "123456"] == [""] * 6
    assert float(rows["7"]["mean_us"]) == pytest.approx(69.264)
    assert (tmp_path / "made/figures/study-printed-jitter-delay-step-mean.pgf").exists()
    done = reproduce("--figures", "gif")
    assert done.returncode == 2
    assert "--figures: expected svg, pdf, png, pgf or csv, found gif" in done.stderr
    done = reproduce("--duration", "1 s")
    assert done.returncode == 2
    assert "--duration: not for a study" in done.stderr


def test_a_study_repeats_the_numbers_of_its_scenario_alone() -> None:
    part = part_of(papers(), PAPERS / "engine/ex-mq1.yaml")
    numbers = [one for one in part.entries if not one.statement]
    # Table 9: delay and jitter of four flows, mean, median and p99, over 1 to 7 hops.
    assert len(numbers) == 2 * 4 * 3 * 7
    assert {place.path for one in numbers if (place := place_of(one))} == {
        f"{kind}.{what}" for kind in ("delay", "jitter") for what in ("mean", "median", "p99")
    }
    every = {quantity.file for one in part.entries for own in one.values.values() for quantity in own.members}
    assert every == {"ex-mq1"}
    # Parameters of shapers are inputs: no study has to repeat them. The paper prints no matrix.
    assert not any(
        "plan." in quantity.path
        for one in part_of(papers(), PAPERS / "engine/ex-cm1.yaml").entries
        for own in one.values.values()
        for quantity in own.members
    )
    assert part_of(papers(), PAPERS / "flextest/matrix.yaml").entries == ()


def test_the_place_of_a_number_is_its_only_quantity() -> None:
    entries = {one.what: one for one in part_of(papers(), PAPERS / "engine/ex-cm1.yaml").entries}
    place = place_of(entries["EX_CM1, class A: mean over 7 hops"])
    assert place == Quantity("ex-cm1", "7", "flow4", "delay.mean")
    assert place_of(entries["EX_CM1, class A: per hop"]) is None


def test_columns_of_a_study_by_the_names_of_quantities() -> None:
    names = {
        "delay.mean": "delay mean",
        "jitter.p99": "delay-step-abs p99",
        "jitter.delay-step.mean": "delay-step mean",
        "count.lost": "lost",
    }
    assert {path: column(path) for path in names} == names
    assert words("interval-start-app-rx/delay.mean") == "delay mean from interval-start to app-rx"


def test_quantities_of_a_study_are_those_of_its_run_folders(tmp_path: Path) -> None:
    """Over repetitions: from the tables where they have it, else from run folders that are made again."""
    text = (PAPERS / "ocora/trdp-tsn.yaml").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("duration:"))
    (tmp_path / "trdp-tsn.yaml").write_text(text.replace(line, "duration: 40 ms"), encoding="utf-8")
    study = "study: short\nscenario: trdp-tsn.yaml\nrepeat: 2\n"
    (tmp_path / "short.yml").write_text(study, encoding="utf-8")
    command = ["study", "run", "short.yml", "--into", "made", "--no-report", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "tsnbench", *command],
        cwd=tmp_path,
        check=False,
        timeout=300,
        capture_output=True,
    )
    store = Store(tmp_path / "made")
    content, found = tables(store, store.read())
    staged = Quantity("trdp-tsn", "switch alone", "tsn", "interval-start-app-rx/delay.mean")
    plain = Quantity("trdp-tsn", "switch alone", "tsn", "jitter.mean")
    greatest = Quantity("trdp-tsn", "switch alone", "tsn", "jitter.max")
    repeated = Repeated(store, content, found, [staged, plain, greatest])
    own = [run for run in content.runs if " ".join(run.variant.values()) == "switch alone"]
    assert len(own) == 2
    each = []
    for run in own:
        assert again(store, run.id, tmp_path / run.id, report=False)
        each.append(Taken(Run.open(tmp_path / run.id)))
    for one in (staged, plain):
        values = [taken.value(one) for taken in each]
        assert values[0] != values[1]
        estimate = repeated.estimate(one)
        assert estimate.value == pytest.approx(sum(values) / 2)
        assert estimate.low is not None
        assert estimate.low < min(values)
    values = [taken.value(greatest) for taken in each]
    assert values[0] != values[1]
    assert repeated.estimate(greatest).value == max(values)
    with pytest.raises(NoQuantityError, match="no such run; there are switch alone"):
        repeated.estimate(Quantity("trdp-tsn", "nobody", "tsn", "delay.mean"))
    paper = next(one for one in papers() if one.folder == "ocora")
    every = part_of([paper], PAPERS / "ocora/trdp-tsn.yaml").entries
    entry = next(one for one in every if place_of(one) == staged)
    judged_, numbers = beside(store, Part(paper, "trdp-tsn", (entry,)), "ocora/short")
    (one,) = judged_.compared
    assert one.ours == entry.number.written(repeated.estimate(staged).value)  # type: ignore[union-attr]
    (drawn,) = numbers.curves
    (point,) = [point for point in drawn.points if point.printed]
    assert point.printed == (float(entry.number.least), float(entry.number.most))  # type: ignore[union-attr, arg-type]
    assert point.values == ("switch", "alone")
    assert point.ours == repeated.estimate(staged)


def test_a_number_that_the_single_run_meets_and_repetitions_do_not_says_so() -> None:
    part = part_of(papers(), PAPERS / "engine/ex-cs1.yaml")
    entry = next(one for one in part.entries if one.what == "mean jitter")
    assert not entry.why
    made = explained(Compared(entry, "0.9 us", Verdict.DIFFERS), part)
    assert made.entry.why.startswith("the single run of the scenario agrees, with 0.0 us; the repetitions")
    assert explained(Compared(entry, "0.0 us", Verdict.FIGURE_MET), part).entry.why == ""
    known_ = next(one for one in part.entries if one.why)
    assert explained(Compared(known_, "", Verdict.DIFFERS), part).entry == known_
