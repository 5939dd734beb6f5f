"""Common parts of all figures of a study: curves with bands of their intervals, ticks, and legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from tsnbench.report.figures.style import (
    COLOURS,
    DASHES,
    INK,
    MARKERS,
    Row,
    Size,
    key_below,
    labelled,
)
from tsnbench.report.formatting import printable, shortened
from tsnbench.report.parts.study import Estimate, StudyAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PRINTED = "printed"
"""The label of numbers that a paper prints."""


def chosen(across: StudyAxis, value: str, beside: Mapping[str, str]) -> Row:
    """The columns of the axes."""
    return {across.name: value, **beside}


def columns_of(found: Estimate | None, name: str, unit: float) -> Row:
    """The columns of a value with the ends of its interval."""
    values = (None, None, None) if found is None else (found.value, found.low, found.high)
    names = (name, f"{name}_low", f"{name}_high")
    return {key: None if one is None else one / unit for key, one in zip(names, values, strict=True)}


def columns_of_range(name: str, found: tuple[float, float] | None, unit: float) -> Row:
    """The columns of a range; its ends are equal for a single number, and empty without one."""
    least, most = (None, None) if found is None else (found[0] / unit, found[1] / unit)
    return {f"{name}_least": least, f"{name}_most": most}


def line(
    at: Axes, place: int, label: str, points: Sequence[tuple[float, Estimate]], scale: float, numeric: bool
) -> None:
    """A curve with the band of its intervals; bars instead of the band where values have no order."""
    colour = COLOURS[place % len(COLOURS)]
    xs = [x for x, _ in points]
    banded = [(x, one.low, one.high) for x, one in points if one.low is not None and one.high is not None]
    if numeric and len(banded) > 1:
        at.fill_between(
            [x for x, _, _ in banded],
            [low * scale for _, low, _ in banded],
            [high * scale for _, _, high in banded],
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
    elif banded:
        at.vlines(
            [x for x, _, _ in banded],
            [low * scale for _, low, _ in banded],
            [high * scale for _, _, high in banded],
            color=colour,
            linewidth=0.9,
        )
    at.plot(
        xs,
        [one.value * scale for _, one in points],
        color=colour,
        linestyle=DASHES[place % len(DASHES)] if numeric else "none",
        marker=MARKERS[place % len(MARKERS)],
        markersize=4,
        label=shortened(label),
    )


def ticks(at: Axes, axis: StudyAxis, *, last: bool) -> None:
    """The ticks of an axis; its name is below the last panel."""
    step = -(-len(axis.values) // 12)
    at.set_xticks(axis.at[::step], [shortened(value, 14) for value in axis.values[::step]])
    at.minorticks_off()
    turned(at, axis.values[::step])
    if not axis.numeric:
        at.set_xlim(min(axis.at) - 0.6, max(axis.at) + 0.6)
    if last:
        at.set_xlabel(printable(axis.name))


def turned(at: Axes, labels: Sequence[str]) -> None:
    """Labels that do not fit beside each other are turned."""
    if sum(min(len(label), 14) + 2 for label in labels) > 58:
        at.tick_params(axis="x", rotation=60)
        for text in at.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")


def legend(figure: Figure, axes: Sequence[Axes], size: Size, title: str | None) -> None:
    """One legend for all panels, below them; none for a single label."""
    found = labelled(axes)
    if PRINTED in found:
        # Last, and in no curve's colour: each curve has such points.
        mark = copy(found.pop(PRINTED))
        mark.set_color(INK)
        found[PRINTED] = mark
    if len(found) > 1:
        key_below(figure, found, size, None if title is None else shortened(printable(title)))
