"""One panel of a figure of a page: its marks, its axes, and their SVG.

The methods are those of matplotlib's axes with the same names, as far as figures of pages use them, so that
a figure is drawn by the same function for a page and for a paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tsnbench.report.figures.writers.axis import Axis, Place
from tsnbench.report.figures.writers.shapes import Look, Point, Shape, Style, paint, polyline, rectangle


class Figure(Protocol):
    """The figure of a panel: where its panels are, in points, and its texts."""

    def lengthen(self, inches: float) -> None: ...

    def reach(self, panel: Any) -> tuple[float, float]: ...

    def span(self, panel: Any) -> tuple[float, float]: ...

    def words(self, x: float, y: float, words: str, style: Style) -> str: ...


@dataclass
class Key:
    """The key of a panel, under it."""

    looks: Sequence[Look]
    labels: Sequence[str]
    columns: int


@dataclass
class PagePanel:
    """One panel of a figure."""

    figure: Figure
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    title_colour: str = ""
    shapes: list[Shape] = field(default_factory=list)
    beside: list[tuple[float, str]] = field(default_factory=list)
    """Texts that begin at a place of the horizontal axis."""
    key: Key | None = None
    framed: bool = True

    @property
    def xaxis(self) -> Axis:
        """The horizontal axis."""
        return self.x

    @property
    def yaxis(self) -> Axis:
        """The vertical axis."""
        return self.y

    # Marks.

    def _add(self, zorder: float, draw: Callable[[Place, Place], str], clip: bool = True) -> None:
        self.shapes.append(Shape(zorder, clip, draw))

    def plot(self, x: Any, y: Any, signs: str = "", /, **style: Any) -> tuple[Look]:
        """A line through points, or single points."""
        xs = [float(x)] if isinstance(x, int | float) else [float(one) for one in x]
        ys = [float(y)] if isinstance(y, int | float) else [float(one) for one in y]
        look = Look.of_line(signs, style)
        self.x.see(xs)
        self.y.see(ys)

        def draw(px: Place, py: Place) -> str:
            points = [(px(a), py(b)) for a, b in zip(xs, ys, strict=True)]
            return look.line(points) + look.signs(points)

        self._add(style.get("zorder", 2), draw, style.get("clip_on", True))
        return (look,)

    def step(self, x: Sequence[float], y: Sequence[float], where: str = "post", **style: Any) -> tuple[Look]:
        """Steps: each value lasts until the next ``x``."""
        assert where == "post"
        look = Look.of_line("", style)
        self.x.see(x)
        self.y.see(y)

        def draw(px: Place, py: Place) -> str:
            corners = [(px(x[0]), py(y[0]))]
            for a, b in zip(x[1:], y[1:], strict=True):
                right = px(a)
                corners += [(right, corners[-1][1]), (right, py(b))]
            return look.line(corners)

        self._add(2, draw)
        return (look,)

    def fill_between(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], **style: Any
    ) -> None:
        """A band."""
        self.x.see(x)
        self.y.see(low)
        self.y.see(high)
        fill = paint(style)

        def draw(px: Place, py: Place) -> str:
            upper = [(px(a), py(b)) for a, b in zip(x, high, strict=True)]
            lower = [(px(a), py(b)) for a, b in zip(reversed(x), reversed(low), strict=True)]
            return f'<path d="{polyline([*upper, *lower])}z" {fill}/>'

        self._add(1, draw)

    def _boxes(self, boxes: Sequence[tuple[float, float, float, float]], style: Style) -> Look:
        """Rectangles: left, bottom, right, top."""
        for left, bottom, right, top in boxes:
            self.x.see((left, right))
            self.y.see((bottom, top))
        look, fill = Look.of_patch(style), paint(style)

        def draw(px: Place, py: Place) -> str:
            path = [
                rectangle((px(left), py(bottom)), (px(right), py(top))) for left, bottom, right, top in boxes
            ]
            return f'<path d="{"".join(path)}" {fill}/>' if path else ""

        self._add(style.get("zorder", 1), draw)
        return look

    def barh(self, y: float, width: float, height: float = 0.8, left: float = 0.0, **style: Any) -> Look:
        """A level bar around ``y``."""
        self.x.begins_at_data = True
        return self._boxes([(left, y - height / 2, left + width, y + height / 2)], style)

    def bar(
        self, x: Sequence[float], high: Sequence[float], width: float, align: str = "edge", **style: Any
    ) -> Look:
        """Upright bars that begin at ``x``."""
        assert align == "edge"
        self.y.begins_at_data = True
        return self._boxes([(a, 0.0, a + width, b) for a, b in zip(x, high, strict=True)], style)

    def broken_barh(
        self, spans: Sequence[tuple[float, float]], across: tuple[float, float], **style: Any
    ) -> None:
        """Boxes from a begin for a length, all at one height."""
        self._boxes([(a, across[0], a + length, across[0] + across[1]) for a, length in spans], style)

    def stairs(
        self, values: Sequence[float], edges: Sequence[float], baseline: float, fill: bool, **style: Any
    ) -> None:
        """Filled steps above a base."""
        assert fill
        boxes = [
            (a, baseline, b, top)
            for a, b, top in zip(edges, edges[1:], values, strict=False)
            if top > baseline
        ]
        self._boxes(boxes, {"facecolor": style["color"], "linewidth": style.get("linewidth", 0)})

    def axvspan(self, left: float, right: float, **style: Any) -> None:
        """A stretch of the horizontal axis."""
        self.x.see((left, right))
        fill = paint(style)

        def draw(px: Place, _: Place) -> str:
            top, bottom = self.figure.reach(self)
            return f'<path d="{rectangle((px(left), bottom), (px(right), top))}" {fill}/>'

        self._add(style.get("zorder", 1), draw)

    def axvline(self, x: float, **style: Any) -> Look:
        """A line across the panel at ``x``."""
        self.x.see((x,))
        look = Look.of_line("", style)

        def draw(px: Place, _: Place) -> str:
            top, bottom = self.figure.reach(self)
            return look.line([(px(x), bottom), (px(x), top)])

        self._add(style.get("zorder", 2), draw)
        return look

    def axhline(self, y: float, **style: Any) -> Look:
        """A line along the panel at ``y``."""
        self.y.see((y,))
        look = Look.of_line("", style)

        def draw(_: Place, py: Place) -> str:
            left, right = self.figure.span(self)
            return look.line([(left, py(y)), (right, py(y))])

        self._add(style.get("zorder", 2), draw)
        return look

    def vlines(self, places: Sequence[float], low: float, high: float, **style: Any) -> None:
        """Lines across the panel, which are no data."""
        look = Look.of_line("", style)

        def draw(px: Place, _: Place) -> str:
            top, bottom = self.figure.reach(self)
            return look.lines([[(px(x), bottom), (px(x), top)] for x in places])

        self._add(2, draw)

    def get_xaxis_transform(self) -> None:
        """Lines of :meth:`vlines` always have the height of the panel."""

    def note(self, words: str, at: float, which: Literal["x", "y"], **style: Any) -> None:
        """A text beside a line across the panel: at its end, which is the top or the right."""

        def draw(px: Place, py: Place) -> str:
            (top, _), (_, right) = self.figure.reach(self), self.figure.span(self)
            x, y = (px(at) - 2, top + 2) if which == "x" else (right - 2, py(at) - 2)
            turned = {"rotation": 90, "va": "baseline"} if which == "x" else {"va": "bottom"}
            return self.figure.words(x, y, words, {**style, **turned, "ha": "right"})

        self._add(3, draw, clip=False)

    def arrow(self, start: Point, end: Point, **style: Any) -> None:
        """The head of an arrow whose tip is at ``end``."""

        def draw(px: Place, py: Place) -> str:
            tip = px(end[0]), py(end[1])
            way = math.atan2(tip[1] - py(start[1]), tip[0] - px(start[0]))
            size = style.get("size", 5.0)
            corners = [
                tip,
                *(
                    (tip[0] - size * math.cos(way + a), tip[1] - size * math.sin(way + a))
                    for a in (0.4, -0.4)
                ),
            ]
            return f'<path d="{polyline(corners)}z" fill="{style["color"]}"/>'

        self._add(style.get("zorder", 3), draw)

    def text(self, x: float, y: float, words: str, **style: Any) -> None:
        """A text at a point of the data."""
        if style.get("ha", "left") == "left":
            self.beside.append((x, words))

        def draw(px: Place, py: Place) -> str:
            return self.figure.words(px(x), py(y), words, style)

        self._add(style.get("zorder", 3), draw, clip=False)

    def bxp(
        self,
        boxes: Sequence[Style],
        positions: Sequence[float],
        widths: float,
        orientation: Literal["horizontal", "vertical"],
        **style: Any,
    ) -> None:
        """Box plots: box, median, whiskers with caps, and single points."""
        level = orientation == "horizontal"
        for box, at in zip(boxes, positions, strict=True):

            def turned(values: Sequence[float], across: Sequence[float]) -> tuple[Any, Any]:
                return (values, across) if level else (across, values)

            half, cap = widths / 2, widths / 4
            ends = turned((box["q1"], box["q3"]), (at - half, at + half))
            self._boxes([(ends[0][0], ends[1][0], ends[0][1], ends[1][1])], style["boxprops"])
            for near, far in (("q1", "whislo"), ("q3", "whishi")):
                self.plot(*turned((box[near], box[far]), (at, at)), **style["whiskerprops"])
                self.plot(*turned((box[far], box[far]), (at - cap, at + cap)), **style["capprops"])
            middle = (box["med"], box["med"])
            self.plot(*turned(middle, (at - half, at + half)), **style["medianprops"])
            dots = style["flierprops"]
            self.plot(
                *turned(box["fliers"], [at] * len(box["fliers"])),
                dots["marker"],
                color=dots["markerfacecolor"],
                markersize=dots["markersize"],
                markeredgewidth=0,
            )

    # Axes.

    def set_title(self, text: str, color: str = "") -> None:
        """The title above the panel."""
        self.title, self.title_colour = text, color

    def set_xlabel(self, text: str) -> None:
        """The label of the horizontal axis."""
        self.x.label = text

    def set_ylabel(self, text: str) -> None:
        """The label of the vertical axis."""
        self.y.label = text

    def get_xlabel(self) -> str:
        """The label of the horizontal axis."""
        return self.x.label

    def set_xlim(self, left: float | None = None, right: float | None = None) -> None:
        """The range of the horizontal axis; an end that is not given is that of the data."""
        self.x.low = self.x.low if left is None else left
        self.x.high = self.x.high if right is None else right

    def set_ylim(self, bottom: float | None = None, top: float | None = None) -> None:
        """The range of the vertical axis, also from high to low."""
        self.y.low = self.y.low if bottom is None else bottom
        self.y.high = self.y.high if top is None else top

    def set(self, **scales: Literal["linear", "log"]) -> None:
        """``xscale`` and ``yscale``."""
        for name, scale in scales.items():
            (self.set_xscale if name == "xscale" else self.set_yscale)(scale)

    def set_yscale(self, scale: Literal["linear", "log"]) -> None:
        """The scale of the vertical axis."""
        self.y.scale, self.y.minor = scale, True

    def set_xscale(self, scale: Literal["linear", "log"]) -> None:
        """The scale of the horizontal axis."""
        self.x.scale, self.x.minor = scale, True

    def set_yticks(self, places: Iterable[float], texts: Sequence[str]) -> None:
        """The marks of the vertical axis."""
        self.y.given = list(zip(places, texts, strict=True))

    def minorticks_off(self) -> None:
        """No marks without texts."""
        self.x.minor = self.y.minor = False

    def tick_params(self, axis: Literal["x", "y"], length: float) -> None:
        """The length of the marks of an axis."""
        (self.x if axis == "x" else self.y).length = length

    def grid(self, visible: bool = True, axis: Literal["x", "y", "both"] = "both") -> None:
        """Lines behind the data at the marks of an axis."""
        for name, one in (("x", self.x), ("y", self.y)):
            if axis in (name, "both"):
                one.grid = visible

    def axis(self, which: Literal["off"]) -> None:
        """No axes are drawn."""
        self.framed = False
