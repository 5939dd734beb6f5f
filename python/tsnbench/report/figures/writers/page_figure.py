"""A figure of a page: panels one under the other, laid out once, and written as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tsnbench.report.figures.writers import letters, ticks
from tsnbench.report.figures.writers.axis import Place
from tsnbench.report.figures.writers.panel import PagePanel
from tsnbench.report.figures.writers.shapes import Look, Style, escaped, number, paint

PAD = 3.6
"""Points around everything."""
GAP = 3.0
"""Points between marks, their texts and labels."""
ROW = 1.55
"""The height of a row of a key, in letters."""
ROOM_X, ROOM_Y = 3.0, 1.9
"""The room of a mark on each axis, in letters."""
SAMPLE = 2.4
"""The length of a line in a key, in letters."""


@dataclass(frozen=True)
class Colours:
    """Those of text and axes, and of lines behind the data."""

    ink: str
    grid: str


@dataclass
class Box:
    """The place of a panel in points, from the top left corner of the figure."""

    left: float
    top: float
    right: float
    bottom: float


class PageFigure:
    """A figure of a page.

    Args:
        width: in inches.
        height: in inches.
        size: letters in points.
        colours: of text and lines.
    """

    def __init__(self, width: float, height: float, size: float, colours: Colours) -> None:
        self.width, self.height = width * 72, height * 72
        self.size = size
        self.small = size - 0.5
        self.colours = colours
        self.panels: list[PagePanel] = []
        self.ratios: list[float] = []
        self.keys: tuple[Sequence[Look], Sequence[str], int, str] | None = None
        self._boxes: dict[int, Box] = {}
        self._shared = False
        self._free = False

    def stacked(
        self, count: int, ratios: Sequence[float] | None = None, share_x: bool = False
    ) -> list[PagePanel]:
        """Panels one under the other."""
        self.panels = [PagePanel(self) for _ in range(count)]
        self.ratios = list(ratios or [1.0] * count)
        self._shared = share_x
        if share_x:
            for panel in self.panels[1:]:
                panel.x = self.panels[0].x
        return self.panels

    def whole(self) -> PagePanel:
        """One panel without axes whose units are inches from the lower left corner."""
        panel = PagePanel(self)
        panel.set_xlim(0, self.width / 72)
        panel.set_ylim(0, self.height / 72)
        panel.axis("off")
        self.panels, self.ratios, self._free = [panel], [1.0], True
        return panel

    def lengthen(self, inches: float) -> None:
        """Adds room at the bottom."""
        self.height += 72 * inches

    def legend(self, looks: Iterable[Look], labels: Iterable[str], loc: str, ncols: int, **_: Any) -> None:
        """The key of the whole figure, under it."""
        self.keys = (list(looks), list(labels), ncols, loc)

    # Layout.

    def reach(self, panel: PagePanel) -> tuple[float, float]:
        """Top and bottom of a panel in points."""
        box = self._boxes[id(panel)]
        return box.top, box.bottom

    def span(self, panel: PagePanel) -> tuple[float, float]:
        """Left and right end of a panel in points."""
        box = self._boxes[id(panel)]
        return box.left, box.right

    def _lay_out(self) -> None:
        """Places the panels: those with the widest texts at the left decide for all."""
        if self._free:
            self._boxes = {id(self.panels[0]): Box(0, 0, self.width, self.height)}
            return
        below = self._key_height(self.keys[1], self.keys[2]) + PAD if self.keys and self.keys[1] else 0.0
        rough = (self.height - below) / max(1, len(self.panels)) * 0.6
        left = max(self._left(panel, rough) for panel in self.panels)
        right = PAD + max(self._right(panel) for panel in self.panels)
        right += max(0.0, *(self._beyond(panel, self.width - left - right) for panel in self.panels))
        tops = [PAD + (self.size + GAP + 2 if panel.title else 0) for panel in self.panels]
        bottoms = [self._bottom(panel) for panel in self.panels]
        room = self.height - below - sum(tops) - sum(bottoms)
        at = 0.0
        for panel, ratio, top, bottom in zip(self.panels, self.ratios, tops, bottoms, strict=True):
            tall = max(4.0, room * ratio / sum(self.ratios))
            at += top
            self._boxes[id(panel)] = Box(left, at, self.width - right, at + tall)
            at += tall + bottom

    def _left(self, panel: PagePanel, rough: float) -> float:
        texts = [text for _, text in panel.y.marks(rough, ROOM_Y * self.small)]
        wide = max((letters.width(text, self.small) for text in texts), default=0.0)
        return PAD + wide + panel.y.length + GAP + (self.size + GAP if panel.y.label else 0)

    def _right(self, panel: PagePanel) -> float:
        marks = panel.x.marks(self.width * 0.7, ROOM_X * self.small)
        low, high = panel.x.limits()
        near = [text for at, text in marks[-1:] if high > low and (at - low) / (high - low) > 0.9]
        return max((letters.width(text, self.small) / 2 for text in near), default=0.0)

    def _beyond(self, panel: PagePanel, room: float) -> float:
        """The points by which texts beside data would leave a panel of this width."""
        place = panel.x.place(0, room)
        return max(
            (place(at) + letters.width(words, self.size) - room for at, words in panel.beside), default=0.0
        )

    def _bottom(self, panel: PagePanel) -> float:
        found = PAD + panel.x.length
        if self._has_texts_below(panel):
            found += self.small + GAP
        if panel.x.label and self._has_texts_below(panel):
            found += self.size + GAP
        if panel.key:
            found += self._key_height(panel.key.labels, panel.key.columns) + GAP
        return found

    def _has_texts_below(self, panel: PagePanel) -> bool:
        """Whether its horizontal axis has texts: of panels that share one, only the last."""
        return not self._shared or panel is self.panels[-1]

    def _key_height(self, labels: Sequence[str], columns: int) -> float:
        return -(-len(labels) // columns) * ROW * self.small

    # SVG.

    def svg(self, name: str) -> str:
        """The content of the ``<svg>`` element; ``name`` begins all its ids."""
        self._lay_out()
        parts = []
        for place, panel in enumerate(self.panels):
            parts.append(self._panel(panel, f"{name}-clip{place}"))
        if self.keys and self.keys[1]:
            looks, labels, columns, loc = self.keys
            top = self.height - PAD - self._key_height(labels, columns)
            parts.append(self._key(looks, labels, columns, top, middle="center" in loc))
        return "".join(parts)

    def _panel(self, panel: PagePanel, clip: str) -> str:
        box = self._boxes[id(panel)]
        px, py = panel.x.place(box.left, box.right), panel.y.place(box.bottom, box.top)
        inside = []
        area = (
            f'x="{number(box.left)}" y="{number(box.top)}" width="{number(box.right - box.left)}" '
            f'height="{number(box.bottom - box.top)}"'
        )
        parts = []
        if panel.framed:
            parts.append(f'<clipPath id="{clip}"><rect {area}/></clipPath>')
        marks_x = panel.x.marks(box.right - box.left, ROOM_X * self.small)
        marks_y = panel.y.marks(box.bottom - box.top, ROOM_Y * self.small)
        behind = ""
        if panel.framed:
            behind = self._grid(panel, box, [px(at) for at, _ in marks_x], [py(at) for at, _ in marks_y])
        below = True
        for shape in sorted(panel.shapes, key=lambda one: one.zorder):
            if below and shape.zorder >= 0.5:
                inside.append(("", behind))
                below = False
            inside.append(
                (f' clip-path="url(#{clip})"' if shape.clip and panel.framed else "", shape.draw(px, py))
            )
        if below:
            inside.append(("", behind))
        parts += self._grouped(inside)
        if panel.framed:
            parts.append(self._axes(panel, box, px, py, marks_x, marks_y))
        return "".join(parts)

    def _grouped(self, inside: Sequence[tuple[str, str]]) -> list[str]:
        """Neighbours with the same edges are one group."""
        parts: list[str] = []
        last = None
        for clip, text in inside:
            if clip != last:
                parts += ["</g>"] if last is not None else []
                parts.append(f"<g{clip}>")
                last = clip
            parts.append(text)
        return [*parts, "</g>"] if last is not None else parts

    def _grid(self, panel: PagePanel, box: Box, xs: Sequence[float], ys: Sequence[float]) -> str:
        path = ""
        if panel.x.grid:
            path += "".join(f"M{number(x)} {number(box.top)}V{number(box.bottom)}" for x in xs)
        if panel.y.grid:
            path += "".join(f"M{number(box.left)} {number(y)}H{number(box.right)}" for y in ys)
        return (
            f'<path d="{path}" fill="none" stroke="{self.colours.grid}" stroke-width="0.5"/>' if path else ""
        )

    def _axes(
        self,
        panel: PagePanel,
        box: Box,
        px: Place,
        py: Place,
        marks_x: Sequence[tuple[float, str]],
        marks_y: Sequence[tuple[float, str]],
    ) -> str:
        ink, size = self.colours.ink, self.small
        path = f"M{number(box.left)} {number(box.top)}V{number(box.bottom)}H{number(box.right)}"
        for at, _ in marks_x if panel.x.length else ():
            path += f"M{number(px(at))} {number(box.bottom)}v{number(panel.x.length)}"
        for at, _ in marks_y if panel.y.length else ():
            path += f"M{number(box.left)} {number(py(at))}h-{number(panel.y.length)}"
        for at in panel.x.minors():
            path += f"M{number(px(at))} {number(box.bottom)}v2"
        for at in panel.y.minors():
            path += f"M{number(box.left)} {number(py(at))}h-2"
        parts = [f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="0.6"/>']
        below = box.bottom + panel.x.length
        if self._has_texts_below(panel):
            below += size
            places = [px(at) for at, _ in marks_x]
            kept = ticks.thinned(places, [letters.width(text, size) for _, text in marks_x])
            parts += [self._text(places[n], below, marks_x[n][1], size, "middle") for n in kept]
            below += GAP
        side = box.left - panel.y.length - GAP
        parts += [self._text(side, py(at) + 0.36 * size, text, size, "end") for at, text in marks_y]
        if panel.x.label and self._has_texts_below(panel):
            below += self.size
            parts.append(self._text((box.left + box.right) / 2, below, panel.x.label, self.size, "middle"))
            below += GAP
        if panel.y.label:
            x, y = PAD + self.size - 1, (box.top + box.bottom) / 2
            turned = f' transform="rotate(-90 {number(x)} {number(y)})"'
            parts.append(self._text(x, y, panel.y.label, self.size, "middle", more=turned))
        if panel.title:
            colour = panel.title_colour or ink
            parts.append(
                self._text(box.left, box.top - 5, panel.title, self.size, "start", colour, bold=True)
            )
        if panel.key and panel.key.labels:
            parts.append(self._key(panel.key.looks, panel.key.labels, panel.key.columns, below + 1))
        return "".join(parts)

    def _key(
        self, looks: Sequence[Look], labels: Sequence[str], columns: int, top: float, middle: bool = False
    ) -> str:
        size = self.small
        rows = -(-len(labels) // columns)
        groups = [range(at, min(at + rows, len(labels))) for at in range(0, len(labels), rows)]
        line = SAMPLE * size
        widths = [max(letters.width(labels[n], size) for n in own) + line + 2.4 * size for own in groups]
        x = (self.width - sum(widths)) / 2 if middle else PAD + 2
        parts = []
        for own, wide in zip(groups, widths, strict=True):
            for row, n in enumerate(own):
                y = top + (row + 0.5) * ROW * size
                parts.append(self._sample(looks[n], x, y, line))
                parts.append(self._text(x + line + 0.7 * size, y + 0.36 * size, labels[n], size, "start"))
            x += wide
        return "".join(parts)

    def _sample(self, look: Look, x: float, y: float, line: float) -> str:
        if look.area:
            tall = 0.7 * self.small
            return (
                f'<rect x="{number(x)}" y="{number(y - tall / 2)}" width="{number(line)}" '
                f'height="{number(tall)}" {look.area}/>'
            )
        return look.line([(x, y), (x + line, y)]) + look.signs([(x + line / 2, y)])

    def words(self, x: float, y: float, words: str, style: Style) -> str:
        """A text in matplotlib's words of alignment, with the box around it."""
        given = style.get("fontsize", self.size)
        size = self.size * 0.833 if given == "small" else float(given)
        level = {"center": "middle", "right": "end", "left": "start"}[style.get("ha", "left")]
        across = style.get("va", "baseline")
        bold = style.get("fontweight") == "bold"
        shift = {"center": 0.36, "top": 0.8, "bottom": -0.2, "baseline": 0.0}[across] * size
        turned = (
            f' transform="rotate(-{style["rotation"]} {number(x)} {number(y)})"'
            if style.get("rotation")
            else ""
        )
        colour = style.get("color", self.colours.ink)
        text = self._text(x, y + shift, words, size, level, colour, bold=bold, more=turned)
        box = style.get("bbox")
        return self._around(x, y, words, size, box, bold) + text if box else text

    def _around(self, x: float, y: float, words: str, size: float, box: Style, bold: bool) -> str:
        """The box around a text whose middle is at a point."""
        name, *more = str(box["boxstyle"]).split(",")
        given = dict(one.split("=") for one in more)
        pad = float(given.get("pad", 0.3)) * size
        wide, tall = letters.width(words, size, bold) + 2 * pad, 0.9 * size + 2 * pad
        corner = (
            f' rx="{number(min(float(given.get("rounding_size", given.get("pad", 0.3))) * size, tall / 2))}"'
        )
        return (
            f'<rect x="{number(x - wide / 2)}" y="{number(y - tall / 2)}" width="{number(wide)}" '
            f'height="{number(tall)}"{corner if name == "round" else ""} {paint(box)}/>'
        )

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        anchor: str,
        colour: str = "",
        bold: bool = False,
        more: str = "",
    ) -> str:
        if not text:
            return ""
        style = f"font-size: {number(size)}px" + ("; font-weight: bold" if bold else "")
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        fill = colour or self.colours.ink
        head = f'<text x="{number(x)}" y="{number(y)}"{anchored} style="{style}" fill="{fill}"{more}>'
        return f"{head}{escaped(text)}</text>"
