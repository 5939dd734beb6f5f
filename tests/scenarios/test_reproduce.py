"""``tsnbench reproduce``: names of figures, and printed numbers beside results in the same axes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paper_figures.campaigns import campaigns
from paper_figures.gallery import drawing, page, panels
from paper_figures.names import find, known, slug
from paper_figures.printed import Figure, papers
from paper_figures.recording import Recorded
from paper_figures.verdicts import JudgedFigure, judge

from tsnbench.studies import study_file
from tsnbench.studies.design import design

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
    assert text.count("<tr>") == len(one.compared) + 1
    assert figure.what.split("&")[0][:20] in text


def test_one_command_reproduces_a_figure(tmp_path: Path) -> None:
    words = ["reproduce", "flextest/fig7", "--duration", "20 ms", "--into", str(tmp_path / "made")]
    done = subprocess.run(
        [sys.executable, "-m", "tsnbench", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "flextest/fig7: " in done.stdout
    assert 'id="flextest-fig7"' in (tmp_path / "made/printed.html").read_text(encoding="utf-8")
    assert list((tmp_path / "made/frame-sizes").glob("**/manifest.json"))
    done = subprocess.run(
        [sys.executable, "-m", "tsnbench", "reproduce", "--papers", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "expected the papers' scenarios, found none" in done.stderr


def test_every_study_of_a_paper_has_a_list_of_runs(tmp_path: Path) -> None:
    runs = {
        "engine/hops-cs1": 7,
        "engine/hops-cs2": 7,
        "engine/hops-cm1": 70,
        "engine/hops-cm2": 70,
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

    def reproduce(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tsnbench", "reproduce", "engine/hops-cs1", *words, *more],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    done = reproduce()
    assert done.returncode == 0, done.stderr
    assert "engine-hops-cs1: 7 of 7 runs met all requirements" in done.stdout
    assert (tmp_path / "made/intervals.csv").exists()
    done = reproduce("--duration", "1 s")
    assert done.returncode == 2
    assert "--duration: not for a study" in done.stderr
