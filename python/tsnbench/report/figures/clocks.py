"""Clock error over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.report.clocks import MOST_CLOCKS, ClockRow
from tsnbench.report.figures.style import COLOURS, DASHES, Drawing, Size
from tsnbench.report.words import micros, printable, seconds_or_millis, signed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def clock_error(rows: Sequence[ClockRow], against: str) -> Drawing:
    """A line per clock; the axis is logarithmic beyond 100 ns, for where a run begins."""
    worst = sorted(rows, key=lambda row: -row.worst)[:MOST_CLOCKS]
    shown = [row for row in rows if row in worst]

    def draw(size: Size) -> Figure:
        from matplotlib.figure import Figure

        unit, scale = seconds_or_millis(max(row.t[-1] for row in shown))
        figure = Figure(figsize=(size.width, 2.2))
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
    )
