"""The marks of a panel of a page in the units of its data, its layout, and its texts in a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from support.browser import browsing
from tsnbench import report
from tsnbench.report.figures.style import GRID, PAGE, few_whole_marks, key, page_figure, panels_of, sample
from tsnbench.report.figures.writers import letters
from tsnbench.report.figures.writers.page_figure import PageFigure
from tsnbench.report.figures.writers.panel import PagePanel

RED, BLUE = "#ff0000", "#0000ff"
NEAR = 0.02
"""Coordinates have two digits, and a unit of the data has at least 20 points."""


@pytest.fixture
def panel() -> PagePanel:
    """Ten units wide and four high."""
    figure = page_figure(PAGE, 3.0)
    (made,) = figure.stacked(1)
    made.set_xlim(0, 10)
    made.set_ylim(0, 4)
    return made


def tree(figure: PageFigure) -> Element:
    return ElementTree.fromstring(f"<svg>{figure.svg('x')}</svg>")


def marked(panel: PagePanel, **wanted: str) -> list[Element]:
    """The paths with these attributes."""
    return [
        one
        for one in tree(panel.figure).iter("path")
        if all(one.get(name.replace("_", "-")) == value for name, value in wanted.items())
    ]


def corners(panel: PagePanel, path: Element) -> list[list[tuple[float, float]]]:
    """The corners of a path's parts in the units of the data."""
    (left, right), (top, bottom) = panel.figure.span(panel), panel.figure.reach(panel)
    (x0, x1), (y0, y1) = panel.x.limits(), panel.y.limits()
    found: list[list[tuple[float, float]]] = []
    x = y = 0.0
    for letter, words in re.findall(r"([MLHVhvz])([^MLHVhvz]*)", path.get("d", "")):
        numbers = [float(one) for one in words.split()]
        if letter == "M":
            found.append([])
        if letter in "ML":
            x, y = numbers
        elif letter in "hH":
            x = numbers[0] + (x if letter == "h" else 0)
        elif letter in "vV":
            y = numbers[0] + (y if letter == "v" else 0)
        if letter != "z":
            found[-1].append(
                (x0 + (x - left) / (right - left) * (x1 - x0), y0 + (bottom - y) / (bottom - top) * (y1 - y0))
            )
    return found


def box(panel: PagePanel, path: Element) -> list[tuple[float, float, float, float]]:
    """Left, bottom, right and top of each rectangle of a path."""
    return [
        (min(x for x, _ in part), min(y for _, y in part), max(x for x, _ in part), max(y for _, y in part))
        for part in corners(panel, path)
    ]


def near(wanted: Any) -> Any:
    return pytest.approx(wanted, abs=NEAR)


def flat(parts: Sequence[Sequence[Any]]) -> list[float]:
    return [
        number for part in parts for one in part for number in (one if isinstance(one, tuple) else (one,))
    ]


def test_a_band_is_between_its_least_and_its_greatest_values(panel: PagePanel) -> None:
    panel.fill_between([1, 2, 3], [0, 1, 0], [3, 2, 4], color=RED, alpha=0.25, linewidth=0)
    (band,) = marked(panel, fill=RED)
    assert flat(corners(panel, band)) == near([1, 3, 2, 2, 3, 4, 3, 0, 2, 1, 1, 0])
    assert band.get("fill-opacity") == "0.25"
    assert band.get("stroke") is None


def test_bars_and_boxes_are_where_they_are_meant(panel: PagePanel) -> None:
    panel.barh(2, 3, height=1, left=1, color=RED, linewidth=0)
    panel.bar([4, 6], [1, 2], width=0.5, align="edge", color=BLUE)
    panel.broken_barh(
        [(1, 2), (5, 1)], (0.5, 0.25), facecolor="#00ff002e", edgecolor="#00ff00", linewidth=0.7
    )
    panel.stairs([1, 0.5, 2], [0, 1, 2, 4], baseline=0.5, fill=True, color="#00ffff", linewidth=0)
    panel.axvspan(7, 8, facecolor="#ffff00", alpha=0.5, edgecolor="none")
    assert flat([box(panel, marked(panel, fill=RED)[0])]) == near([1, 1.5, 4, 2.5])
    assert flat([box(panel, marked(panel, fill=BLUE)[0])]) == near([4, 0, 4.5, 1, 6, 0, 6.5, 2])
    (spans,) = marked(panel, fill="#00ff00", fill_opacity="0.18", stroke="#00ff00", stroke_width="0.7")
    assert flat([box(panel, spans)]) == near([1, 0.5, 3, 0.75, 5, 0.5, 6, 0.75])
    # The second step has the height of the base, so it is not drawn.
    assert flat([box(panel, marked(panel, fill="#00ffff")[0])]) == near([0, 0.5, 1, 1, 2, 0.5, 4, 2])
    assert flat([box(panel, marked(panel, fill="#ffff00")[0])]) == near([7, 0, 8, 4])


@pytest.mark.parametrize("orientation", ["horizontal", "vertical"])
def test_a_box_plot_has_its_box_both_whiskers_their_caps_median_and_dots(
    panel: PagePanel, orientation: Any
) -> None:
    level = orientation == "horizontal"
    stats = {"q1": 1.0, "q3": 2.5, "med": 1.5, "whislo": 0.5, "whishi": 3.0, "fliers": [0.25, 3.5]}
    panel.bxp(
        [stats], [2], 1.0, orientation,
        boxprops={"facecolor": RED, "edgecolor": BLUE, "linewidth": 0.8},
        medianprops={"color": "#00ff00", "linewidth": 1.4},
        whiskerprops={"color": "#111111", "linewidth": 0.8},
        capprops={"color": "#222222", "linewidth": 0.8},
        flierprops={"marker": ".", "markersize": 4, "markerfacecolor": "#333333"},
    )  # fmt: skip

    def turned(*points: tuple[float, float]) -> list[float]:
        return [number for x, y in points for number in ((x, y) if level else (y, x))]

    left, bottom, right, top = box(panel, marked(panel, fill=RED)[0])[0]
    assert [left, bottom, right, top] == near(turned((1, 1.5), (2.5, 2.5)))
    lines = {colour: [flat(corners(panel, one)) for one in marked(panel, stroke=colour)] for colour in
             ("#111111", "#222222", "#00ff00")}  # fmt: skip
    assert lines["#111111"] == [near(turned((1, 2), (0.5, 2))), near(turned((2.5, 2), (3, 2)))]
    assert lines["#222222"] == [
        near(turned((0.5, 1.75), (0.5, 2.25))), near(turned((3, 1.75), (3, 2.25)))
    ]  # fmt: skip
    assert lines["#00ff00"] == [near(turned((1.5, 1.5), (1.5, 2.5)))]
    (dots,) = marked(panel, fill="#333333")
    assert dots.get("d", "").count("z") == 2


def test_lines_across_the_panel_and_their_dashes(panel: PagePanel) -> None:
    panel.axvline(3, color=RED, linewidth=2.0, linestyle=(0, (1, 1.5)))
    panel.axhline(1, color=BLUE, alpha=0.5)
    panel.vlines([2, 4], 0, 1, color="#00ff00", linewidth=0.4, linestyle=(0, (2, 2)))
    (upright,) = marked(panel, stroke=RED)
    assert flat(corners(panel, upright)) == near([3, 0, 3, 4])
    assert upright.get("stroke-dasharray") == "2 3"
    (level,) = marked(panel, stroke=BLUE)
    assert flat(corners(panel, level)) == near([0, 1, 10, 1])
    assert (level.get("stroke-dasharray"), level.get("stroke-opacity")) == (None, "0.5")
    (both,) = marked(panel, stroke="#00ff00")
    assert flat(corners(panel, both)) == near([2, 0, 2, 4, 4, 0, 4, 4])


def test_what_is_behind_the_lines_of_the_marks_and_what_is_cut_at_the_edges(panel: PagePanel) -> None:
    panel.plot([0, 20], [1, 1], color=RED)
    panel.plot([0, 10], [2, 2], color="#00ff00", clip_on=False)
    panel.axvspan(1, 2, facecolor=BLUE, zorder=0)
    drawn = [one for one in tree(panel.figure).iter() if one.tag in ("g", "path")]
    cut = {
        path.get("stroke") or path.get("fill"): group.get("clip-path") for group in drawn for path in group
    }
    assert (cut[RED], cut[BLUE], cut["#00ff00"]) == ("url(#x-clip0)", "url(#x-clip0)", None)
    order = [one.get("stroke") or one.get("fill") for one in drawn]
    assert order.index(BLUE) < order.index(GRID) < order.index(RED)
    (edges,) = list(tree(panel.figure).iter("clipPath"))
    (left, right), (top, bottom) = panel.figure.span(panel), panel.figure.reach(panel)
    sizes = [float(edges[0].get(name, "0")) for name in ("x", "y", "width", "height")]
    assert sizes == pytest.approx([left, top, right - left, bottom - top], abs=0.01)


def texts(figure: PageFigure) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for one in tree(figure).iter("text"):
        place = float(one.get("x", 0)), float(one.get("y", 0))
        found.setdefault("".join(one.itertext()), []).append(place)
    return found


def test_panels_share_the_height_by_their_ratios_and_one_axis() -> None:
    figure, panels = panels_of(3, PAGE, 4.0, ratios=[1, 2, 3], share_x=True)
    for panel in panels:
        panel.plot([0, 10], [0, 1])
    panels[-1].set_xlabel("time (ms)")
    panels[-1].set_xlim(0, 8)
    assert isinstance(figure, PageFigure)
    found = texts(figure)
    assert len(found["time (ms)"]) == len(found["8"]) == 1
    heights = [bottom - top for top, bottom in map(figure.reach, panels)]
    assert [one / heights[0] for one in heights] == pytest.approx([1, 2, 3])
    assert {figure.span(panel) for panel in panels} == {figure.span(panels[0])}
    assert found["8"][0][0] == pytest.approx(figure.span(panels[0])[1], abs=0.01)


def test_marks_have_room_and_are_within_the_range(panel: PagePanel) -> None:
    panel.yaxis.given = [(1, "in"), (5, "out")]
    panel.xaxis.given = [(n, f"a rather long text {n}") for n in range(10)]
    found = texts(panel.figure)
    assert "in" in found
    assert "out" not in found
    written = [name for name in found if name.startswith("a rather")]
    assert 2 <= len(written) < 6
    few_whole_marks(panel.yaxis, 3)
    panel.yaxis.given = None
    panel.set_ylim(0, 4)
    assert [at for at, _ in panel.yaxis.marks(1000, 1)] == [0, 2, 4]


def test_a_text_beside_the_data_has_room_in_the_figure(panel: PagePanel) -> None:
    before = texts(panel.figure)["10"][0][0]
    panel.text(9.9, 2, "a text beside a bar", va="center")
    found = texts(panel.figure)
    assert found["a text beside a bar"][0][0] + letters.width("a text beside a bar", 9) <= panel.figure.width
    assert found["10"][0][0] < before


def test_bars_stand_on_their_axis() -> None:
    _, (level, upright) = panels_of(2, PAGE, 3.0)
    level.barh(0, 8, height=1)
    upright.bar([1], [4], width=2, align="edge")
    assert level.xaxis.limits() == pytest.approx((0, 8.4))
    assert upright.yaxis.limits() == pytest.approx((0, 4.2))


def test_a_long_key_lengthens_the_figure_and_does_not_shorten_the_panel() -> None:
    def made(streams: int) -> tuple[PageFigure, PagePanel]:
        figure, (panel,) = panels_of(1, PAGE, 2.2)
        lines = [panel.plot([0, 1], [0, one])[0] for one in range(streams)]
        names = [f"a stream with a rather long name {n}" for n in range(streams)]
        key(panel, "title", lines, names, PAGE, last=True)
        assert isinstance(figure, PageFigure)
        return figure, panel

    (short, one), (long, other) = made(2), made(6)
    found = texts(long)
    texts(short)
    assert [len(found[f"a stream with a rather long name {n}"]) for n in range(6)] == [1] * 6
    assert long.height > short.height
    heights = [bottom - top for top, bottom in (short.reach(one), long.reach(other))]
    assert 0 <= heights[1] - heights[0] < 5


def test_the_key_of_a_figure_is_in_its_middle() -> None:
    figure, (panel,) = panels_of(1, PAGE, 2.2)
    panel.plot([0, 1], [0, 1])
    figure.legend([sample(PAGE, color=RED)], ["a"], loc="outside lower center", ncols=1)
    assert isinstance(figure, PageFigure)
    ((x, _),) = texts(figure)["a"]
    assert abs(x - figure.width / 2) < 40


OVERLAPS = """() => [...document.querySelectorAll('svg.chart')].flatMap(svg => {
  const name = svg.getAttribute('aria-labelledby'), frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  const beyond = ([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1 ||
    b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
  const cover = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const over = boxes.flatMap(([one, a], n) => boxes.slice(n + 1).filter(([, b]) => cover(a, b))
    .map(([other]) => `${name}: ${one} over ${other}`));
  return [...boxes.filter(beyond).map(([words]) => `${name}: ${words} leaves the figure`), ...over];
})"""


def test_no_text_leaves_a_figure_or_covers_another_one(in_vehicle: Path, star: Path, tmp_path: Path) -> None:
    """In a browser, whose letters have widths of their own."""
    with browsing() as browser:
        for number, run in enumerate((in_vehicle, star)):
            page = browser.new_page(viewport={"width": 1300, "height": 1000})
            page.goto(report.write(run, into=tmp_path / f"{number}.html").as_uri())
            assert page.locator("svg.chart").count() > 5
            assert page.evaluate(OVERLAPS) == []
