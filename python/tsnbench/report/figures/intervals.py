"""Figures of captures: gaps between frames, rates over time, and the times of losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.report.figures.distributions import delay_axis, plain, step_rows
from tsnbench.report.figures.style import COLOURS, DASHES, MARKERS, Drawing, Size, axis_of, key
from tsnbench.report.figures.time import draw_envelope, envelope_rows
from tsnbench.report.formatting import count, micros, seconds_or_millis, shortened
from tsnbench.report.parts.intervals import GapPanel, Moments

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gaps(panels: Sequence[GapPanel]) -> Drawing:
    """The share of gaps that are at most x."""

    def draw(size: Size) -> Figure:
        figure, axes = axis_of(panels, size, 1.8)
        for at, panel in zip(axes, panels, strict=True):
            handles = []
            for place, curve in enumerate(panel.curves):
                x, y = curve.distribution.x, curve.distribution.y
                (line,) = at.step(
                    [x[0], *x], [0.0, *y], where="post", color=COLOURS[place], linestyle=DASHES[place]
                )
                at.plot(x[-1], y[-1], MARKERS[place], color=COLOURS[place], markersize=4, clip_on=False)
                handles.append(line)
            at.set_ylim(0, 1.02)
            low, high = (
                pick(c.distribution.x[end] for c in panel.curves) for pick, end in ((min, 0), (max, -1))
            )
            log = delay_axis(at, "x", low, high)
            at.set_xlabel("interval (µs, log)" if log else "interval (µs)")
            if at is not axes[-1] and not log:
                at.set_xlabel("")
            at.set_ylabel("share of frames")
            names = [shortened(curve.label) for curve in panel.curves]
            key(at, panel.title, handles, names, size, last=bool(at.get_xlabel()))
        return figure

    return Drawing(
        "intervals",
        "Intervals: share of gaps of at most x",
        "Distribution of the gaps between frames of a stream; the marker is the longest gap."
        + _left_out(panels),
        _spoken(panels),
        draw,
        lambda: (
            {"at": panel.title, "stream": curve.label} | row
            for panel in panels
            for curve in panel.curves
            for row in step_rows(curve.distribution, "interval_us", "share_at_most")
        ),
    )


def gaps_over_time(panels: Sequence[GapPanel]) -> Drawing:
    """Envelope of least and greatest gap with the mean as a line; single gaps as points."""

    def draw(size: Size) -> Figure:
        unit, scale = seconds_or_millis(max(c.over_time.t[-1] for p in panels for c in p.curves))
        figure, axes = axis_of(panels, size, 1.8)
        for at, panel in zip(axes, panels, strict=True):
            handles = []
            for place, curve in enumerate(panel.curves):
                handles.append(draw_envelope(at, curve.over_time, place, scale))
            at.yaxis.set_major_formatter(plain)
            at.set_ylabel("interval (µs)")
            names = [shortened(curve.label) for curve in panel.curves]
            key(at, panel.title, handles, names, size, last=at is axes[-1])
        axes[-1].set_xlabel(f"time of the second frame ({unit})")
        return figure

    return Drawing(
        "intervals-over-time",
        "Intervals over time",
        "Band: least to greatest gap in each pixel column, thick line: its mean; points where there are few "
        "frames." + _left_out(panels),
        _spoken(panels),
        draw,
        lambda: (
            {"at": panel.title, "stream": curve.label} | row
            for panel in panels
            for curve in panel.curves
            for row in envelope_rows(curve.over_time)
        ),
    )


def moments(name: str, title: str, caption: str, axis: str, lines: Sequence[Moments]) -> Drawing:
    """One line per stream that stands still for the length of a moment."""

    def draw(size: Size) -> Figure:
        unit, scale = seconds_or_millis(max(one.t[-1] for one in lines))
        figure, (at,) = axis_of([None], size, 1.8)
        handles = []
        for place, one in enumerate(lines):
            t = [value / scale for value in (*one.t, one.t[-1] + one.width_ns)]
            (line,) = at.step(
                t, [*one.y, one.y[-1]], where="post", color=COLOURS[place], linestyle=DASHES[place]
            )
            handles.append(line)
        at.set_ylim(0, max(1e-9, 1.08 * max(max(one.y) for one in lines)))
        at.yaxis.set_major_formatter(plain)
        at.set_ylabel(axis)
        at.set_xlabel(f"time ({unit})")
        key(at, "Streams", handles, [shortened(one.label) for one in lines], size, last=True)
        return figure

    spoken = "; ".join(f"{one.label}: at most {max(one.y):,.4g}" for one in lines)
    return Drawing(
        name,
        title,
        caption,
        spoken,
        draw,
        lambda: (
            {"stream": one.label, "from_ns": t, "until_ns": t + one.width_ns, axis: y}
            for one in lines
            for t, y in zip(one.t, one.y, strict=True)
        ),
    )


def _left_out(panels: Sequence[GapPanel]) -> str:
    missing = max(panel.left_out for panel in panels)
    return (
        f" The six streams with the most frames are drawn; {count(missing)} more are not." if missing else ""
    )


def _spoken(panels: Sequence[GapPanel]) -> str:
    return "; ".join(
        f"{panel.title}, {curve.label}: gaps between {micros(curve.distribution.x[0] * 1e3)} and "
        f"{micros(curve.distribution.x[-1] * 1e3)} µs"
        for panel in panels
        for curve in panel.curves
    )
