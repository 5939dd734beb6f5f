"""The gate schedule as a Gantt chart, with the frames that left drawn on it. IEEE 802.1Q-2022, 8.6.8.4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from tsnbench.report.figures.style import GRID, INK, AnyFigure, Drawing, Row, Size, colour_of, panels_of
from tsnbench.report.formatting import count, printable, span
from tsnbench.report.parts.ports import called, carried
from tsnbench.report.parts.schedule import BINS, Folded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 8


def gantt(ports: Sequence[Folded], used: Sequence[int]) -> Drawing:
    """One chart per gated port: lanes are traffic classes, time is the time within a cycle."""
    most: dict[str, tuple[int, int]] = {}
    for one in ports:
        outside, departures = most.get(one.port["name"], (0, 0))
        most[one.port["name"]] = (max(outside, one.outside), max(departures, one.departures))

    def order(one: Folded) -> tuple[bool, int, int]:
        outside, departures = most[one.port["name"]]
        return not one.tapped, -outside, -departures

    # Ports whose frames left a closed gate come first. Lists of one port stay together, in order of time.
    ordered = sorted(ports, key=order)
    shown, others = ordered[:MOST], ordered[MOST:]

    def draw(size: Size) -> AnyFigure:
        lanes = [len(_lanes(one, used)) for one in shown]
        height = 0.27 * sum(lanes) + 0.55 * len(shown) + 0.25
        figure, axes = panels_of(len(shown), size, height, ratios=lanes)
        for at, one in zip(axes, shown, strict=True):
            _chart(at, one, used)
        axes[-1].set_xlabel("time within the cycle (µs)")
        return figure

    return Drawing(
        "gates",
        "Gate schedule and departures",
        "Light boxes: the gate is open. Filled: share of cycles in which a frame of the class was on the "
        "wire just "
        "then (full height: in every cycle). "
        + " ".join(_told(one) for one in shown)
        + (f" {_told_of(others)}" if others else ""),
        " ".join(_told(one) for one in shown),
        draw,
        lambda: (row for one in shown for row in _rows(one, used)),
        wide=True,
        light=True,
    )


def _told_of(others: Sequence[Folded]) -> str:
    """The sentence about gate lists that are not drawn."""
    text = f"{count(len(others))} more gate lists are not drawn"
    if not any(one.tapped for one in others):
        return f"{text}."
    outside = sum(one.outside for one in others)
    began = "none began" if not outside else f"{count(outside)} BEGAN"
    return f"{text}: {count(sum(one.departures for one in others))} departures; {began} at a closed gate."


def _told(one: Folded) -> str:
    name = _name(one)
    if not one.tapped:
        return f"{name}: no tap, so no departures are known."
    how = ", derived from the stamps at the other end of the link" if one.derived else ""
    outside = "none began" if not one.outside else f"{count(one.outside)} BEGAN"
    return f"{name}: {count(one.departures)} departures{how}; {outside} while its gate was closed."


def _name(one: Folded) -> str:
    """The port and its list, with the list's begin."""
    name, gates = printable(one.port["name"]), one.gates
    if not gates.words:
        return name
    begins = "" if gates.from_ns is None else f" from {span(gates.from_ns)}"
    ends = "" if gates.until_ns is None else f" until {span(gates.until_ns)}"
    return f"{name}, {gates.words}{begins}{ends}"


def _lanes(one: Folded, used: Sequence[int]) -> list[int]:
    """Classes with a lane, highest first: those with streams, and those whose gate opens and closes.

    A talker's port has eight classes and sends in one; the other lanes would be empty.
    """
    whole = [(0, one.gates.gates["cycle_ns"])]
    mapped = [
        n
        for n in reversed(range(len(one.port["classes"])))
        if n in one.port["pcp_to_class"] or one.busy.get(n)
    ]
    telling = [
        n
        for n in mapped
        if one.busy.get(n) or carried(one.port, n, used) or one.open_spans[n] not in ([], whole)
    ]
    return telling or mapped


def _lane_name(one: Folded, own: int, used: Sequence[int]) -> str:
    streams = f" ({called(one.port, own, used)})" if carried(one.port, own, used) else ""
    return f"class {own}{streams}"


def _chart(at: Axes, one: Folded, used: Sequence[int]) -> None:
    lanes = _lanes(one, used)
    spans = one.open_spans
    column = one.gates.gates["cycle_ns"] / BINS / 1e3
    for place, own in enumerate(reversed(lanes)):
        colour = colour_of(one.port, own, used)
        at.broken_barh(
            [(start / 1e3, length / 1e3) for start, length in spans[own]],
            (place + 0.04, 0.92),
            facecolor=colour + "2e",
            edgecolor=colour,
            linewidth=0.7,
        )
        busy = one.busy.get(own)
        if busy:
            heights, ends = _steps(busy)
            at.stairs(
                [place + 0.04 + 0.92 * share for share in heights],
                [column * end for end in ends],
                baseline=place + 0.04,
                fill=True,
                color=colour,
                linewidth=0,
            )
        at.axhline(place, color=GRID, linewidth=0.5)
    begins = [0, *accumulate(entry["interval_ns"] for entry in one.gates.gates["entries"])][:-1]
    at.vlines(
        [begin / 1e3 for begin in begins],
        0,
        1,
        transform=at.get_xaxis_transform(),
        color=INK,
        linewidth=0.4,
        linestyle=(0, (2, 2)),
    )
    at.set_yticks(
        [place + 0.5 for place in range(len(lanes))],
        [_lane_name(one, own, used) for own in reversed(lanes)],
    )
    at.set_xlim(0, one.gates.gates["cycle_ns"] / 1e3)
    at.set_ylim(0, len(lanes))
    at.grid(visible=False)
    at.tick_params(axis="y", length=0)
    at.set_title(_name(one))


def _rows(one: Folded, used: Sequence[int]) -> Iterator[Row]:
    """The open spans of each drawn class, then the share of cycles in which it was on the wire."""
    column = one.gates.gates["cycle_ns"] / BINS
    for own in _lanes(one, used):
        named = {"port": _name(one), "class": own}
        for start, length in one.open_spans[own]:
            yield named | {"what": "open", "from_ns": start, "until_ns": start + length, "share": None}
        shares, edges = _steps(one.busy.get(own, ()))
        for share, begin, end in zip(shares, edges, edges[1:], strict=False):
            yield named | {
                "what": "on the wire",
                "from_ns": column * begin,
                "until_ns": column * end,
                "share": share,
            }


def _steps(busy: Sequence[float]) -> tuple[list[float], list[int]]:
    """Shares without repetitions, and the edges between them: an idle gate is one step, not hundreds."""
    steps = [(share, len(list(columns))) for share, columns in groupby(busy)]
    return [share for share, _ in steps], [0, *accumulate(length for _, length in steps)]
