"""Delay over time: the delay of each frame, from the run's first to its last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench.report.facts import FaultSpan
from tsnbench.report.figures.distributions import about_bounds, draw_bounds, left_out, plain
from tsnbench.report.figures.faults import shade
from tsnbench.report.figures.style import COLOURS, MARKERS, AnyFigure, Drawing, Row, Size, key, panels_of
from tsnbench.report.formatting import micros, seconds_or_millis, shortened
from tsnbench.report.parts.bounds import in_words
from tsnbench.report.parts.curves import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from tsnbench.report.parts.curves import Envelope


def draw_envelope(at: Axes, line: Envelope, place: int, scale: float) -> Line2D:
    """Draws one stream over time in the style of its place: a band with the mean, or single points.

    Returns:
        What stands for the stream in the key.
    """
    colour = COLOURS[place]
    t = [value / scale for value in line.t]
    if line.single:
        (handle,) = at.plot(t, line.mean, MARKERS[place], color=colour, markersize=2.2, markeredgewidth=0)
    else:
        at.fill_between(t, line.low, line.high, color=colour, alpha=0.28, linewidth=0)
        at.plot(t, line.high, color=colour, linewidth=0.5)
        (handle,) = at.plot(t, line.mean, color=colour, linewidth=1.3)
    return handle


def envelope_rows(line: Envelope) -> Iterator[Row]:
    """A row for each pixel column."""
    columns = ("time_ns", "min_us", "mean_us", "max_us")
    return (
        dict(zip(columns, row, strict=True))
        for row in zip(line.t, line.low, line.mean, line.high, strict=True)
    )


def delay_over_time(panels: Sequence[Panel], faults: Sequence[FaultSpan] = ()) -> Drawing:
    """Envelope of least and greatest delay with the mean as a line; single frames as points."""
    shown = [panel for panel in panels if any(curve.over_time for curve in panel.curves)]

    def draw(size: Size) -> AnyFigure:
        last = max(c.over_time.t[-1] for p in shown for c in p.curves if c.over_time)
        unit, scale = seconds_or_millis(last)
        figure, axes = panels_of(len(shown), size, 1.8 * len(shown) + 0.35)
        for at, panel in zip(axes, shown, strict=True):
            shade(at, faults, scale, last)
            handles, labels = [], []
            for place, curve in enumerate(panel.curves):
                line = curve.over_time
                if line is None:
                    continue
                handles.append(draw_envelope(at, line, place, scale))
                labels.append(shortened(curve.measure.label) + in_words(curve.measure.bound))
            draw_bounds(at, panel, "y", max(c.box.high for c in panel.curves))
            at.yaxis.set_major_formatter(plain)
            at.set_ylabel("delay (µs)")
            key(at, panel.title, handles, labels, size, last=at is axes[-1])
        axes[-1].set_xlabel(f"time of sending ({unit})")
        return figure

    return Drawing(
        "delay-over-time",
        "Delay over time",
        "By time of sending. Band: least to greatest delay in each pixel column, thick line: its mean; "
        "points where "
        "there are few frames."
        + (" Shaded: while a fault lasted." if faults else "")
        + about_bounds(shown)
        + left_out(shown),
        "; ".join(
            f"{c.measure.label}: between {micros(c.box.low * 1e3)} and {micros(c.box.high * 1e3)} µs"
            for p in shown
            for c in p.curves
        ),
        draw,
        lambda: (
            {"stream": c.measure.label} | row
            for p in shown
            for c in p.curves
            if c.over_time
            for row in envelope_rows(c.over_time)
        ),
        light=True,
    )
