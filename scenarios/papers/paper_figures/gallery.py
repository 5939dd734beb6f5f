"""A page of figures: every printed number and ours in the same axes, and all numbers in tables."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paper_figures.number import UNITS
from paper_figures.page import verdict_of
from paper_figures.printed import Paper
from paper_figures.verdicts import Compared, JudgedFigure
from tsnbench.report.figures.style import COLOURS, MARKERS, Drawing, Size, axis_of, inline
from tsnbench.report.formatting import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MOST_PANELS = 12
MOST_LABELS = 40
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}table{border-collapse:collapse;font-size:.85rem}"
    "td,th{border-bottom:1px solid #ddd;padding:.2rem .6rem;text-align:left;vertical-align:top}"
    "svg{max-width:100%;height:auto}nav ul{columns:2}"
    "tr>td:last-child{border-left:.4rem solid #bbb}tr.figure-met>td:last-child,"
    "tr.statement-holds>td:last-child{border-color:#0a7d4b}tr.predicted>td:last-child{border-color:#1f6fd6}tr.fitted>td:last-child"
    "{border-color:#8a8a8a}tr.differs>td:last-child{border-color:#c4481c}"
)


@dataclass(frozen=True)
class Point:
    """One printed number and ours, in the printed unit."""

    label: str
    least: float
    most: float
    ours: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """Numbers of one quantity and unit, which share an axis."""

    title: str
    unit: str
    points: tuple[Point, ...]


def panels(one: JudgedFigure) -> list[Panel]:
    """The axes of a figure: all numbers of one quantity and unit; bounds and words have none."""
    found: dict[tuple[str, str], list[Point]] = {}
    for compared in one.compared:
        number = compared.entry.number
        if number is None or number.least is None or number.most is None or not compared.ours:
            continue
        label, title = _names(compared)
        scale = UNITS[number.unit]
        ours = tuple(float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", compared.ours))
        point = Point(label, float(number.least / scale), float(number.most / scale), ours)
        found.setdefault((title, number.unit), []).append(point)
    return [Panel(title, unit, tuple(points)) for (title, unit), points in found.items() if len(points) > 1]


def _names(compared: Compared) -> tuple[str, str]:
    """The label of a number and the title of its axes: an entry of a table ends with its quantity."""
    what = compared.entry.what
    if not compared.entry.table:
        return what, compared.entry.where
    label, _, quantity = what.rpartition(" ")
    return label or what, f"{compared.entry.where}: {quantity}"


def drawing(one: JudgedFigure, name: str) -> Drawing | None:
    """The printed numbers of a figure and ours in the same axes; None if fewer than two have an axis."""
    drawn = panels(one)[:MOST_PANELS]
    if not drawn:
        return None

    def draw(size: Size) -> Canvas:
        figure, axes = axis_of(drawn, size, 3.0)
        for at, panel in zip(axes, drawn, strict=True):
            places = range(len(panel.points))
            at.vlines(
                places, [point.least for point in panel.points], [point.most for point in panel.points],
                color=COLOURS[0], linewidth=2,
            )  # fmt: skip
            at.plot(
                places, [(point.least + point.most) / 2 for point in panel.points],
                color=COLOURS[0], marker=MARKERS[0], markersize=4, label="printed",
            )  # fmt: skip
            at.plot(
                [place for place, point in enumerate(panel.points) for _ in point.ours],
                [value for point in panel.points for value in point.ours],
                color=COLOURS[1], marker=MARKERS[1], markersize=4, linestyle="none", label="ours",
            )  # fmt: skip
            at.set_title(shortened(panel.title, 60))
            at.set_ylabel(panel.unit or "number")
            step = -(-len(panel.points) // MOST_LABELS)
            at.set_xticks(
                list(places)[::step], [shortened(point.label, 22) for point in panel.points][::step]
            )
            at.tick_params(axis="x", rotation=75, labelsize="x-small")
            at.minorticks_off()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return figure

    spoken = "; ".join(
        f"{panel.title}, {point.label}: printed {point.least:g} to {point.most:g}, ours "
        + ", ".join(f"{value:g}" for value in point.ours)
        for panel in drawn
        for point in panel.points
    )
    return Drawing(
        re.sub(r"[^a-z0-9]+", "-", name),
        one.figure.name,
        one.figure.what,
        spoken,
        draw,
        lambda: (
            {
                "quantity": panel.title,
                "what": point.label,
                "unit": panel.unit,
                "printed_least": point.least,
                "printed_most": point.most,
                "ours": value,
            }
            for panel in drawn
            for point in panel.points
            for value in point.ours
        ),
    )


def page(title: str, judged: Iterable[tuple[str, Paper, JudgedFigure]]) -> str:
    """One page over figures of papers, each by its whole name."""
    every = list(judged)
    links = "".join(f'<li><a href="#{_id(name)}">{html.escape(name)}</a></li>' for name, _, _ in every)
    parts = [_section(name, paper, one) for name, paper, one in every]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="generator" content="tsnbench"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{html.escape(title)}</h1>"
        "<p>Printed numbers and the results of the simulator in the same axes. A bar is a printed range.</p>"
        f"<nav><ul>{links}</ul></nav>{''.join(parts)}</html>\n"
    )


def _id(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name)


def _section(name: str, paper: Paper, one: JudgedFigure) -> str:
    made = drawing(one, name)
    figure = "" if made is None else inline(made)
    rows = "".join(
        f'<tr class="{_id(compared.verdict)}">'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(compared))
        + "</tr>"
        for compared in one.compared
    )
    verdict = re.sub(r"\*\*|\[([^]]*)\]\([^)]*\)", r"\1", verdict_of(one))
    heading = f"{paper.heading}, {one.figure.name}: {one.figure.what}"
    return (
        f'<section id="{_id(name)}"><h2>{html.escape(heading)}</h2><p>{html.escape(verdict)}</p>{figure}'
        f"<details><summary>{len(one.compared)} numbers and statements</summary><table>"
        "<tr><th>what</th><th>where</th><th>printed</th><th>ours</th><th>the twin's</th><th>verdict</th></tr>"
        f"{rows}</table></details></section>"
    )


def _cells(compared: Compared) -> Sequence[str]:
    entry = compared.entry
    return entry.what, entry.where, entry.printed, compared.ours, compared.twin, str(compared.verdict)
