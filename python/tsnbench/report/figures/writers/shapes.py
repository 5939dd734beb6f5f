"""Lines, areas, signs and texts of a figure of a page as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

Point = tuple[float, float]
Style = Mapping[str, Any]
"""How a mark looks, in matplotlib's words."""

SIGNS = {
    "s": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "^": ((0, -1), (1, 1), (-1, 1)),
    "v": ((0, 1), (1, -1), (-1, -1)),
    "D": ((0, -1.41), (1.41, 0), (0, 1.41), (-1.41, 0)),
    "P": tuple(
        (x, y)
        for x, y in (
            (-0.4, -1), (0.4, -1), (0.4, -0.4), (1, -0.4), (1, 0.4), (0.4, 0.4),
            (0.4, 1), (-0.4, 1), (-0.4, 0.4), (-1, 0.4), (-1, -0.4), (-0.4, -0.4),
        )
    ),
}  # fmt: skip
"""The corners of each sign but the circle and the upright line."""


@dataclass(frozen=True)
class Shape:
    """One mark of a panel."""

    zorder: float
    clip: bool
    """Whether it ends at the edges of the panel."""
    draw: Callable[[Callable[[float], float], Callable[[float], float]], str]


def number(value: float) -> str:
    """A coordinate in points, to a hundredth."""
    text = f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def polyline(points: Sequence[Point]) -> str:
    """The path through points."""
    return "M" + "L".join([f"{number(x)} {number(y)}" for x, y in points])


def rectangle(one: Point, other: Point) -> str:
    """The path around two opposite corners."""
    (left, right), (top, bottom) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    wide, tall = number(right - left), number(bottom - top)
    return f"M{number(left)} {number(top)}h{wide}v{tall}h-{wide}z"


def escaped(text: str) -> str:
    """A text between tags; in it, nothing looks like a colour."""
    return escape(text, quote=False).replace("#", "&#35;")


def colour_of(text: str) -> tuple[str, float]:
    """A colour and its opacity: ``#rrggbbaa`` has both."""
    if len(text) == 9 and text.startswith("#"):
        return text[:7], int(text[7:], 16) / 255
    return text, 1.0


def paint(style: Style) -> str:
    """The attributes of an area in matplotlib's words."""
    face, opacity = colour_of(style.get("facecolor") or style.get("color") or "none")
    opacity *= style.get("alpha", 1.0)
    edge, edge_opacity = colour_of(style.get("edgecolor", "none"))
    width = style.get("linewidth", 1.0)
    words = [f'fill="{face}"']
    if opacity < 1 and face != "none":
        words.append(f'fill-opacity="{number(opacity)}"')
    if edge != "none" and width:
        words.append(f'stroke="{edge}" stroke-width="{number(width)}"')
        if edge_opacity < 1:
            words.append(f'stroke-opacity="{number(edge_opacity)}"')
    return " ".join(words)


@dataclass(frozen=True)
class Look:
    """How a line, its signs or an area look; also in a key."""

    colour: str
    width: float = 1.3
    dashes: tuple[float, ...] | None = None
    """Lengths of lines and gaps in units of the line's width; None for no line at all."""
    sign: str = ""
    sign_size: float = 6.0
    sign_edge: str = ""
    area: str = ""
    """The attributes of an area."""
    opacity: float = 1.0
    cap: str = "butt"

    @classmethod
    def of_line(cls, signs: str, style: Style) -> Look:
        """A line in matplotlib's words; ``signs`` alone: single points."""
        marker = style.get("marker", signs)
        dashes: tuple[float, ...] | None = ()
        line = style.get("linestyle", "none" if signs else "-")
        if line == "none":
            dashes = None
        elif isinstance(line, tuple):
            dashes = tuple(line[1])
        return cls(
            style.get("color", "#000000"),
            style.get("linewidth", 1.3),
            dashes,
            marker,
            style.get("markersize", 6.0),
            style.get("markeredgecolor", ""),
            opacity=style.get("alpha", 1.0),
            cap=style.get("solid_capstyle", "butt"),
        )

    @classmethod
    def of_patch(cls, style: Style) -> Look:
        """An area in matplotlib's words."""
        return cls(style.get("facecolor") or style.get("color") or "none", area=paint(style))

    def line(self, points: Sequence[Point]) -> str:
        """The line through points."""
        return self.lines([points])

    def lines(self, all_points: Sequence[Sequence[Point]]) -> str:
        """Several lines, as one path."""
        path = "".join([polyline(points) for points in all_points if len(points) > 1])
        if self.dashes is None or not path or not self.width:
            return ""
        words = [f'stroke="{self.colour}" stroke-width="{number(self.width)}"']
        if self.dashes:
            lengths = " ".join(number(one * self.width) for one in self.dashes)
            words.append(f'stroke-dasharray="{lengths}"')
        if self.opacity < 1:
            words.append(f'stroke-opacity="{number(self.opacity)}"')
        if self.cap == "round":
            words.append('stroke-linecap="round"')
        return f'<path d="{path}" fill="none" {" ".join(words)}/>'

    def signs(self, points: Sequence[Point]) -> str:
        """The signs at points, as one path."""
        if not self.sign or not points:
            return ""
        half = self.sign_size / 2
        edge = f' stroke="{self.sign_edge}" stroke-width="1"' if self.sign_edge else ""
        if self.sign == "|":
            path = "".join([f"M{number(x)} {number(y - half)}v{number(2 * half)}" for x, y in points])
            return f'<path d="{path}" fill="none" stroke="{self.colour}" stroke-width="1.6"/>'
        path = "".join([sign(self.sign, x, y, half) for x, y in points])
        return f'<path d="{path}" fill="{self.colour}"{edge}/>'


def sign(name: str, x: float, y: float, half: float) -> str:
    """The path of one sign."""
    if name not in SIGNS:
        radius = half if name == "o" else half / 2
        r, across = number(radius), number(2 * radius)
        return f"M{number(x - radius)} {number(y)}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z"
    corners = [(x + half * a, y + half * b) for a, b in SIGNS[name]]
    return polyline(corners) + "z"
