"""Frame by frame: the difference of each frame's delay from its delay in the first run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.report.figures.distributions import step_rows
from tsnbench.report.figures.style import COLOURS, DASHES, INK, Drawing, Size, axis_of, columns_for
from tsnbench.report.formatting import micros, shortened
from tsnbench.report.parts.curves import Steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Apart:
    """One stream's differences, run by run."""

    stream: str
    curves: tuple[tuple[str, Steps], ...]
    """(the run's name, share of frames whose difference is at most x us)."""


def differences(shown: Sequence[Apart], first: str, left_out: int) -> Drawing:
    """A panel per stream, a line per run."""

    def draw(size: Size) -> Figure:
        figure, axes = axis_of(shown, size, 1.9)
        names = list(dict.fromkeys(name for apart in shown for name, _ in apart.curves))
        for at, apart in zip(axes, shown, strict=True):
            for name, steps in apart.curves:
                place = names.index(name)
                at.step(
                    [steps.x[0], *steps.x],
                    [0.0, *steps.y],
                    where="post",
                    color=COLOURS[place % len(COLOURS)],
                    linestyle=DASHES[place % len(DASHES)],
                    label=shortened(name, 40),
                )
            at.axvline(0, color=INK, linewidth=0.6)
            at.set_ylim(0, 1.02)
            at.set_ylabel("share of frames")
            at.set_title(shortened(apart.stream))
        axes[-1].set_xlabel("delay less that of the same frame in the first run (µs)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=columns_for(labels, size))
        return figure

    more = f" {left_out} more streams are in the table only." if left_out else ""
    return Drawing(
        "differences",
        f"Frame by frame against {first}",
        f"Share of frames whose delay is greater than in {first} by at most x; left of 0 they were faster."
        + more,
        "; ".join(
            f"{apart.stream}, {name}: from {micros(steps.x[0] * 1e3)} to {micros(steps.x[-1] * 1e3)} µs"
            for apart in shown
            for name, steps in apart.curves
        ),
        draw,
        lambda: (
            {"stream": apart.stream, "run": name} | row
            for apart in shown
            for name, steps in apart.curves
            for row in step_rows(steps, "difference_us", "share_at_most")
        ),
    )
