"""Clock error over time, of one run or of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench.report.figures.style import COLOURS, DASHES, Drawing, Row, Size, axis_of
from tsnbench.report.formatting import micros, printable, seconds_or_millis, signed
from tsnbench.report.parts.clocks import MOST_CLOCKS, ClockRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def clock_error(rows: Sequence[ClockRow], against: str) -> Drawing:
    """A line per clock; the axis is logarithmic beyond 100 ns, as errors are large at the begin of a run."""
    worst = sorted(rows, key=lambda row: -row.worst)[:MOST_CLOCKS]
    shown = [row for row in rows if row in worst]

    def draw(size: Size) -> Figure:
        figure, (at,) = axis_of([None], size, 1.85)
        _lines(
            at, [(place, row.node, row) for place, row in enumerate(shown)], max(row.t[-1] for row in shown)
        )
        at.set_ylabel("clock error (ns)")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    left = len(rows) - len(shown)
    return Drawing(
        "clock-error",
        "Clock error over time",
        f"Each node's clock minus {against}; linear up to 100 ns, logarithmic beyond."
        + (f" The {MOST_CLOCKS} clocks with the largest errors; {left} more are not drawn." if left else ""),
        "; ".join(f"{row.node}: at most {micros(row.worst)} µs in the second half" for row in shown),
        draw,
        lambda: (row for one in shown for row in _rows(one)),
    )


def _lines(at: Axes, rows: Sequence[tuple[int, str, ClockRow]], longest: float) -> None:
    """A line with a place among the colours and a label for each clock."""
    unit, scale = seconds_or_millis(longest)
    for place, label, row in rows:
        at.plot(
            [value / scale for value in row.t], row.error, linewidth=0.9, label=printable(label),
            color=COLOURS[place % len(COLOURS)], linestyle=DASHES[place % len(DASHES)],
        )  # fmt: skip
    at.set_yscale("symlog", linthresh=100)
    at.yaxis.set_major_formatter(lambda ns, _: signed(ns))
    at.set_xlabel(f"true time ({unit})")


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
        longest = max(row.t[-1] for _, rows in runs for row in rows)
        figure, axes = axis_of(nodes, size, 1.5, share_x=True, below=0.25)
        for node, at in zip(nodes, axes, strict=True):
            there = [
                (n, label, one) for n, (label, rows) in enumerate(runs) for one in rows if one.node == node
            ]
            _lines(at, there, longest)
            at.set_title(printable(node))
        for at in axes[:-1]:
            at.set_xlabel("")
        figure.supylabel("clock error (ns)")
        labelled = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
        figure.legend(labelled.values(), labelled.keys(), loc="outside lower center", ncols=3)
        return figure

    left = len(worst) - len(nodes)
    return Drawing(
        "clock-error",
        "Clock error over time",
        f"Clocks minus {against}; linear up to 100 ns, logarithmic beyond."
        + (f" The {len(nodes)} clocks with the largest errors; {left} more are not drawn." if left else ""),
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
