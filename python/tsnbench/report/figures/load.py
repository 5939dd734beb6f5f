"""Bandwidth: the load of each port against its rate and its reservations, and over time at ports with a
tap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tsnbench.report.figures.style import (
    CLASS_COLOURS,
    GRID,
    INK,
    MARKERS,
    AnyFigure,
    Drawing,
    Size,
    colour_of,
    panels_of,
    sample,
)
from tsnbench.report.formatting import printable, seconds_or_millis, span
from tsnbench.report.parts.ports import MOST_PORTS, Flowed, Load, called, idle_slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 24


def port_loads(loads: Sequence[Load], used: Sequence[int]) -> Drawing:
    """Per port and class the share of the port's rate, with the reservation as a mark."""
    busiest = sorted(loads, key=lambda load: (-load.total, load.number))[:MOST_BARS]
    shown = [load for load in loads if load in busiest]
    reserved = any(load.reserved(own) is not None for load in shown for own in load.by_class)

    def draw(size: Size) -> AnyFigure:
        lanes = [max(1, len(load.by_class)) for load in shown]
        figure, (at,) = panels_of(1, size, 0.11 * sum(lanes) + 0.12 * len(shown) + 0.75)
        y = 0.0
        ticks: list[float] = []
        handles: dict[str, Any] = {}
        for load, lane in zip(shown, lanes, strict=True):
            ticks.append(y + lane / 2)
            at.barh(y + lane / 2, load.total * 100, height=lane + 0.5, color=GRID, linewidth=0)
            at.text(load.total * 100 + 0.8, y + lane / 2, f"{load.total:.1%}".replace("%", " %"), va="center")
            y = _bars(at, y, load, used, handles) + 1.1
        at.set_yticks(ticks, [printable(load.port["name"]) for load in shown])
        at.set_ylim(y - 0.6, -0.8)
        at.set_xlim(0, max(100.0, max(load.total for load in shown) * 100) * 1.08)
        at.set_xlabel("sent, share of the port's rate (%)")
        at.grid(axis="y", visible=False)
        labels = sorted(handles, key=_by_priority)
        lines = [handles[label] for label in labels]
        if reserved:
            mark = sample(size, color=INK, linewidth=1.6, marker="|", linestyle="none", markersize=7)
            lines.append(mark)
            labels.append("reserved (idle slope)")
        figure.legend(lines, labels, loc="outside lower center", ncols=2)
        return figure

    left = len(loads) - len(shown)
    return Drawing(
        "port-loads",
        "Bandwidth per port and class",
        "Grey: the whole load of the port; bars: by traffic class, named by its streams' priorities; marks: "
        "reservations of credit-based shapers. Frames count with preamble and inter-frame gap, over the time "
        "in which talkers sent."
        + (
            " Above 100 %: frames that then waited in queues were sent afterwards."
            if any(load.total > 1 for load in shown)
            else ""
        )
        + (f" The {MOST_BARS} busiest ports; {left} more sent less." if left else ""),
        "; ".join(f"{load.port['name']}: {load.total:.1%}" for load in shown),
        draw,
        lambda: (
            {
                "port": load.port["name"],
                "class": own,
                "sent_share": share,
                "reserved_share": load.reserved(own),
            }
            for load in shown
            for own, share in load.by_class.items()
        ),
        light=True,
    )


def _bars(at: Axes, y: float, load: Load, used: Sequence[int], handles: dict[str, object]) -> float:
    """A bar per class of a port with its reservation, from ``y`` on; where the next one begins."""
    for own in sorted(load.by_class, reverse=True):
        colour = colour_of(load.port, own, used)
        bar = at.barh(y + 0.5, load.by_class[own] * 100, height=0.8, color=colour, linewidth=0)
        handles.setdefault(called(load.port, own, used), bar)
        slope = load.reserved(own)
        if slope is not None:
            at.plot([slope * 100] * 2, [y - 0.05, y + 1.05], color=INK, linewidth=1.6)
        y += 1
    return y


def _by_priority(label: str) -> tuple[bool, list[int], str]:
    """Highest priority first; a reservation comes after its class."""
    digits = [-int(word) for word in label.replace(",", "").split() if word.isdigit()]
    return label.startswith("class"), digits, label


def load_over_time(flowed: Sequence[Flowed], tapped: int, used: Sequence[int]) -> Drawing:
    """Rate per class over time at ports with a tap."""

    def draw(size: Size) -> AnyFigure:
        unit, scale = seconds_or_millis(max(one.t[-1] for one in flowed))
        known: dict[str, Any] = {}
        figure, axes = panels_of(len(flowed), size, 1.2 * len(flowed) + 0.35)
        for at, one in zip(axes, flowed, strict=True):
            highest = 0.0
            for own, rates in one.by_class.items():
                name = called(one.port, own, used)
                colour = colour_of(one.port, own, used)
                (line,) = at.plot(
                    [t / scale for t in one.t],
                    rates,
                    color=colour,
                    linewidth=1.1,
                    marker=MARKERS[CLASS_COLOURS.index(colour) % len(MARKERS)],
                    markersize=2.5,
                )
                known.setdefault(name, line)
                highest = max([highest, *rates])
                slope = idle_slope(one.port, own)
                if slope is not None:
                    rule = at.axhline(slope / 1e6, color=colour, linewidth=1.0, linestyle=(0, (1, 1.5)))
                    known.setdefault(f"{name}, reserved", rule)
            at.set_ylim(0, highest * 1.12)
            at.set_title(printable(one.port["name"]))
            at.set_ylabel("Mbit/s")
        axes[-1].set_xlabel(f"time ({unit})")
        ordered = sorted(known, key=_by_priority)
        figure.legend([known[label] for label in ordered], ordered, loc="outside lower center", ncols=2)
        return figure

    return Drawing(
        "load-over-time",
        "Bandwidth per class over time",
        f"At ports with a tap, mean over {span(flowed[0].width_ns)} each; frames count with preamble and "
        "inter-frame gap."
        + (f" The {MOST_PORTS} busiest of {tapped} such ports." if tapped > len(flowed) else ""),
        "; ".join(f"{one.port['name']}: {len(one.by_class)} classes" for one in flowed),
        draw,
        lambda: (
            {"port": one.port["name"], "class": own, "time_ns": t, "mbit_per_s": rate}
            for one in flowed
            for own, rates in one.by_class.items()
            for t, rate in zip(one.t, rates, strict=True)
        ),
        light=True,
    )
