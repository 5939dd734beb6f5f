"""The style of figures: colours that colour-blind readers can distinguish, each with a line style and a
marker of its own.

The palette is that of Okabe and Ito without its yellow, which vanishes on white.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

from tsnbench.libraries import Lazy, matplotlib
from tsnbench.report.figures.writers.axis import Axis
from tsnbench.report.figures.writers.page_figure import Colours, PageFigure
from tsnbench.report.figures.writers.panel import Key, PagePanel
from tsnbench.report.figures.writers.shapes import Look, number
from tsnbench.report.parts.ports import carried
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tsnbench.plan.types import Port
    from tsnbench.report.figures.writers import pgf
else:
    pgf = Lazy("tsnbench.report.figures.writers.pgf")

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0568f", "#c98a00", "#3b9fd6")
CLASS_COLOURS = (*COLOURS, "#6a51a3", "#767676")
"""One per priority."""
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1)),
    (0, (8, 2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#1b1f24"
GRID = "#d5d9de"
PAPER = "#fefefe"
"""Stand-ins that a page replaces by its own colours; no curve uses them."""
LIMIT = "#b3261e"
DOTS = 300
"""Dots per inch of pictures in papers."""
VARIABLES = {
    INK: "--ink",
    GRID: "--grid",
    PAPER: "--paper",
    LIMIT: "--no",
    COLOURS[0]: "--blue",
    CLASS_COLOURS[6]: "--violet",
}
"""Colours that a page replaces, because it may be dark."""


@dataclass(frozen=True)
class Size:
    """The size of a figure: its width in inches, its letters in points."""

    name: str
    width: float
    letters: float
    text_as_paths: bool

    @property
    def for_page(self) -> bool:
        """Whether the figure is for a page, where the browser sets the text."""
        return not self.text_as_paths


PAGE = Size("page", 5.2, 9.0, text_as_paths=False)
"""Inline in a page; the browser sets the text."""
PAGE_WIDE = 9.0
"""Inches of a figure that takes the page's whole width."""
COLUMN = Size("column", 3.5, 7.0, text_as_paths=True)
"""One column of a two-column paper."""

AnyFigure: TypeAlias = "Figure | PageFigure"
Draw = Callable[[Size], AnyFigure]
Row = dict[str, Any]
"""One row of a figure's numbers: the columns depend on the figure, and are written as CSV alone."""
Rows = Callable[[], Iterable[Row]]


@dataclass(frozen=True)
class Drawing:
    """One figure: its file name, its caption, its text for readers who cannot see it, its drawing
    function, and the drawn numbers."""

    name: str
    title: str
    caption: str
    spoken: str
    draw: Draw
    rows: Rows
    """One row for each drawn point, box or bar; units are in the names of columns."""
    wide: bool = False
    """Whether it uses the page's whole width."""
    light: bool = False
    """Whether ``draw`` needs no matplotlib for a page: its figure is then a :class:`PageFigure`."""


_LOOKS: dict[Size, dict[str, Any]] = {}
"""All of matplotlib's settings for a size, after their first use."""


@contextmanager
def _look(size: Size) -> Iterator[None]:

    look: dict[Any, Any] = {
        # Without a backend, a look at this setting imports pyplot, which takes longer than a figure.
        "backend": "agg",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": size.letters,
        "axes.titlesize": size.letters,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": size.letters,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.facecolor": "none",
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "grid.color": GRID,
        "grid.linewidth": 0.5,
        "text.color": INK,
        "text.parse_math": False,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.labelsize": size.letters - 0.5,
        "ytick.labelsize": size.letters - 0.5,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "ytick.minor.width": 0.4,
        "legend.fontsize": size.letters - 0.5,
        "legend.frameon": False,
        "lines.linewidth": 1.3,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.h_pad": 0.05,
        "svg.fonttype": "path" if size.text_as_paths else "none",
        "svg.hashsalt": "tsnbench",
        "pdf.fonttype": 42,
        "path.simplify": False,
    }
    settings: Any = matplotlib.rcParams
    with matplotlib.rc_context():
        if size not in _LOOKS:
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(look)
            _LOOKS[size] = dict(settings)
        else:
            # Without checks of each value, which take longer than some figures.
            dict.update(settings, _LOOKS[size])
        yield


def bytes_of(drawing: Drawing, size: Size, kind: str) -> bytes:
    """The figure as ``svg``, ``pdf``, ``png`` or ``pgf``, or its numbers as ``csv``; equal data give equal
    bytes."""
    if kind == "csv":
        return _csv(drawing)
    with _look(size), warnings.catch_warnings():
        return _printed(_drawn(drawing, size), drawing, size, kind)


def bytes_in(drawing: Drawing, size: Size, kinds: Sequence[str]) -> dict[str, bytes]:
    """The figure in several kinds, with its parts at the same places in all of them."""
    found = {kind: _csv(drawing) for kind in kinds if kind == "csv"}
    others = [kind for kind in kinds if kind != "csv"]
    if not others:
        return found
    with _look(size), warnings.catch_warnings():
        figure = _drawn(drawing, size)
        # Every drawing would place the parts anew, which takes a third of its time.
        if (engine := figure.get_layout_engine()) is not None:
            # At the dots of an SVG, by the letters' exact widths.
            figure.set_dpi(72)
            matplotlib.backend_bases.get_registered_canvas_class("svg")(figure)
            engine.execute(figure)
        figure.set_layout_engine("none")
        found |= {kind: _printed(figure, drawing, size, kind) for kind in others}
    return {kind: found[kind] for kind in kinds}


def _drawn(drawing: Drawing, size: Size) -> Any:
    # The font may lack characters of a name. A browser uses another font; a PDF or PNG shows a box.
    warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
    figure = drawing.draw(size)
    assert not isinstance(figure, PageFigure)  # such figures are in pages only
    return figure


def _printed(figure: Any, drawing: Drawing, size: Size, kind: str) -> bytes:
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": None, "Title": drawing.title},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Title": drawing.title},
        "png": {"Software": None},
    }
    inline = kind == "svg" and not size.text_as_paths
    figure.patch.set_facecolor("none" if inline or kind == "pgf" else "white")
    if kind == "pgf":
        return pgf.pgf(figure).encode()
    into = BytesIO()
    # `savefig` draws a first time without output, to place all parts. Each drawing places them, too.
    figure.set_dpi(figure.dpi if inline else DOTS)
    canvas: Any = matplotlib.backend_bases.get_registered_canvas_class(kind)(figure)
    getattr(canvas, f"print_{kind}")(into, metadata=metadata[kind])
    return _numbered(into.getvalue().decode(), drawing.name).encode() if kind == "svg" else into.getvalue()


_ID = re.compile(r'(\sid="|href="#|url\(#)([^")]+)')


def _numbered(svg: str, name: str) -> str:
    """The figure with numbers in the ids that it refers to.

    matplotlib makes such an id of all digits of coordinates, and its layout does not find the last digits of
    a place each time.
    """
    used = dict.fromkeys(found[2] for found in _ID.finditer(svg) if "id=" not in found[1])
    ids = {one: f"{name}-{number}" for number, one in enumerate(used, 1)}
    return _ID.sub(lambda found: f"{found[1]}{ids.get(found[2], found[2])}", svg)


def _csv(drawing: Drawing) -> bytes:
    rows = list(drawing.rows())
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows)).encode()


def inline(drawing: Drawing) -> str:
    """The figure as an ``<svg>`` element for a page: the page's colours and fonts, no ids that could
    clash."""
    size = replace(PAGE, width=PAGE_WIDE) if drawing.wide else PAGE
    figure = drawing.draw(size) if drawing.light else None
    if isinstance(figure, PageFigure):
        content = _in_the_pages_colours(figure.svg(drawing.name))
        return f"{_head(drawing, number(figure.width), number(figure.height))}{content}</svg>"
    text = bytes_of(drawing, size, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(rf'\sid="(?!{re.escape(drawing.name)}-\d)[^"]*"', "", text)
    text = re.sub(r"font: (bold )?([\d.]+px) [^;\"]*", _letters, text)
    text = re.sub(r"<[^>]*>", lambda tag: _in_the_pages_colours(_LONG.sub(_cut, tag[0])), text)
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()  # type: ignore[union-attr]
    return _head(drawing, width, height) + text[text.index(">") + 1 :]


def _head(drawing: Drawing, width: str, height: str) -> str:
    kind = "chart wide" if drawing.wide else "chart"
    named = f'role="img" aria-labelledby="{drawing.name}-title"'
    return f'<svg class="{kind}" {named} viewBox="0 0 {width} {height}">'


def _in_the_pages_colours(text: str) -> str:
    """Tags with the page's colours in place of their stand-ins."""
    for stand_in, variable in VARIABLES.items():
        text = text.replace(stand_in, f"var({variable})")
    return text


_LONG = re.compile(r"-?\d+\.\d{3,}")


def _cut(number: re.Match[str]) -> str:
    """Coordinates are cut to two digits; text between tags (such as a kernel's version) is unchanged."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _letters(match: re.Match[str]) -> str:
    """Only size and weight are kept: the page sets the font family."""
    return f"font-size: {match[2]}" + ("; font-weight: bold" if match[1] else "")


def axis_of(
    panels: Sequence[Any], size: Size, each: float, *, share_x: bool = False, below: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure of panels, one under the other, ``each`` inches high, with ``below`` inches under them."""
    figure = matplotlib.figure.Figure(figsize=(size.width, each * len(panels) + 0.35 + below))
    axes = figure.subplots(len(panels), 1, sharex=share_x, squeeze=False)
    return figure, [row[0] for row in axes]


Labelled = dict[str, Any]
"""Lines of a figure by their labels."""


def labelled(axes: Sequence[Axes]) -> Labelled:
    """The content of a common legend of all panels: each label once, with the first line that has it."""
    found: Labelled = {}
    for at in axes:
        for handle, label in zip(*at.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def key_below(figure: Figure, found: Labelled, size: Size, title: str | None) -> None:
    """One key for all panels, below them."""
    columns = min(columns_for(list(found), size), len(found))
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=columns, title=title)


def panels_of(
    count: int,
    size: Size,
    height: float,
    *,
    ratios: Sequence[float] | None = None,
    share_x: bool = False,
) -> tuple[AnyFigure, list[Any]]:
    """A figure of panels, one under the other, ``height`` inches high, for pages and for papers.

    Args:
        count: of panels.
        size: decides between a :class:`PageFigure` and a figure of matplotlib, whose panels have the same
            methods.
        height: of the whole figure.
        ratios: of the panels' heights.
        share_x: whether all have the same horizontal axis.
    """
    if size.for_page:
        page = page_figure(size, height)
        return page, page.stacked(count, ratios, share_x)

    figure = matplotlib.figure.Figure(figsize=(size.width, height))
    axes = figure.subplots(count, 1, sharex=share_x, squeeze=False, height_ratios=ratios)
    return figure, [row[0] for row in axes]


def page_figure(size: Size, height: float) -> PageFigure:
    """An empty figure of a page, ``height`` inches high."""
    return PageFigure(size.width, height, size.letters, Colours(INK, GRID))


def whole_of(size: Size, height: float) -> tuple[AnyFigure, Any]:
    """A figure of one panel without axes, whose units are inches from the lower left corner."""
    if size.for_page:
        page = page_figure(size, height)
        return page, page.whole()

    figure = matplotlib.figure.Figure(figsize=(size.width, height))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, size.width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    """The head of an arrow that points from one point to another."""
    if isinstance(axes, PagePanel):
        axes.arrow(start, end, color=colour)
        return
    how = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "mutation_scale": 8}
    axes.annotate("", xy=end, xytext=start, arrowprops=how, zorder=3)


def few_whole_marks(axis: Any, most: int) -> None:
    """At most so many marks, all at integers."""
    if isinstance(axis, Axis):
        axis.most, axis.whole = most, True
        return

    axis.set_major_locator(matplotlib.ticker.MaxNLocator(most, integer=True))


def sample(size: Size, **style: Any) -> Any:
    """A line or sign that is only in a key, in matplotlib's words."""
    if size.for_page:
        return Look.of_line("", style)

    return matplotlib.lines.Line2D([], [], **style)


def colour_of(port: Port, traffic_class: int, used: Sequence[int]) -> str:
    """A class has the colour of the highest priority in it, so that a stream keeps its colour everywhere."""
    return CLASS_COLOURS[next(iter(carried(port, traffic_class, used)), traffic_class)]


ROWS_OF_KEY = 2
"""Rows of a key for which a panel has room."""


def columns_for(labels: Sequence[str], size: Size) -> int:
    """Number of columns in which a key's labels fit the figure's width."""
    room = size.width / size.letters * 118
    return max(1, min(3, int(room // (max(map(len, labels)) + 8))))


def key(
    axes: Axes | PagePanel,
    title: str,
    handles: Sequence[Any],
    labels: Sequence[str],
    size: Size,
    *,
    last: bool,
) -> None:
    """The key of lines: under the data, never over it; a single line is named in the title.

    Under the last panel it comes after the axis' label.
    """
    if len(labels) == 1:
        axes.set_title(f"{title}: {labels[0]}")
        return
    axes.set_title(title)
    if not labels:
        return
    columns = columns_for(labels, size)
    # A long key lengthens the figure; it does not shorten the panel.
    beyond = max(0, -(-len(labels) // columns) - ROWS_OF_KEY)
    if isinstance(axes, PagePanel):
        axes.key = Key(handles, labels, columns)
        axes.figure.lengthen(beyond * size.letters * 1.55 / 72)
        return

    down = size.letters * (3.6 if last else 2.0) / 72
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.set_figheight(figure.get_figheight() + beyond * size.letters * 1.55 / 72)
    below = axes.transAxes + matplotlib.transforms.ScaledTranslation(-0.1, -down, figure.dpi_scale_trans)
    axes.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=below,
        borderaxespad=0,
        ncols=columns,
        columnspacing=1.2,
        handlelength=2.4,
    )
