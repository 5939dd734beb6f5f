"""The gate schedule as a Gantt chart, with the frames that left drawn on it. IEEE 802.1Q-2022, 8.6.8.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.report.figures.style import GRID, INK, Drawing, Size, colour_of
from tsnbench.report.formatting import count, printable, span
from tsnbench.report.parts.ports import called, carried
from tsnbench.report.parts.schedule import BINS, Folded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8


def gantt(ports: Sequence[Folded], used: Sequence[int]) -> Drawing:
    """One chart per gated port: lanes are traffic classes, time is the time within a cycle."""
    most = {one.port.name: 0 for one in ports}
    for one in ports:
        most[one.port.name] = max(most[one.port.name], one.departures)
    # Lists of one port stay together, in order of time.
    shown = sorted(ports, key=lambda one: (not one.tapped, -most[one.port.name]))[:MOST]

    def draw(size: Size) -> Figure:
        from matplotlib.figure import Figure

        lanes = [len(_lanes(one)) for one in shown]
        figure = Figure(figsize=(size.width, 0.27 * sum(lanes) + 0.55 * len(shown) + 0.25))
        axes = figure.subplots(len(shown), 1, squeeze=False, height_ratios=lanes)
        for (at,), one in zip(axes, shown, strict=True):
            _chart(at, one, used)
        axes[-1][0].set_xlabel("time within the cycle (µs)")
        return figure

    left = len(ports) - len(shown)
    return Drawing(
        "gates",
        "Gate schedule and departures",
        "Light boxes: the gate is open. Filled: share of cycles in which a frame of the class was on the "
        "wire just "
        "then (full height: in every cycle). "
        + " ".join(_told(one) for one in shown)
        + (f" {left} more ports with gates are not drawn." if left else ""),
        " ".join(_told(one) for one in shown),
        draw,
        wide=True,
    )


def _told(one: Folded) -> str:
    name = _name(one)
    if not one.tapped:
        return f"{name}: no tap, so no departures are known."
    how = ", derived from the stamps at the other end of the link" if one.derived else ""
    outside = "none began" if not one.outside else f"{count(one.outside)} BEGAN"
    return f"{name}: {count(one.departures)} departures{how}; {outside} while its gate was closed."


def _name(one: Folded) -> str:
    """The port and its list, with the list's begin."""
    name, gates = printable(one.port.name), one.gates
    if not gates.called:
        return name
    begins = "" if gates.from_ns is None else f" from {span(gates.from_ns)}"
    ends = "" if gates.until_ns is None else f" until {span(gates.until_ns)}"
    return f"{name}, {gates.called}{begins}{ends}"


def _lanes(one: Folded) -> list[int]:
    """Classes with a lane, highest first: those that sent, and those whose gate is ever closed.

    A talker's port has eight classes and sends in one; the other lanes would be empty.
    """
    whole = [(0, one.gates.cycle_ns)]
    mapped = [
        n
        for n in reversed(range(len(one.port.reserved_bps)))
        if n in one.port.pcp_to_class or one.busy.get(n)
    ]
    telling = [n for n in mapped if one.busy.get(n) or one.open_spans[n] != whole]
    return telling or mapped


def _lane_name(one: Folded, own: int, used: Sequence[int]) -> str:
    streams = f" ({called(one.port, own, used)})" if carried(one.port, own, used) else ""
    return f"class {own}{streams}"


def _chart(at: Axes, one: Folded, used: Sequence[int]) -> None:
    lanes = _lanes(one)
    spans = one.open_spans
    column = one.gates.cycle_ns / BINS / 1e3
    edges = [n * column for n in range(BINS + 1)]
    for place, own in enumerate(reversed(lanes)):
        colour = colour_of(one.port, own, used)
        for start, length in spans[own]:
            at.broken_barh(
                [(start / 1e3, length / 1e3)],
                (place + 0.04, 0.92),
                facecolor=colour + "2e",
                edgecolor=colour,
                linewidth=0.7,
            )
        busy = one.busy.get(own)
        if busy:
            at.stairs(
                [place + 0.04 + 0.92 * share for share in busy],
                edges,
                baseline=place + 0.04,
                fill=True,
                color=colour,
                linewidth=0,
            )
        at.axhline(place, color=GRID, linewidth=0.5)
    start = 0
    for _, length in one.gates.entries:
        at.axvline(start / 1e3, color=INK, linewidth=0.4, linestyle=(0, (2, 2)))
        start += length
    at.set_yticks(
        [place + 0.5 for place in range(len(lanes))],
        [_lane_name(one, own, used) for own in reversed(lanes)],
    )
    at.set_xlim(0, one.gates.cycle_ns / 1e3)
    at.set_ylim(0, len(lanes))
    at.grid(visible=False)
    at.tick_params(axis="y", length=0)
    at.set_title(_name(one))
