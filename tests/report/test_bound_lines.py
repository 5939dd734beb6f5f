"""Worst-case bounds in the report: beside the measured values, in figures and in text."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.html_page import read
from support.planned import plan_of
from tsnbench import report
from tsnbench.campaign.campaign import judge_run
from tsnbench.report.data import gather
from tsnbench.report.facts import Bound
from tsnbench.report.page import drawings
from tsnbench.report.parts.bounds import NEAR, bound_rows, drawn, in_words
from tsnbench.runs import Run

SCENARIO = """
name: bounded
duration: 20 ms
network:
  stations: [talker, listener, other, slow]
  bridges: [b1, b2]
  links:
    - {rate: 1 Gbit/s, between: [talker-b1, other-b1, b1-b2, b2-listener]}
    - {rate: 50 Mbit/s, between: b2-slow}
streams:
  control: {from: talker, to: listener, pcp: 6, frame: 500 B, period: 1 ms, count: 2}
  noise: {from: other, to: listener, pcp: 0, frame: 1000 B, poisson: 100 Mbit/s}
  flood: {from: other, to: slow, pcp: 5, frame: 1000 B, period: 100 us}
"""
CAPTION = "The greatest delay that the Plan allows"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose kept bounds have none for one stream: reports read them."""
    from tsnbench.campaign.campaign import Options, run_one

    into = tmp_path_factory.mktemp("bounded")
    run_one(plan_of(SCENARIO), into / "run", Options(report=False))
    kept = into / "run/bounds.json"
    found = json.loads(kept.read_text())
    (flood,) = [flow for flow in found["flows"] if flow["stream"] == "flood"]
    flood |= {"upper_ns": None, "reason": "at b2 -> slow: too many frames may arrive"}
    kept.write_text(json.dumps(found))
    return into / "run"


def test_bound_and_greatest_delay_stand_side_by_side(folder: Path) -> None:
    from tsnbench import _native

    page = report.write(folder, into=folder / "page.html")
    head, *rows = read(page).table(CAPTION)
    assert head[2:5] == ["Bound", "Measured maximum", "Bound / maximum"]
    own = {row[0]: row for row in rows}
    flows = json.loads(_native.bounds((folder / "plan.json").read_text()))["flows"]
    upper = max(flow["upper_ns"] for flow in flows if flow["group"] == "control")
    measured = next(group for group in gather(folder).groups if group.stream == "control").delay
    assert measured is not None
    most = measured["max"]
    control = own["control (2 flows)"]
    assert control[2:5] == [f"{upper / 1e3:.3f}", f"{most / 1e3:.3f}", f"{upper / most:.3f}"]
    assert control[1].endswith("kept")
    # Without a bound the table has words instead of a number.
    flood = own["flood"]
    assert flood[2] == "no bound"
    assert flood[5] == "no bound: at b2 -> slow: too many frames may arrive"
    assert "Bounds" in read(page).text


def test_figures_have_a_line_for_near_bounds_and_name_missing_ones(folder: Path) -> None:
    run = gather(folder)
    texts = {drawing.name: drawing for drawing in drawings(run)}
    assert "worst-case bound" in texts["ccdf"].caption
    page = report.write(folder, into=folder / "figures.html").read_text(encoding="utf-8")
    assert "control (2 flows), bound " in page
    assert "flood, no bound" in page
    assert ">bound<" in page
    near, far = Bound(2_000), Bound(int(NEAR * 1_000) + 1)
    assert (drawn(near, 1.0), drawn(far, 1.0), drawn(Bound(None), 1.0)) == (2.0, None, None)
    assert in_words(far).startswith(", bound 3.001")


def test_a_bound_that_frames_exceed_is_conspicuous(folder: Path, tmp_path: Path) -> None:
    """The run is judged once more, by kept bounds that are too small for one of two flows."""
    assert {row.label: row.met for row in bound_rows(gather(folder))}["control (2 flows)"] == "yes"
    wrong = Path(shutil.copytree(folder, tmp_path / "run"))
    bounds = json.loads((wrong / "bounds.json").read_text())
    (own,) = [flow for flow in bounds["flows"] if flow["stream"] == "control.2"]
    own["upper_ns"] = 1
    (wrong / "bounds.json").write_text(json.dumps(bounds))
    run = Run.open(wrong)
    judge_run(run, run.measures())
    found = {row.label: row.met for row in bound_rows(gather(wrong))}
    assert found["control (2 flows)"] == "no"
    assert found["flood"] != "no"
    for page in (report.write(wrong), report.write(wrong, summary=True)):
        text = read(page).text
        assert "DEFECT OF TSNBENCH" in text
        assert "20 of 20 frames of control.2 at listener beyond 1 ns (up to " in text
    assert "DEFECT OF TSNBENCH" not in read(report.write(folder, into=tmp_path / "right.html")).text


def test_a_broken_plan_leaves_no_bounds_but_a_report(in_vehicle: Path) -> None:
    run = gather(in_vehicle)
    assert bool(run.no_bounds) != bool(bound_rows(run))
