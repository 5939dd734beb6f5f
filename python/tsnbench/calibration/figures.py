"""Figures of a calibration: the line through the sizes, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.libraries import numpy as np
from tsnbench.report.figures.distributions import log_share
from tsnbench.report.figures.style import (
    CLASS_COLOURS,
    COLUMN,
    INK,
    AnyFigure,
    Drawing,
    Row,
    Size,
    bytes_in,
    panels_of,
)
from tsnbench.report.files import write_bytes
from tsnbench.report.formatting import printable

if TYPE_CHECKING:
    from tsnbench.calibration.calibrate import Calibrated

MOST_POINTS = 400
"""Of a curve."""


def drawings(found: Calibrated) -> list[Drawing]:
    """Both figures."""
    return [_line(found), _rest(found)]


def write(found: Calibrated, into: Path, kinds: Sequence[str]) -> list[Path]:
    """Writes both figures beside a description: ``my-switch.line.svg`` and ``my-switch.rest.svg``.

    Raises:
        BackendError: the disk is full, or a file cannot be written.
    """
    written = []
    for drawing in drawings(found):
        for kind, content in bytes_in(drawing, COLUMN, kinds).items():
            written.append(into.with_suffix(f".{drawing.name}.{kind}"))
            write_bytes(written[-1], content)
    return written


def _line(found: Calibrated) -> Drawing:
    """Mean time in one node by size, over the fitted line."""
    fixed, slope = found.fit.fixed.value, found.fit.per_octet.value
    means = [
        (group.octets, group.mean_ns / group.crossed + fixed + slope * group.octets) for group in found.groups
    ]

    def draw(size: Size) -> AnyFigure:
        figure, (at,) = panels_of(1, size, 1.9)
        ends = (0, max(found.sizes))
        at.plot(ends, [(fixed + slope * octets) / 1e3 for octets in ends], color=INK, linewidth=0.8)
        at.plot(
            [octets for octets, _ in means],
            [mean / 1e3 for _, mean in means],
            "o",
            color=CLASS_COLOURS[0],
            markersize=4,
        )
        at.set_ylim(0, 1.1 * max(mean for _, mean in means) / 1e3)
        at.set_xlabel("octets")
        at.set_ylabel("time in one node (µs)")
        return figure

    return Drawing(
        "line",
        f"{printable(', '.join(found.names))}: time by size",
        f"Points: mean time in one node; line: {fixed:.1f} ns + {slope:.4f} ns an octet.",
        f"{len(found.sizes)} sizes",
        draw,
        lambda: ({"octets": octets, "mean_ns": mean} for octets, mean in means),
        light=True,
    )


def _rest(found: Calibrated) -> Drawing:
    """By size, the share of frames that are later than the line by more than a time."""
    curves: dict[int, np.ndarray] = {}
    for size in found.sizes:
        parts = [
            found.fit.rest(one.section)[one.section.octets == size]
            for one in found.fit.blocks
            if one.section.crossed == 1
        ]
        if parts:
            curves[size] = np.sort(np.concatenate(parts))

    def steps(rest: np.ndarray) -> tuple[list[float], list[float]]:
        count = len(rest)
        # The tail is drawn frame by frame, the rest in equal shares.
        tail = np.arange(max(0, count - MOST_POINTS // 2), count)
        places = np.unique(np.concatenate([np.linspace(0, count - 1, MOST_POINTS // 2).astype(int), tail]))
        return [float(rest[place]) / 1e3 for place in places], [
            float(count - place) / count for place in places
        ]

    def draw(size: Size) -> AnyFigure:
        figure, (at,) = panels_of(1, size, 1.9)
        for number, (octets, rest) in enumerate(curves.items()):
            x, y = steps(rest)
            at.step(x, y, where="post", color=CLASS_COLOURS[number % len(CLASS_COLOURS)], label=f"{octets} B")
        log_share(at, 0.5 / max((len(rest) for rest in curves.values()), default=1))
        at.set_xlabel("later than the line (µs)")
        at.set_ylabel("share of frames")
        at.legend()
        return figure

    def rows() -> Iterator[Row]:
        for octets, rest in curves.items():
            for later, share in zip(*steps(rest), strict=True):
                yield {"octets": octets, "later_us": later, "share": share}

    return Drawing(
        "rest",
        f"{printable(', '.join(found.names))}: what the line leaves",
        "Share of frames that are later than the line by more than a time, by size. If the curves differ, "
        "one distribution does not fit all sizes.",
        f"{len(curves)} sizes",
        draw,
        rows,
    )
