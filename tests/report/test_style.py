"""Figures inside a page: coordinates are short, text is unchanged."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from tsnbench.report.figures.style import COLUMN, Drawing, Size, bytes_of, inline


def test_a_version_in_a_key_is_not_rounded():
    def draw(size: Size) -> Figure:
        figure = Figure(figsize=(size.width, 1.5))
        at = figure.subplots()
        at.plot([0, 1 / 3, 1], [0.123456, 2 / 3, 1], label="Linux 6.12.117 (vm)")
        at.set_title("0.123456 s")
        at.legend()
        return figure

    page = inline(Drawing("one", "One", "", "", draw, lambda: ()))
    assert "Linux 6.12.117 (vm)" in page
    assert "0.123456 s" in page
    paths = [part.partition('"')[0] for part in page.split(' d="')[1:]]
    assert paths
    assert all(len(word.partition(".")[2]) <= 2 for path in paths for word in path.split())


@pytest.mark.parametrize("kind", ["page", "svg"])
def test_digits_that_no_figure_shows_change_no_octet(kind):
    """matplotlib makes the id of a panel's edges of their coordinates: 1e-15 of the width is another id."""

    def drawn(width: float) -> str:
        def draw(size: Size) -> Figure:
            figure = Figure(figsize=(4, 3), layout="none")
            at = figure.add_axes((0.1, 0.1, width, 0.8))
            at.plot([0, 1], [0, 1])
            return figure

        one = Drawing("one", "One", "", "", draw, lambda: ())
        return inline(one) if kind == "page" else bytes_of(one, COLUMN, "svg").decode()

    assert drawn(0.8) == drawn(0.8 + 1e-15)
    assert 'clip-path="url(#one-' in drawn(0.8)
    assert drawn(0.8) != drawn(0.7)
