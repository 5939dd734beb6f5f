"""What notebooks show: verdicts with signs and words, escaped names, one line as ``repr``."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.planned import run_of
from tsnbench.compare import Comparison, compare, opened
from tsnbench.measure.outcome import WORDS, Outcome
from tsnbench.notebook.html import mark, table
from tsnbench.runs import Run
from tsnbench.scenario import Scenario, read_scenario
from tsnbench.sheet import Column, Sheet
from tsnbench.studies.study_file import Study, of_text

TEXT = """\
name: first
duration: 5 ms
network:
  stations: [camera, controller, robot]
  bridges: [switch]
  links: {rate: 1 Gbit/s, between: [camera -- switch, controller -- switch, switch -- robot]}
  queues: {classes: {6: 1, 0: 0}}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B, requires: {delay: 20 us}}
  strict: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B, requires: {delay: 5 us}}
  video: {from: camera, to: robot, pcp: 0, period: 100 us, payload: 1472 B, jitter: 50 us}
"""


class Cells(HTMLParser):
    """The texts of a table's rows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.inside = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_scenario(TEXT)[0]


@pytest.fixture(scope="module")
def run(scenario: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(scenario.plan(), tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def comparison(run: Run, scenario: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    (other,) = scenario.vary({"streams.video.payload": "200 B"})
    return compare(
        [opened(run.folder), opened(run_of(other.plan(), tmp_path_factory.mktemp("other")).folder)]
    )


@pytest.fixture(scope="module")
def study() -> Study:
    text = """
study: windows
scenario: first.yaml
vary:
  streams.loop.period: [100 us, 200 us]
  streams.video.payload: {uniform: [100 B, 200 B], step: 1 B}
repeat: 10
"""
    return of_text(text, Path("windows.yaml"))


def test_a_scenario_shows_its_streams(scenario: Scenario) -> None:
    rows = Cells(scenario._repr_html_()).rows
    assert rows[0] == ["stream", "from", "to", "PCP", "traffic", "delay at most"]
    assert rows[1] == ["loop", "controller", "robot", "6", "every 250 us", "20 us"]
    assert rows[3] == ["video", "camera", "robot", "0", "every 100 us, jitter 50 us", ""]


def test_a_plan_shows_paths_and_its_hash(scenario: Scenario) -> None:
    plan = scenario.plan()
    text = plan._repr_html_()
    assert f"hash {plan.hash[:12]}" in text
    assert Cells(text).rows[1][4] == "controller \u2192 switch \u2192 robot"


def test_a_run_shows_its_verdict_with_signs_and_words(run: Run) -> None:
    """Most frames of ``strict`` keep their limit of 5 us; those behind a frame of ``video``, which takes
    12.3 us, do not."""
    rows = Cells(run._repr_html_()).rows
    assert rows[0][:5] == ["stream", "verdict", "listener", "requirement", "limit"]
    assert [(row[0], row[1], row[3]) for row in rows[1:]] == [
        ("strict", "\u2248FAILED*", "delay"),
        ("loop", "\u2713met (proved)", "delay"),
    ]
    assert "Run first: NOT ALL MET: 1 of 2 requirements" in run._repr_html_()


def test_a_run_without_requirements_shows_its_streams(tmp_path: Path) -> None:
    text = re.sub(r", requires: \{.*?\}", "", TEXT)
    shown = run_of(read_scenario(text)[0].plan(), tmp_path)._repr_html_()
    assert "NO REQUIREMENT" in shown
    assert [row[0] for row in Cells(shown).rows] == ["stream", "loop", "strict", "video"]


def test_a_run_that_is_not_complete_or_is_damaged_says_so(run: Run, tmp_path: Path) -> None:
    manifest = json.loads((run.folder / "manifest.json").read_text(encoding="utf-8"))
    for state, said in (("failed", "failed"), ("complete", "no verdict: ")):
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "state": state}), encoding="utf-8")
        assert said in Run.open(tmp_path)._repr_html_()


def test_a_comparison_says_which_runs_agree_with_the_first_one(comparison: Comparison) -> None:
    text = comparison._repr_html_()
    rows = Cells(text).rows
    assert "RUNS DIFFER" in text
    assert rows[1][:3] == ["loop", "first run", "robot"]
    video = [row[1] for row in rows if row[0] == "video"]
    assert video[0] == "first run"
    assert video[1].startswith("\u2715not in ")
    first = comparison.sides[0].folder
    assert first is not None
    assert "\u2713" in compare([opened(first), opened(first)])._repr_html_()


def test_a_study_shows_what_it_varies(study: Study) -> None:
    text = study._repr_html_()
    assert "first.yaml, all combinations, 10 repetitions" in text
    assert Cells(text).rows[1:] == [
        ["streams.loop.period", "100 us, 200 us"],
        ["streams.video.payload", "drawn for each repetition: uniform from 100 B to 200 B"],
    ]


def test_names_are_texts_and_no_markup(tmp_path: Path, scenario: Scenario) -> None:
    bad = "<img src=x onerror=alert(1)>&\"'"
    text = table(bad, bad, Sheet("", [Column(bad)], [[bad]], captions=[bad]))
    assert text.count("&lt;img") == 5
    assert "<img" not in text
    shown = run_of(scenario.plan(), tmp_path / "<b>x")._repr_html_()
    assert "&lt;b&gt;x" in shown
    assert "<b>" not in shown


def test_long_tables_say_how_many_rows_are_left_out() -> None:
    text = table("t", "", Sheet("", [Column("n")], [[str(n)] for n in range(100)], most=12))
    assert len(Cells(text).rows) == 13
    assert "\u2026 and 88 more rows" in text


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_sign_that_can_be_read_beside_its_words(outcome: Outcome) -> None:
    """White on its ground has the contrast of WCAG 2.2, 1.4.3: at least 4.5 to 1. Signs of outcomes that are
    met and of those that are not differ, so that the colour says nothing that the sign does not say."""
    found = re.fullmatch(r'<span style="[^"]*background:(#[0-9a-f]{6})[^"]*">(.)</span>', mark(outcome))
    assert found is not None
    channels = [int(found[1][n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(part * c for part, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert 1.05 / (luminance + 0.05) >= 4.5
    assert (found[2] == "\u2713") == (outcome in (Outcome.PROVED, Outcome.IN_RUN))
    assert WORDS[outcome]


def test_a_repr_is_one_short_line(scenario: Scenario, run: Run, comparison: Comparison, study: Study) -> None:
    (varied,) = scenario.vary({"seed": 2})
    assert repr(scenario) == "Scenario('first', 3 streams)"
    assert repr(varied) == "Scenario('first', 3 streams, seed 2)"
    assert repr(varied.plan()) == "Plan('first', 3 flows, seed 2)"
    assert repr(run) == f"Run({str(run.folder)!r}, 'first', complete)"
    assert repr(comparison) == "Comparison('simulator', 'simulator, streams.video.payload 200 B')"
    assert repr(comparison.sides[0]) == "Side('simulator', 90 frames)"
    assert repr(study) == "Study('windows', 'first.yaml', varies streams.loop.period, streams.video.payload)"
