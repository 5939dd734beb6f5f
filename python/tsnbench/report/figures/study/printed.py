"""Numbers that a paper prints, as marked points in the axes of a study's curves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tsnbench.report.figures.study.axes import PRINTED, columns_of, columns_of_range, legend, line, ticks
from tsnbench.report.figures.style import COLOURS, Drawing, Size, axis_of
from tsnbench.report.formatting import printable, shortened
from tsnbench.report.parts.study import MOST_LINES, PrintedCurve, PrintedPoint, StudyAxis, StudyFacts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEAN = "delay mean"
"""The quantity whose printed numbers are drawn among the mean delays of the study."""
MOST_PANELS = 12

Mark = tuple[float, float, float]
"""Position on the x axis, least and most."""


def marks(study: StudyFacts, stream: str, across: StudyAxis, own: Mapping[str, str]) -> list[Mark]:
    """The printed mean delays of a stream, in ns, for the values of one curve of the study."""
    found = []
    for x, value in zip(across.at, across.values, strict=True):
        wanted = study.values_at({across.name: value, **own})
        found += [
            (x, *point.printed)
            for curve in study.curves
            if curve.quantity == MEAN and curve.stream == stream
            for point in curve.points
            if point.printed is not None and point.values == wanted
        ]
    return found


def draw_marks(at: Axes, place: int, points: Sequence[Mark], scale: float) -> None:
    """Draws printed numbers in the colour of their curve; a range is a bar."""
    colour = COLOURS[place % len(COLOURS)]
    xs = [x for x, _, _ in points]
    lows, highs = ([one[end] * scale for one in points] for end in (1, 2))
    at.vlines(xs, lows, highs, color=colour, linewidth=2)
    at.plot(
        xs,
        [(low + high) / 2 for low, high in zip(lows, highs, strict=True)],
        color=colour, linestyle="none", marker="X", markersize=6, markeredgecolor="white",
        markeredgewidth=0.5, label=PRINTED,
    )  # fmt: skip


def drawings(study: StudyFacts, across: StudyAxis) -> list[Drawing]:
    """A figure for each quantity of which a paper prints numbers, apart from mean delays, with a panel for
    each stream."""
    own = sorted((one for one in study.curves if one.quantity != MEAN), key=lambda one: one.quantity)
    return [
        _drawing(study, across, quantity, list(curves)[:MOST_PANELS])
        for quantity, curves in groupby(own, key=lambda one: one.quantity)
    ]


def _drawing(study: StudyFacts, across: StudyAxis, quantity: str, curves: list[PrintedCurve]) -> Drawing:
    """The curves of one quantity, each with the printed numbers in its axes."""
    position = dict(zip(across.values, across.at, strict=True))
    place = study.axes.index(across)

    def lines(curve: PrintedCurve) -> list[tuple[str, list[tuple[float, PrintedPoint]]]]:
        """By the values of all other axes: the points in the order of the x axis."""
        found: dict[str, list[tuple[float, PrintedPoint]]] = {}
        for point in curve.points:
            if point.values in study.by_values:
                others = ", ".join(v for axis, v in enumerate(point.values) if axis != place)
                found.setdefault(others, []).append((position[point.values[place]], point))
        printed = [
            (label, sorted(points, key=lambda one: one[0]))
            for label, points in found.items()
            if any(point.printed for _, point in points)
        ]
        return printed[:MOST_LINES]

    def fill(at: Axes, curve: PrintedCurve, last: bool) -> None:
        for number, (label, points) in enumerate(lines(curve)):
            ours = [(x, point.ours) for x, point in points]
            line(at, number, label or "ours", ours, 1 / curve.scale, across.numeric)
            there = [(x, *point.printed) for x, point in points if point.printed is not None]
            draw_marks(at, number, there, 1 / curve.scale)
        at.set_title(shortened(curve.stream))
        # The title of the figure has the stages between which it was measured.
        own = quantity.partition(" from ")[0]
        at.set_ylabel(f"{own} ({curve.unit})" if curve.unit else own)
        ticks(at, across, last=last)

    def draw(size: Size) -> Figure:
        figure, axes = axis_of(curves, size, 1.9)
        for at, curve in zip(axes, curves, strict=True):
            fill(at, curve, at is axes[-1])
        legend(figure, axes, size, None)
        return figure

    rows = [(curve, point) for curve in curves for _, points in lines(curve) for _, point in points]
    return Drawing(
        f"study-printed-{re.sub(r'[^a-z0-9]+', '-', quantity.lower())}",
        f"{quantity[:1].upper()}{quantity[1:]} over {printable(across.name)}, printed and ours",
        "A cross is a number that the paper prints. The band is the 95 % confidence interval over "
        "repetitions.",
        "; ".join(
            f"{curve.stream}, {', '.join(point.values)}: printed {_words(point.printed, curve)}, "
            f"ours {point.ours.value / curve.scale:g} {curve.unit}".rstrip()
            for curve, point in rows
            if point.printed is not None
        ),
        draw,
        lambda: (
            dict(zip((axis.name for axis in study.axes), point.values, strict=True))
            | {"stream": curve.stream, "quantity": quantity, "unit": curve.unit}
            | columns_of_range("printed", point.printed, curve.scale)
            | columns_of(point.ours, "ours", curve.scale)
            for curve, point in rows
        ),
    )


def _words(printed: tuple[float, float], curve: PrintedCurve) -> str:
    least, most = (f"{one / curve.scale:g}" for one in printed)
    return least if least == most else f"{least} to {most}"
