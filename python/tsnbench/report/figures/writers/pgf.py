"""Figures as pgf, for ``\\input`` in LaTeX: lines as paths, text in the font of the document.

Matplotlib's own canvas starts LaTeX to measure text. This one measures the letters of DejaVu Sans, which
are wider than those of most documents, so text fits; equal data give equal bytes on every machine.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from typing import TextIO

HEADER = r"""%% In the preamble: \usepackage{pgf}
%% In the text:     \input{NAME.pgf}
"""
ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\N{NARROW NO-BREAK SPACE}": r"\,",
        "\N{THIN SPACE}": r"\,",
        "\N{MINUS SIGN}": r"\ensuremath{-}",
        "\N{LESS-THAN OR EQUAL TO}": r"\ensuremath{\le}",
        "\N{GREATER-THAN OR EQUAL TO}": r"\ensuremath{\ge}",
    }
)
"""Every name comes from a scenario: no letter of it is a command to LaTeX."""


class _Renderer(RendererPgf):
    def __init__(self, figure: Figure, into: TextIO) -> None:
        super().__init__(figure, into)  # type: ignore[no-untyped-call]
        self._letters: Any = RendererAgg(1, 1, figure.dpi)  # type: ignore[no-untyped-call]

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> Any:
        return self._letters.get_text_width_height_descent(s, prop, ismath=False)

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        draw: Any = super().draw_text
        draw(gc, x, y, s.translate(ESCAPED), prop, angle, ismath=False, mtext=mtext)


class _Canvas(FigureCanvasBase):
    """The measurement of text for the layout of a figure."""

    def __init__(self, figure: Figure, renderer: _Renderer) -> None:
        super().__init__(figure)
        self._renderer = renderer

    def get_renderer(self) -> _Renderer:
        return self._renderer


def pgf(figure: Figure) -> str:
    """The figure as a picture of the package pgf; no raster image is beside it."""
    _without_pixels(figure)
    into = StringIO()
    renderer = _Renderer(figure, into)
    _Canvas(figure, renderer)
    # A first time without output, to place all parts.
    with renderer._draw_disabled():  # type: ignore[attr-defined]
        figure.draw(renderer)
    into.write(HEADER)
    into.write("\\begingroup%\n\\makeatletter%\n\\begin{pgfpicture}%\n")
    width, height = figure.get_size_inches()
    into.write(f"\\pgfpathrectangle{{\\pgfpointorigin}}{{\\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%\n")
    into.write("\\pgfusepath{use as bounding box, clip}%\n")
    figure.draw(renderer)
    into.write("\\end{pgfpicture}%\n\\makeatother%\n\\endgroup%\n")
    return into.getvalue()


def _without_pixels(figure: Figure) -> None:
    """Fields of colour become rectangles: a raster image would be a second file."""
    for at in figure.axes:
        for image in list(at.images):
            values: Any = image.get_array()
            rows, columns = values.shape
            edges = [[n - 0.5 for n in range(many + 1)] for many in (columns, rows)]
            fields: Any = at.pcolormesh
            look: Any = {"cmap": image.get_cmap(), "norm": image.norm, "zorder": image.get_zorder()}
            fields(*edges, values, edgecolors="face", linewidth=0.3, **look)
            image.remove()
    for artist in figure.findobj(lambda one: bool(one.get_rasterized())):
        artist.set_rasterized(False)
