"""Distributions of delay and jitter: CCDF of delay, ECDF of jitter, box plots."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tsnbench.libraries import matplotlib
from tsnbench.report.figures.style import (
    COLOURS,
    DASHES,
    INK,
    MARKERS,
    AnyFigure,
    Drawing,
    Row,
    Size,
    key,
    panels_of,
)
from tsnbench.report.figures.writers.axis import Axis
from tsnbench.report.figures.writers.panel import PagePanel
from tsnbench.report.formatting import count, micros, shortened, signed
from tsnbench.report.parts.bounds import drawn, in_words
from tsnbench.report.parts.curves import Curve, Panel, Steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def left_out(panels: Sequence[Panel]) -> str:
    """The streams that a figure does not show, in words."""
    missing = sum(panel.left_out for panel in panels)
    if not missing:
        return ""
    known = any(panel.title.startswith("Priority") for panel in panels)
    return (
        f" {'Of each priority the' if known else 'The'} six streams with the greatest delay are drawn; "
        f"{count(missing)} more are in the statistics table."
    )


def ccdf(panels: Sequence[Panel]) -> Drawing:
    """The share of frames with a delay greater than x, on a log axis."""

    def draw(size: Size) -> AnyFigure:
        figure, axes = panels_of(len(panels), size, 1.8 * len(panels) + 0.35)
        for at, panel in zip(axes, panels, strict=True):
            handles, labels = [], []
            bottom = 0.5 / max(curve.frames for curve in panel.curves)
            highest = max(c.box.high for c in panel.curves)
            for place, curve in enumerate(panel.curves):
                handles.append(draw_ccdf(at, curve, bottom, place))
                labels.append(shortened(curve.measure.label) + in_words(curve.measure.bound))
            right = [highest, *draw_bounds(at, panel, "x", highest)]
            log_share(at, bottom)
            at.set_ylabel("frames later")
            log = delay_axis(at, "x", min(c.box.low for c in panel.curves), max(right))
            if at is not axes[-1] and not log:
                at.set_xlabel("")
            key(at, panel.title, handles, labels, size, last=bool(at.get_xlabel()))
        return figure

    return Drawing(
        "ccdf",
        "Delay: share of frames later than x",
        "Complementary distribution of the delay, log axis; the marker is the slowest frame."
        + about_bounds(panels)
        + left_out(panels),
        "; ".join(
            f"{c.measure.label}: 99 percent within {micros(c.box.p99 * 1e3)} µs, "
            f"slowest {micros(c.box.high * 1e3)} µs"
            for p in panels
            for c in p.curves
        ),
        draw,
        lambda: (row for p in panels for c in p.curves for row in later_rows(c)),
        light=True,
    )


def step_rows(steps: Steps, x: str, y: str) -> Iterator[Row]:
    """A row for each step."""
    return ({x: left, y: share} for left, share in zip(steps.x, steps.y, strict=True))


def later_rows(curve: Curve) -> Iterator[Row]:
    """The rows of :func:`draw_ccdf`."""
    named: Row = {"stream": curve.measure.label}
    return (named | row for row in step_rows(curve.ccdf, "delay_us", "share_later"))


def box_row(curve: Curve) -> Row:
    """The row of a box: the fastest frame, five percentiles, the slowest frame; delays in µs."""
    box = curve.box
    return {
        "stream": curve.measure.label,
        "hops": curve.measure.hops,
        "frames": curve.frames,
        "min_us": box.low,
        "p1_us": box.p1,
        "p25_us": box.p25,
        "median_us": box.median,
        "p75_us": box.p75,
        "p99_us": box.p99,
        "max_us": box.high,
    }


def draw_bounds(at: Axes, panel: Panel, which: Literal["x", "y"], highest: float) -> list[float]:
    """A dotted line for each stream with a bound in the drawn range, in its colour; returns their
    positions."""
    line = at.axvline if which == "x" else at.axhline
    found = []
    for place, curve in enumerate(panel.curves):
        if (where := drawn(curve.measure.bound, highest)) is not None:
            line(where, color=COLOURS[place % len(COLOURS)], linewidth=1.1, linestyle=(0, (1, 1.5)))
            found.append(where)
    if found and isinstance(at, PagePanel):
        at.note("bound", max(found), which, fontsize="small", color=INK)
    elif found:
        last = max(found)
        along: dict[str, Any] = (
            {"xy": (last, 1), "xycoords": ("data", "axes fraction"), "xytext": (-2, -2), "rotation": 90}
            if which == "x"
            else {"xy": (1, last), "xycoords": ("axes fraction", "data"), "xytext": (-2, 2)}
        )
        across: dict[str, Any] = {"ha": "right", "va": "top" if which == "x" else "bottom"}
        at.annotate("bound", textcoords="offset points", fontsize="small", color=INK, **along, **across)
    return found


def about_bounds(panels: Sequence[Panel]) -> str:
    """The sentence of a caption about the dotted lines."""
    if not any(curve.measure.bound for panel in panels for curve in panel.curves):
        return ""
    return " Dotted: the worst-case bound from the Plan alone, where it is near."


def draw_ccdf(at: Axes, curve: Curve, bottom: float, place: int, colour: Any = None) -> Any:
    """Draws one curve; no frame is later than the slowest one, so there the curve leaves a log axis
    downwards."""
    x, y = curve.ccdf.x, [max(share, bottom) for share in curve.ccdf.y]
    style: dict[str, Any] = {
        "color": colour or COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place % len(DASHES)],
    }
    (line,) = at.step([x[0], *x], [1.0, *y], where="post", **style)
    at.plot(
        x[-1], y[-2] if len(y) > 1 else 1.0, MARKERS[place % len(MARKERS)], color=style["color"], markersize=4
    )
    return line


def log_share(at: Axes, bottom: float) -> None:
    """A log axis of shares, down to the least share that this number of frames can have."""
    at.set_yscale("log")
    at.set_ylim(bottom, 1.6)
    at.minorticks_off()
    decades = max(1, math.ceil(-math.log10(bottom)))
    ticks = range(0, decades, 1 if decades <= 5 else 2)
    at.set_yticks([10.0**-n for n in ticks], [f"{100 / 10**n:.10g} %" for n in ticks])


def jitter(panels: Sequence[Panel]) -> Drawing:
    """The share of frames whose delay-step-abs is at most x."""
    shown = [panel for panel in panels if any(curve.jitter for curve in panel.curves)]

    def draw(size: Size) -> AnyFigure:
        figure, axes = panels_of(len(shown), size, 1.8 * len(shown) + 0.35)
        for at, panel in zip(axes, shown, strict=True):
            handles, labels = [], []
            for place, curve in enumerate(panel.curves):
                if curve.jitter is None:
                    continue
                x, y = curve.jitter.x, curve.jitter.y
                (line,) = at.step(
                    [x[0], *x], [0.0, *y], where="post", color=COLOURS[place], linestyle=DASHES[place]
                )
                at.plot(x[-1], y[-1], MARKERS[place], color=COLOURS[place], markersize=4, clip_on=False)
                handles.append(line)
                labels.append(shortened(curve.measure.label))
            at.set_ylim(0, 1.02)
            if all(curve.jitter is None or curve.jitter.x[-1] == 0 for curve in panel.curves):
                at.set_xlim(-0.05, 1)
            at.xaxis.set_major_formatter(plain)
            at.set_ylabel("share of frames")
            key(at, panel.title, handles, labels, size, last=at is axes[-1])
        axes[-1].set_xlabel("delay-step-abs (µs)")
        return figure

    return Drawing(
        "jitter-ecdf",
        "Jitter: share of frames with a step of at most x",
        "Distribution of the jitter delay-step-abs, |delay(i) \u2212 delay(i\u22121)| within a flow; the "
        "marker is the "
        "greatest step." + left_out(shown),
        "; ".join(
            f"{c.measure.label}: greatest step {micros(c.jitter.x[-1] * 1e3)} µs"
            for p in shown
            for c in p.curves
            if c.jitter
        ),
        draw,
        lambda: (
            {"stream": c.measure.label} | row
            for p in shown
            for c in p.curves
            if c.jitter
            for row in step_rows(c.jitter, "delay_step_abs_us", "share_at_most")
        ),
        light=True,
    )


def boxes(panels: Sequence[Panel]) -> Drawing:
    """A box per stream, streams with fewer hops first within their priority."""
    rows = [
        (panel, curve)
        for panel in panels
        for curve in sorted(panel.curves, key=lambda c: c.measure.hops or 0)
    ]

    def draw(size: Size) -> AnyFigure:
        figure, (at,) = panels_of(1, size, 0.24 * len(rows) + 0.7)
        draw_boxes(at, [curve for _, curve in rows], horizontal=True)
        names = [
            f"{shortened(c.measure.label, 30)}, {hops(c.measure.hops)}"
            if c.measure.hops
            else shortened(c.measure.label)
            for _, c in rows
        ]
        at.set_yticks(range(len(rows)), names)
        at.set_ylim(len(rows) - 0.4, -0.6)
        limits = [(c.box.low, c.box.high) for _, c in rows]
        delay_axis(at, "x", min(low for low, _ in limits), max(high for _, high in limits))
        at.grid(axis="y", visible=False)
        last = None
        for place, (panel, _) in enumerate(rows):
            if last is not None and panel is not last:
                at.axhline(place - 0.5, color=INK, linewidth=0.4)
            last = panel
        return figure

    return Drawing(
        "boxes",
        "Delay by stream and hop count",
        "Box: 25th to 75th percentile, line: median, whiskers: 1st to 99th percentile, dots: fastest and "
        "slowest "
        "frame. Lines separate the priorities, highest first." + left_out(panels),
        "; ".join(
            f"{c.measure.label}: median {micros(c.box.median * 1e3)} µs, "
            f"1st to 99th percentile {micros(c.box.p1 * 1e3)} to {micros(c.box.p99 * 1e3)} µs"
            for _, c in rows
        ),
        draw,
        lambda: (box_row(c) for _, c in rows),
        light=True,
    )


def delay_axis(at: Axes, which: Literal["x", "y"], low: float, high: float) -> bool:
    """An axis of delays in µs; returns whether it is logarithmic, for a wide range."""
    axis = at.xaxis if which == "x" else at.yaxis
    logarithmic = 0 < low < high / 40
    if logarithmic:
        at.set(**{f"{which}scale": "log"})
        log_marks(axis, (1, 2, 5) if high / low < 100 else (1,))
    elif which == "y":
        at.set_ylim(bottom=0)
    axis.set_major_formatter(plain)
    axis.set_label_text("delay (µs, log)" if logarithmic else "delay (µs)")
    return logarithmic


def log_marks(axis: Any, parts: tuple[int, ...]) -> None:
    """Marks with texts at these multiples of each decade."""
    if isinstance(axis, Axis):
        axis.parts = parts
        return

    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=parts))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def plain(value: float, _place: float = 0) -> str:
    """A number on a log axis in plain notation."""
    return signed(value)


def hops(number: int | None) -> str:
    """``1 hop``, ``3 hops``."""
    return "" if number is None else f"{number} hop" if number == 1 else f"{number} hops"


def draw_boxes(at: Axes, curves: Sequence[Curve], *, horizontal: bool, first: int = 0) -> None:
    """Boxes at ``first``, ``first + 1``, … of an axis."""
    colour = COLOURS[0]
    for place, curve in enumerate(curves, first):
        box = curve.box
        stats = {
            "med": box.median,
            "q1": box.p25,
            "q3": box.p75,
            "whislo": box.p1,
            "whishi": box.p99,
            "fliers": [box.low, box.high],
        }
        at.bxp(
            [stats],
            positions=[place],
            widths=0.55,
            orientation="horizontal" if horizontal else "vertical",
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour + "33", "edgecolor": colour, "linewidth": 0.8},
            medianprops={"color": LIMIT_FREE, "linewidth": 1.4},
            whiskerprops={"color": colour, "linewidth": 0.8},
            capprops={"color": colour, "linewidth": 0.8},
            flierprops={"marker": ".", "markersize": 4, "markerfacecolor": INK, "markeredgecolor": "none"},
        )


LIMIT_FREE = "#d55e00"
"""The median's colour: the palette's, so that it is not taken for a limit."""
