"""Figures over several runs: delay along the axis, box plots per run, CCDFs laid over each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tsnbench.libraries import matplotlib
from tsnbench.report.facts import Bound
from tsnbench.report.figures.distributions import (
    box_row,
    delay_axis,
    draw_boxes,
    draw_ccdf,
    later_rows,
    log_share,
)
from tsnbench.report.figures.style import (
    COLOURS,
    DASHES,
    INK,
    LIMIT,
    MARKERS,
    Drawing,
    Size,
    axis_of,
    key_below,
    labelled,
)
from tsnbench.report.formatting import micros, printable, shortened
from tsnbench.report.parts.bounds import drawn
from tsnbench.report.parts.curves import Curve
from tsnbench.report.parts.sweep import MOST_OVERLAID, Along, Sweep, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TURNED = 60
"""Degrees by which names of runs are turned."""
STATISTICS: tuple[Literal["max", "p99", "mean", "median"], ...] = ("max", "p99", "mean", "median")


def drawings(sweep: Sweep) -> list[Drawing]:
    """Every figure for which the runs have data."""
    if not sweep.drawn:
        return []
    found = [along_axis(sweep)]
    if any(curve for _, curves in sweep.drawn for curve in curves):
        found += [boxes(sweep), overlay(sweep)]
    return found


def _left_out(sweep: Sweep) -> str:
    return f" {sweep.left_out} more streams are in the tables only." if sweep.left_out else ""


def _axis_name(sweep: Sweep) -> str:
    return printable(sweep.axis.name)


def _along(sweep: Sweep) -> str:
    return "run by run" if sweep.axis.name == "run" else f"over {_axis_name(sweep)}"


def _grid(
    sweep: Sweep,
    size: Size,
    height: float,
    fill: Callable[[Axes, Along, tuple[Curve | None, ...], bool], None],
    below: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """A panel per stream, one under the other, and ``below`` inches for what is under the last one."""
    figure, axes = axis_of(sweep.drawn, size, height, below=below)
    for at, (along, curves) in zip(axes, sweep.drawn, strict=True):
        fill(at, along, curves, at is axes[-1])
        priority = "" if along.pcp is None else f" (priority {along.pcp})"
        at.set_title(shortened(along.name) + priority)
    return figure, axes


def _statistics(sweep: Sweep, at: Axes, along: Along, last: bool) -> None:
    """The statistics of one stream along the axis, with its limit and its bounds."""
    there = [
        (x, m.delay) for x, m in zip(sweep.axis.at, along.measures, strict=True) if m is not None and m.delay
    ]
    highest = max(stat["max"] for _, stat in there) / 1e3
    for place, statistic in enumerate(STATISTICS):
        # Without a numeric axis, points have no line between them: the line would have no meaning.
        aside = 0.0 if sweep.axis.numeric else (place - 1.5) * 0.12
        at.plot(
            [x + aside for x, _ in there],
            [stat[statistic] / 1e3 for _, stat in there],
            color=COLOURS[place],
            linestyle=DASHES[place] if sweep.axis.numeric else "none",
            marker=MARKERS[place],
            markersize=4,
            clip_on=False,
            label=statistic,
        )
    if along.limit_ns is not None and along.limit_ns / 1e3 < 2.5 * highest:
        at.axhline(along.limit_ns / 1e3, color=LIMIT, linewidth=0.9, linestyle=(0, (1, 1.5)), label="limit")
    _bound_marks(at, sweep.axis.at, along, highest)
    delay_axis(at, "y", min(stat["median"] for _, stat in there) / 1e3, highest)
    if not sweep.axis.numeric:
        at.set_xlim(-0.6, len(sweep.runs) - 0.4)
    _ticks(at, sweep, sweep.axis.at, last=last)


def along_axis(sweep: Sweep) -> Drawing:
    """Mean, median, p99 and maximum of the delay along the axis."""

    def fill(at: Axes, along: Along, _: tuple[Curve | None, ...], last: bool) -> None:
        _statistics(sweep, at, along, last)

    def draw(size: Size) -> Figure:
        figure, axes = _grid(sweep, size, 1.9, fill, _below(sweep, size))
        _legend_of(sweep, figure, axes, size, runs=False)
        return figure

    return Drawing(
        "delay-along-axis",
        f"Delay {_along(sweep)}",
        "Per stream and run; each panel has its own scale. A limit is drawn where it is near, "
        "and so is the worst case of each run." + _left_out(sweep),
        "; ".join(
            f"{along.name}: "
            + ", ".join(
                f"{label} mean {micros(m.delay['mean'])}, maximum {micros(m.delay['max'])} µs"
                for label, m in zip(sweep.labels, along.measures, strict=True)
                if m is not None and m.delay is not None
            )
            for along, _ in sweep.drawn
        ),
        draw,
        lambda: (
            {"stream": along.name, "run": label}
            | {f"{statistic}_us": m.delay[statistic] / 1e3 for statistic in STATISTICS}
            | {
                f"{name}_us": None if one is None else one / 1e3
                for name, one in (("limit", along.limit_ns), ("bound", bound))
            }
            for along, _ in sweep.drawn
            for label, m, bound in zip(sweep.labels, along.measures, along.bounds_ns, strict=True)
            if m is not None and m.delay is not None
        ),
    )


def boxes(sweep: Sweep) -> Drawing:
    """A box per run, a panel per stream."""

    def fill(at: Axes, along: Along, curves: tuple[Curve | None, ...], last: bool) -> None:
        there = [(place, curve) for place, curve in enumerate(curves) if curve is not None]
        if not there:
            return
        for place, curve in there:
            draw_boxes(at, [curve], horizontal=False, first=place)
        delay_axis(at, "y", min(c.box.low for _, c in there), max(c.box.high for _, c in there))
        at.set_xlim(-0.6, len(curves) - 0.4)
        _ticks(at, sweep, [float(n) for n in range(len(curves))], last=last)
        at.grid(axis="x", visible=False)

    def draw(size: Size) -> Figure:
        return _grid(sweep, size, 1.9, fill, _below(sweep, size))[0]

    return Drawing(
        "boxes-along-axis",
        f"Spread of the delay {_along(sweep)}",
        "Box: 25th to 75th percentile, line: median, whiskers: 1st to 99th percentile, dots: fastest and "
        "slowest "
        "frame." + _left_out(sweep),
        "",
        draw,
        lambda: (
            {"run": label} | box_row(curve)
            for _, curves in sweep.drawn
            for label, curve in zip(sweep.labels, curves, strict=True)
            if curve is not None
        ),
    )


def overlay(sweep: Sweep) -> Drawing:
    """CCDFs in one panel per stream: of all runs with the stream, or of an even choice of them."""
    kept = sorted({place for _, curves in sweep.drawn for place in _overlaid(curves)})

    def fill(at: Axes, along: Along, curves: tuple[Curve | None, ...], _: bool) -> None:
        there = [
            (kept.index(place), curve) for place in _overlaid(curves) if (curve := curves[place]) is not None
        ]
        if not there:
            return
        bottom = 0.5 / max(curve.frames for _, curve in there)
        for n, curve in there:
            line = draw_ccdf(at, curve, bottom, n, colour=_shade(n, len(kept)))
            line.set_label(shortened(sweep.axis.ticks[kept[n]], 40))
        log_share(at, bottom)
        at.set_ylabel("frames later")
        highest = max(c.box.high for _, c in there)
        right = _bound_lines(at, [(n, along.bounds_ns[kept[n]]) for n, _ in there], len(kept), highest)
        delay_axis(at, "x", min(c.box.low for _, c in there), max(highest, right))

    def draw(size: Size) -> Figure:
        figure, axes = _grid(sweep, size, 2.1, fill)
        _legend_of(sweep, figure, axes, size, runs=True)
        return figure

    all_shown = all(len(_overlaid(curves)) == sum(map(bool, curves)) for _, curves in sweep.drawn)
    return Drawing(
        "ccdf-overlay",
        "Delay: share of frames later than x, run by run",
        "Complementary distribution of the delay, log axis; the marker is the slowest frame."
        + ("" if all_shown else f" {MOST_OVERLAID} runs per stream, evenly chosen.")
        + _left_out(sweep),
        "",
        draw,
        lambda: (
            {"run": sweep.labels[place]} | row
            for _, curves in sweep.drawn
            for place in _overlaid(curves)
            if (curve := curves[place]) is not None
            for row in later_rows(curve)
        ),
    )


def _overlaid(curves: Sequence[Curve | None]) -> list[int]:
    """The runs of a stream's panel, by index: a stream that only some runs have is also drawn."""
    there = [place for place, curve in enumerate(curves) if curve is not None]
    return [there[n] for n in spread(len(there), MOST_OVERLAID)]


def _bound_marks(at: Axes, places: Sequence[float], along: Along, highest: float) -> None:
    """The worst case of every run at the run's own position, if it is in the drawn range."""
    near = [
        (x, where)
        for x, bound in zip(places, along.bounds_ns, strict=True)
        if (where := drawn(Bound(bound), highest)) is not None
    ]
    if near:
        at.plot(
            [x for x, _ in near],
            [where for _, where in near],
            color=INK,
            linestyle="none",
            marker="_",
            markersize=13,
            markeredgewidth=1.4,
            label="worst-case bound",
        )


def _bound_lines(at: Axes, bounds: Sequence[tuple[int, int | None]], many: int, highest: float) -> float:
    """The worst case of every drawn run, if it is in the drawn range: one line if all are equal, otherwise
    one in each run's colour. Returns the greatest, in µs."""
    same = len({bound for _, bound in bounds}) == 1
    right = 0.0
    for n, bound in bounds[:1] if same else bounds:
        if (where := drawn(Bound(bound), highest)) is not None:
            colour = INK if same else _shade(n, many)
            label = "worst-case bound" if same else "worst-case bound, in its run's colour"
            at.axvline(where, color=colour, linewidth=1.1, linestyle=(0, (1, 1.5)), label=label)
            right = max(right, where)
    return right


def _shade(place: int, many: int) -> Any:
    """A colour from dark to light along the axis; all are readable on white and on black."""
    return matplotlib.colormaps["viridis"](0.08 + 0.72 * place / max(1, many - 1))


def _labels(sweep: Sweep) -> tuple[list[str], list[int], bool]:
    """The names of all runs, which of them are written, and whether these are turned to fit."""
    # The text in brackets gets a line of its own.
    labels = [
        "\n".join(shortened(line, 24) for line in tick.replace(" (", "\n(", 1).split("\n"))
        for tick in sweep.axis.ticks
    ]
    kept = spread(len(labels), 20)
    return labels, kept, sum(_longest(labels[n]) for n in kept) > 44


def _longest(label: str) -> int:
    return max(map(len, label.split("\n")))


def _below(sweep: Sweep, size: Size) -> float:
    """The inches that turned names of runs need under the last panel, which would be squeezed otherwise."""
    labels, kept, turned = _labels(sweep)
    if not turned:
        return 0.0
    letter = 0.6 * size.letters / 72
    return math.sin(math.radians(TURNED)) * letter * max(_longest(labels[n]) for n in kept)


def _ticks(at: Axes, sweep: Sweep, where: Sequence[float], *, last: bool) -> None:
    """The runs on the x axis; names that do not fit are turned, and are then under the last panel only."""
    labels, kept, turned = _labels(sweep)
    shown = [labels[n] if last or not turned else "" for n in kept]
    at.set_xticks([where[n] for n in kept], shown)
    if turned:
        at.tick_params(axis="x", rotation=TURNED)
        for text in at.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    if (last or not turned) and sweep.axis.name != "run":
        at.set_xlabel(_axis_name(sweep))


def _legend_of(sweep: Sweep, figure: Figure, axes: Sequence[Axes], size: Size, *, runs: bool) -> None:
    """One key for all panels, with all their lines."""
    if found := labelled(axes):
        key_below(figure, found, size, _axis_name(sweep) if runs and sweep.axis.name != "run" else None)
