"""Figures of pages: written without matplotlib, and with the same words and data as those for papers."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsnbench.report.data import gather
from tsnbench.report.figures.style import (
    COLOURS,
    COLUMN,
    INK,
    PAGE,
    AnyFigure,
    Drawing,
    Size,
    axis_of,
    inline,
    page_figure,
    panels_of,
)
from tsnbench.report.figures.writers import letters, ticks
from tsnbench.report.figures.writers.page_figure import PageFigure
from tsnbench.report.page import drawings

from .conftest import made

FAULTS = "faults: [{down: 'a -- s', at: 1 ms, for: 2 ms}]\n"
SCENARIO = """\
name: all
duration: 10 ms
network: {stations: [a, b, c], bridges: [s], links: {rate: 100 Mbit/s, between: [a -- s, b -- s, s -- c]}}
streams:
  x: {from: a, to: c, pcp: 3, payload: 400 B, period: 500 us, requires: {delay: 1 ms}}
  y: {from: b, to: c, pcp: 0, payload: 1400 B, poisson: 60 Mbit/s}
shapers: {s -> c: {gates: {entries: [{open: [3], for: 200 us}, {open: [0], for: 300 us}]}}}
"""


def texts_of_page(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter("text")]


@given(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.floats(1e-6, 1e6, allow_nan=False),
    st.integers(2, 9),
)
def test_marks_are_round_within_the_range_and_few(low: float, span: float, most: int) -> None:
    high = low + span
    if not high > low or span < 1e-9 * abs(low):
        return
    found = ticks.linear(low, high, most)
    assert 1 <= len(found) <= most or found == [low, high]
    slack = 1e-6 * span + 1e-9 * abs(low)
    assert all(low - slack <= one <= high + slack for one in found)
    if len(found) > 2:
        step = found[1] - found[0]
        assert all(math.isclose(b - a, step, rel_tol=1e-6) for a, b in pairwise(found))


def test_marks_of_small_ranges() -> None:
    assert ticks.linear(0, 10, 6) == [0, 2, 4, 6, 8, 10]
    assert ticks.linear(0.2, 3.4, 3, whole=True) == [1, 2, 3]
    assert ticks.linear(5, 5, 4) == [5]
    assert ticks.decades(0.5, 2_000) == [1, 10, 100, 1_000]
    assert ticks.decades(8, 30, (1, 2, 5)) == [10, 20]
    assert ticks.thinned([0, 10, 20, 30], [12, 12, 12, 12]) == [0, 2]


def test_wide_letters_are_wider() -> None:
    assert letters.width("iiii", 9) < letters.width("aaaa", 9) < letters.width("mmmm", 9)
    assert letters.width("a", 9) < letters.width("a", 9, bold=True)


def test_data_are_where_the_axes_say() -> None:
    """A line from corner to corner of its range; the marks of both axes at its begin, middle and end."""
    figure = page_figure(PAGE, 2.0)
    (panel,) = figure.stacked(1)
    panel.plot([0, 10], [100, 300])
    panel.set_xlim(0, 10)
    panel.set_ylim(100, 300)
    panel.xaxis.given = [(0, "begin"), (5, "middle"), (10, "end")]
    svg = f"<svg>{figure.svg('x')}</svg>"
    (left, right), (top, bottom) = figure.span(panel), figure.reach(panel)
    lines = [
        one.get("d", "")
        for one in ElementTree.fromstring(svg).iter("path")
        if one.get("stroke-width") == "1.3"
    ]
    ends = [float(word) for word in re.findall(r"-?[\d.]+", lines[0])]
    assert ends == pytest.approx([left, bottom, right, top], abs=0.006)
    places = {
        "".join(one.itertext()): float(one.get("x", 0)) for one in ElementTree.fromstring(svg).iter("text")
    }
    wanted = {"begin": left, "middle": (left + right) / 2, "end": right}
    assert {name: places[name] for name in wanted} == pytest.approx(wanted, abs=0.006)
    assert 0 < left < right < figure.width
    assert 0 < top < bottom < figure.height


def test_steps_last_until_the_next_value_on_a_logarithmic_axis() -> None:
    figure, (panel,) = panels_of(1, PAGE, 2.0)
    panel.step([1, 10, 100], [0, 1, 2], where="post", color="#123456")
    panel.set(xscale="log")
    panel.set_xlim(1, 100)
    panel.set_ylim(0, 2)
    assert isinstance(figure, PageFigure)
    svg = f"<svg>{figure.svg('x')}</svg>"
    (left, right), (top, bottom) = figure.span(panel), figure.reach(panel)
    (line,) = [one for one in ElementTree.fromstring(svg).iter("path") if one.get("stroke") == "#123456"]
    numbers = [float(word) for word in re.findall(r"-?[\d.]+", line.get("d", ""))]
    middle, half = (left + right) / 2, (top + bottom) / 2
    corners = [left, bottom, middle, bottom, middle, half, right, half, right, top]
    assert numbers == pytest.approx(corners, abs=0.006)


@pytest.mark.parametrize(
    ("values", "least"), [([0, 1, 100], 1), ([-5, 0, 2, 8], 2), ([0, 0], 0.1), ([], 0.1)]
)
def test_a_logarithmic_axis_begins_above_0(values: list[float], least: float) -> None:
    """Also if the scale is set after the data are drawn."""
    _, (panel,) = panels_of(1, PAGE, 2.0)
    panel.plot(values, values)
    panel.set(xscale="log")
    low, high = panel.xaxis.limits()
    assert least / 2 < low < least < high
    assert all(low <= at <= high for at, _ in panel.xaxis.marks(300, 20))
    assert panel.xaxis.place(10, 20)(0) < 10


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("figures"), SCENARIO + FAULTS)


def test_a_page_has_the_words_of_the_figure_for_papers(run: Path) -> None:
    """Titles, labels of axes, names and keys; numbers at axes depend on the size."""
    from matplotlib.text import Text

    light = [drawing for drawing in drawings(gather(run)) if drawing.light]
    assert {drawing.name for drawing in light} == {
        "topology", "ccdf", "jitter-ecdf", "boxes", "delay-over-time", "faults", "port-loads",
        "load-over-time", "gates",
    }  # fmt: skip
    for drawing in light:
        svg = inline(drawing)
        here = set(texts_of_page(svg))
        figure = drawing.draw(COLUMN)
        assert not isinstance(figure, PageFigure)
        there = {text.get_text() for text in figure.findobj(Text) if text.get_visible()}
        words = {text for text in there if re.search(r"[A-Za-z]", text)}
        assert words, drawing.name
        assert words <= here, drawing.name
        for x, y in re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)"', svg):
            wide, tall = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())  # type: ignore[union-attr]
            assert 0 <= float(x) <= wide, drawing.name
            assert 0 <= float(y) <= tall, drawing.name


def test_ranges_are_those_that_matplotlib_finds(run: Path) -> None:
    """Of every axis; a network is drawn in inches, and its figure has another size."""
    compared = 0
    for drawing in drawings(gather(run)):
        if not drawing.light or drawing.name == "topology":
            continue
        here, there = drawing.draw(PAGE), drawing.draw(COLUMN)
        assert isinstance(here, PageFigure)
        assert not isinstance(there, PageFigure)
        for panel, axes in zip(here.panels, there.axes, strict=True):
            for own, other in ((panel.x.limits(), axes.get_xlim()), (panel.y.limits(), axes.get_ylim())):
                assert own == pytest.approx(other, abs=1e-9 * (1 + abs(other[1] - other[0]))), drawing.name
                compared += 1
    assert compared > 20


@pytest.mark.parametrize("light", [True, False])
def test_a_name_like_a_colour_stays_as_it_is(light: bool) -> None:
    """A page replaces some colours by its own, which may be dark, but not within words."""

    def draw(size: Size) -> AnyFigure:
        figure, (panel,) = panels_of(1, size, 2.0) if light else axis_of([None], size, 2.0)
        panel.plot([0, 1], [0, 1], color=COLOURS[0])
        panel.set_title(f"{COLOURS[0]} & <{INK}>")
        return figure

    svg = inline(Drawing("x", "x", "", "", draw, lambda: (), light=light))
    assert texts_of_page(svg).count(f"{COLOURS[0]} & <{INK}>") == 1
    assert "var(--blue)" in svg
    assert COLOURS[0] not in re.sub(r">[^<]*<", "><", svg)


def test_the_page_of_a_run_needs_no_matplotlib(run: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tsnbench.report import write; "
        "write(sys.argv[1], into=Path(sys.argv[2])); "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(run), str(tmp_path / "page.html")], check=True, timeout=120
    )
    page = (tmp_path / "page.html").read_text()
    assert page.count('<svg class="chart') == 9
