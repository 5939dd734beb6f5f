"""Clock error over time, of one run or of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench.libraries import matplotlib
from tsnbench.report.figures.style import COLOURS, DASHES, Drawing, Row, Size
from tsnbench.report.formatting import micros, printable, seconds_or_millis, signed
from tsnbench.report.parts.clocks import MOST_CLOCKS, ClockRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def clock_error(rows: Sequence[ClockRow], against: str) -> Drawing:
    """A line per clock; the axis is logarithmic beyond 100 ns, as errors are large at the begin of a run."""
    worst = sorted(rows, key=lambda row: -row.worst)[:MOST_CLOCKS]
    shown = [row for row in rows if row in worst]

    def draw(size: Size) -> Figure:

        unit, scale = seconds_or_millis(max(row.t[-1] for row in shown))
        figure = matplotlib.figure.Figure(figsize=(size.width, 2.2))
        at = figure.subplots()
        for place, row in enumerate(shown):
            t = [value / scale for value in row.t]
            label = printable(row.node)
            at.plot(t, row.error, color=COLOURS[place], linestyle=DASHES[place], linewidth=0.9, label=label)
        at.set_yscale("symlog", linthresh=100)
        at.yaxis.set_major_formatter(lambda ns, _: signed(ns))
        at.set_xlabel(f"true time ({unit})")
        at.set_ylabel("clock error (ns)")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    left = len(rows) - len(shown)
    return Drawing(
        "clock-error",
        "Clock error over time",
        f"How far each node's clock was ahead of {against}; linear up to 100 ns, logarithmic beyond."
        + (f" The {MOST_CLOCKS} worst; {left} more were better." if left else ""),
        "; ".join(f"{row.node}: at most {micros(row.worst)} µs in the second half" for row in shown),
        draw,
        lambda: (row for one in shown for row in _rows(one)),
    )


def _rows(clock: ClockRow) -> Iterator[Row]:
    return (
        {"node": clock.node, "time_ns": t, "error_ns": error}
        for t, error in zip(clock.t, clock.error, strict=True)
    )


MOST_BESIDE = 3
"""Number of clocks drawn for several runs: those with the greatest error."""


def clock_errors_beside(runs: Sequence[tuple[str, Sequence[ClockRow]]], against: str) -> Drawing:
    """A part of the figure per clock, with a line per run."""
    worst: dict[str, float] = {}
    for _, rows in runs:
        for row in rows:
            worst[row.node] = max(worst.get(row.node, 0.0), row.worst)
    kept = sorted(worst, key=lambda node: -worst[node])[:MOST_BESIDE]
    nodes = [node for node in worst if node in kept]

    def draw(size: Size) -> Figure:

        unit, scale = seconds_or_millis(max(row.t[-1] for _, rows in runs for row in rows))
        figure = matplotlib.figure.Figure(figsize=(size.width, 0.6 + 1.5 * len(nodes)))
        parts = figure.subplots(len(nodes), 1, sharex=True, squeeze=False)
        for node, (at,) in zip(nodes, parts, strict=True):
            for place, (label, rows) in enumerate(runs):
                for row in (row for row in rows if row.node == node):
                    t = [value / scale for value in row.t]
                    at.plot(
                        t,
                        row.error,
                        color=COLOURS[place % len(COLOURS)],
                        linestyle=DASHES[place % len(DASHES)],
                        linewidth=0.9,
                        label=printable(label),
                    )
            at.set_title(printable(node))
            at.set_yscale("symlog", linthresh=100)
            at.yaxis.set_major_formatter(lambda ns, _: signed(ns))
        parts[-1][0].set_xlabel(f"true time ({unit})")
        figure.supylabel("clock error (ns)")
        labelled = dict(zip(*reversed(parts[0][0].get_legend_handles_labels()), strict=True))
        figure.legend(labelled.values(), labelled.keys(), loc="outside lower center", ncols=3)
        return figure

    left = len(worst) - len(nodes)
    return Drawing(
        "clock-error",
        "Clock error over time",
        f"How far clocks were ahead of {against}; linear up to 100 ns, logarithmic beyond."
        + (f" The {len(nodes)} worst; {left} more were better." if left else ""),
        "; ".join(
            f"{row.node}, {label}: at most {micros(row.worst)} µs in the second half"
            for node in nodes
            for label, rows in runs
            for row in rows
            if row.node == node
        ),
        draw,
        lambda: (
            {"run": label} | found
            for label, rows in runs
            for row in rows
            if row.node in nodes
            for found in _rows(row)
        ),
    )
