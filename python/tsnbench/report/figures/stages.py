"""Box plot of latency by stage: quartiles, whiskers of 1.5 times their distance, a cross for the mean.

OCORA CCN PoC, Fig. 49.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from tsnbench.libraries import matplotlib
from tsnbench.report.figures.style import COLOURS, INK, PAGE, Drawing, Size, bytes_of
from tsnbench.report.files import write_bytes
from tsnbench.report.formatting import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tsnbench.measure.stages import StreamStages

WHISKER = 1.5
"""Length of whiskers in distances between the quartiles."""
KINDS = ("svg", "png")


def write(streams: Sequence[StreamStages], folder: Path) -> list[Path]:
    """``stages.svg`` and ``stages.png`` in the folder."""
    drawing = stages(streams)
    written = []
    for kind in KINDS:
        path = folder / f"stages.{kind}"
        write_bytes(path, bytes_of(drawing, PAGE, kind))
        written.append(path)
    return written


def box(latencies: Sequence[int]) -> dict[str, Any]:
    """The drawn values of one stage, in us."""
    values = sorted(one / 1e3 for one in latencies)
    half = len(values) // 2
    # OCORA: the quartiles are the medians of the lower and the upper half.
    lower, upper = (values[:half], values[-half:]) if half else (values, values)
    low, high = median(lower), median(upper)
    reach = WHISKER * (high - low)
    within = [one for one in values if low - reach <= one <= high + reach]
    return {
        "med": median(values),
        "mean": fmean(values),
        "q1": low,
        "q3": high,
        "whislo": within[0],
        "whishi": within[-1],
        "fliers": [one for one in values if not low - reach <= one <= high + reach],
    }


def stages(streams: Sequence[StreamStages]) -> Drawing:
    """One row of boxes per stream."""

    def draw(size: Size) -> Figure:

        rows = [[stage for stage in one.stages if stage.latencies] for one in streams]
        height = sum(0.3 * len(row) + 0.55 for row in rows) + 0.3
        figure = matplotlib.figure.Figure(figsize=(size.width, height))
        axes = figure.subplots(len(rows), 1, squeeze=False, height_ratios=[len(row) + 1 for row in rows])
        for (at,), row, one in zip(axes, rows, streams, strict=True):
            for place, stage in enumerate(row):
                colour = COLOURS[0]
                at.bxp(
                    [box(stage.latencies)],
                    positions=[place],
                    widths=0.55,
                    orientation="horizontal",
                    patch_artist=True,
                    manage_ticks=False,
                    showmeans=True,
                    boxprops={"facecolor": colour + "33", "edgecolor": colour, "linewidth": 0.8},
                    medianprops={"color": COLOURS[1], "linewidth": 1.4},
                    whiskerprops={"color": colour, "linewidth": 0.8},
                    capprops={"color": colour, "linewidth": 0.8},
                    meanprops={"marker": "x", "markersize": 4, "markeredgecolor": INK},
                    flierprops={
                        "marker": ".",
                        "markersize": 3,
                        "markerfacecolor": INK,
                        "markeredgecolor": "none",
                    },
                )
            at.set_yticks(range(len(row)), [stage.name for stage in row])
            at.set_ylim(len(row) - 0.4, -0.6)
            at.grid(axis="y", visible=False)
            at.set_title(one.stream)
            at.set_xlabel(f"latency from {one.reference} (µs)")
        return figure

    return Drawing(
        "stages",
        "Latency by stage",
        "Box: the middle half, line: median, cross: mean, whiskers: at most 1.5 times the box, dots: beyond.",
        "; ".join(
            f"{one.stream}, {stage.name}: mean {span(stage.mean_ns)}"
            for one in streams
            for stage in one.stages
            if stage.mean_ns is not None
        ),
        draw,
        lambda: (
            {"stream": one.stream, "stage": stage.name}
            | {f"{name}_us": value for name, value in box(stage.latencies).items() if name != "fliers"}
            for one in streams
            for stage in one.stages
            if stage.latencies
        ),
    )
