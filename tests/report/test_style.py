"""Figures inside a page: coordinates are short, text is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.report.figures.style import Drawing, Size, inline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def test_a_version_in_a_key_is_not_rounded():
    def draw(size: Size) -> Figure:
        from matplotlib.figure import Figure

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
