"""Faults over time: their periods, and the times of lost frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench.report.facts import FaultSpan
from tsnbench.report.figures.style import (
    COLOURS,
    INK,
    LIMIT,
    AnyFigure,
    Drawing,
    Row,
    Size,
    few_whole_marks,
    panels_of,
)
from tsnbench.report.formatting import count, printable, seconds_or_millis, shortened, span
from tsnbench.report.parts.faults import Losses, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARK = 0.14
"""Opacity of a fault behind the data."""


def shade(axes: Axes, faults: Sequence[FaultSpan], scale: float, last: float) -> None:
    """Marks the periods of faults behind the data; ``last`` (ns): the end of the data."""
    for fault in faults:
        if fault.from_ns <= last:
            begin, end = fault.from_ns / scale, min(fault.until_ns, last) / scale
            # The line at the beginning makes a fault visible that is shorter than a pixel.
            axes.axvspan(begin, end, facecolor=LIMIT, alpha=MARK, edgecolor="none", zorder=0)
            axes.axvline(begin, color=LIMIT, alpha=0.5, linewidth=0.5, zorder=0)


def faults_over_time(faults: Sequence[FaultSpan], lost: Sequence[Losses], duration_ns: int) -> Drawing:
    """A bar per fault, and below them the lost frames of each priority, by time of sending."""
    shown = drawn(faults)

    def draw(size: Size) -> AnyFigure:
        unit, scale = seconds_or_millis(duration_ns)
        heights = [0.22 * len(shown) + 0.25, *([0.9] * len(lost))]
        figure, rows = panels_of(len(heights), size, sum(heights) + 0.6, ratios=heights, share_x=True)
        bars, *panels = rows
        for place, fault in enumerate(shown):
            begin, end = fault.from_ns / scale, min(fault.until_ns, duration_ns) / scale
            bars.barh(place, max(end - begin, 0), left=begin, height=0.6, color=LIMIT, alpha=0.75)
            bars.plot([begin], [place], marker="|", color=LIMIT, markersize=7)
        bars.set_yticks(range(len(shown)), [_tick(fault) for fault in shown])
        bars.set_ylim(len(shown) - 0.4, -0.6)
        bars.grid(visible=False, axis="y")
        for number, (at, one) in enumerate(zip(panels, lost, strict=True)):
            shade(at, shown, scale, duration_ns)
            begins = [t / scale for t in one.t]
            at.bar(begins, one.lost, width=one.width_ns / scale, align="edge", color=COLOURS[number % 6])
            at.set_title(one.title, color=INK)
            at.set_ylabel("lost frames")
            at.set_ylim(bottom=0)
            few_whole_marks(at.yaxis, 3)
        rows[-1].set_xlim(0, duration_ns / scale)
        rows[-1].set_xlabel(f"time of sending ({unit})" if lost else f"time ({unit})")
        return figure

    left = len(faults) - len(shown)
    return Drawing(
        "faults",
        "Faults over time",
        "The time of each fault"
        + (", and frames that did not arrive, by time of sending, in each pixel column." if lost else ".")
        + (f" {left} more faults are in the table." if left else ""),
        "; ".join(
            f"{label(fault)}: from {span(fault.from_ns)} for {span(fault.until_ns - fault.from_ns)}"
            + ("" if fault.frames is None else f", {count(fault.frames)} frames")
            for fault in shown
        ),
        draw,
        lambda: _rows(shown, lost),
        light=True,
    )


def _rows(faults: Sequence[FaultSpan], lost: Sequence[Losses]) -> Iterator[Row]:
    for fault in faults:
        yield {
            "what": label(fault),
            "from_ns": fault.from_ns,
            "until_ns": fault.until_ns,
            "frames": fault.frames,
        }
    for one in lost:
        for begin, frames in zip(one.t, one.lost, strict=True):
            until = begin + one.width_ns
            yield {"what": f"lost, {one.title}", "from_ns": begin, "until_ns": until, "frames": frames}


def _tick(fault: FaultSpan) -> str:
    # The font of figures has no narrow space.
    return printable(shortened(label(fault).replace("\u202f", " ")))


def label(fault: FaultSpan) -> str:
    """The name of a fault in figures."""
    return f"{fault.what}: {fault.where}" if fault.where else fault.what
