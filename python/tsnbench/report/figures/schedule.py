"""A schedule before any run: a Gantt chart per port, and each stream's path in time and space.

IEEE 802.1Q-2022, 8.6.8.4. Numbers identify streams; colour and hatching are an additional help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tsnbench import quantities
from tsnbench.libraries import matplotlib
from tsnbench.report.axis import Axis, axis
from tsnbench.report.figures.style import COLOURS, INK, LIMIT, PAPER, Drawing, Row, Size
from tsnbench.report.formatting import THIN, count, micros, printable, shortened, span, typeset
from tsnbench.report.parts.planned import Lane, Planned, PlannedPort, PlannedStream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PORTS = 6
"""Charts of one figure."""
WAYS = 8
"""Diagrams of one figure."""
PAGES = 3
"""Figures of each kind."""
STRETCHES = 8
"""Number of drawn stretches of a cycle with planned frames."""
FRAMES = 28
"""Number of drawn frames of a cycle. More frames could not be distinguished."""
HATCHES = ("", "////", "++++", "xxxx", "\\\\\\\\", "----")
KEY = 36
"""Number of streams named under a chart; if there are more, the table names them."""


def schedule(found: Planned) -> list[Drawing]:
    """All figures: Gantt charts, then time-space diagrams; in pages."""
    return [*_gantts(found), *_spaces(found)]


def look(number: int) -> dict[str, Any]:
    """Colour and hatching of a stream."""
    return {
        "facecolor": COLOURS[(number - 1) % len(COLOURS)],
        "hatch": HATCHES[(number - 1) // len(COLOURS) % len(HATCHES)],
    }


def _pages(things: Sequence[Any], each: int) -> list[Sequence[Any]]:
    return [things[at : at + each] for at in range(0, min(len(things), each * PAGES), each)]


def _named(name: str, title: str, page: int, pages: int) -> tuple[str, str]:
    return (name, title) if pages == 1 else (f"{name}-{page}", f"{title} ({page} of {pages})")


def _gantts(found: Planned) -> list[Drawing]:
    pages = _pages(found.ports, PORTS)
    left = len(found.ports) - sum(map(len, pages))
    drawings = []
    for page, ports in enumerate(pages, 1):
        name, title = _named("schedule", "Schedule per port", page, len(pages))
        charts = [_scaled(port) for port in ports]
        told = [_told(port, chart) for port, chart in zip(ports, charts, strict=True)]
        used = sorted({slot.number for port, _ in charts for slot in port.slots})
        caption = (
            "Light boxes: gates are open. Filled boxes: planned frames, with their stream's number where "
            "there is room; a dotted frame around them is the margin for clock errors. Hatched grey: "
            "guard, in which the largest frame of these classes cannot begin. Time is to scale where frames "
            "are planned; pauses between them are shortened and labelled with their length. " + " ".join(told)
        )
        if left and page == len(pages):
            caption += f" {count(left)} more ports, with fewer frames, are not drawn."
        draw = partial(_gantt, charts, used, found.streams)
        rows = partial(_slot_rows, [port for port, _ in charts], found.streams)
        drawings.append(Drawing(name, title, caption, " ".join(told), draw, rows, wide=True))
    return drawings


def _slot_rows(ports: Sequence[PlannedPort], streams: Sequence[PlannedStream]) -> Iterator[Row]:
    """The planned frames, then the open spans of each lane."""
    for port in ports:
        for slot in port.slots:
            named = {"port": port.name, "stream": streams[slot.number - 1].label}
            yield named | {"from_ns": slot.begin, "length_ns": slot.length, "margin_ns": slot.margin}
        for lane in port.lanes:
            for begin, length in lane.open:
                classes = " ".join(map(str, lane.classes))
                length = min(length, port.cycle - begin)
                yield {"port": port.name, "open_classes": classes, "from_ns": begin, "length_ns": length}


def _spans(port: PlannedPort) -> list[tuple[float, float]]:
    found = []
    for slot in port.slots:
        begin, end = slot.begin - slot.margin, slot.begin + slot.length + slot.margin
        found.append((begin, min(end, port.cycle)))
        if end > port.cycle:
            found.append((0.0, end - port.cycle))
    return found


def _scaled(port: PlannedPort) -> tuple[PlannedPort, Axis]:
    """The drawn part of a port, and its axis."""
    some = replace(port, slots=port.slots[:FRAMES])
    spans = _spans(some)
    # If further frames are not drawn, the axis ends after the last drawn frame.
    whole = len(some.slots) == len(port.slots)
    scale, _ = axis(spans, port.cycle if whole else max(end for _, end in spans), STRETCHES)
    end = scale.stretches[-1][1]
    return replace(some, slots=tuple(slot for slot in some.slots if slot.begin < end)), scale


def _told(port: PlannedPort, chart: tuple[PlannedPort, Axis]) -> str:
    frames, drawn = len(port.slots) + port.left_out, len(chart[0].slots)
    what = "frame" if frames == 1 else "frames"
    text = f"{printable(port.name)}: {count(frames)} {what} in {span(port.cycle)}"
    if drawn < frames:
        text += f", of which the first {count(drawn)} are drawn"
    return text + "."


def _gantt(
    charts: Sequence[tuple[PlannedPort, Axis]],
    used: Sequence[int],
    streams: Sequence[PlannedStream],
    size: Size,
) -> Figure:

    heights = [sum(_height(lane) for lane in port.lanes) for port, _ in charts]
    named = len(used) <= KEY
    labels = [f"{number} {shortened(streams[number - 1].label, 34)}" for number in used] if named else []
    columns = max(1, int(size.width / size.letters * 118 / 84)) if labels else 1
    rows = -(-len(labels) // columns) if labels else 0
    per = size.letters / 72
    below = per * (1.7 * rows + 1.2)
    figure = matplotlib.figure.Figure(
        figsize=(size.width, 0.3 * sum(heights) + len(charts) * 3.9 * per + below)
    )
    axes = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
    for (at,), (port, scale) in zip(axes, charts, strict=True):
        _chart(at, port, scale, size)
    if labels:
        handles = [matplotlib.patches.Patch(edgecolor=INK, linewidth=0.4, **look(number)) for number in used]
        figure.legend(
            handles, labels, loc="outside lower left", ncols=columns, handlelength=1.8, columnspacing=1.4
        )
    return figure


def _height(lane: Lane) -> float:
    return 1.5 if lane.scheduled else 1.0


def _chart(at: Axes, port: PlannedPort, scale: Axis, size: Size) -> None:
    """One port: the lane on top is that of scheduled frames."""
    bottom, ticks, names = 0.0, [], []
    for lane in reversed(port.lanes):
        height = _height(lane)
        _gates(at, lane, scale, port.cycle, bottom, height)
        if lane.scheduled:
            _frames(at, port, scale, bottom, height, size)
        ticks.append(bottom + height / 2)
        names.append(_classes(lane))
        bottom += height
    for left, right, length in scale.pauses:
        at.axvspan(left, right, facecolor=PAPER, linewidth=0, zorder=3)
        for edge in (left, right):
            at.axvline(edge, color=INK, linewidth=0.6, linestyle=(0, (2, 2)), zorder=4)
        at.text(
            (left + right) / 2, bottom / 2, span(length, 1), rotation=90, ha="center", va="center",
            fontsize=size.letters - 2, zorder=4,
        )  # fmt: skip
    at.set_yticks(ticks, names)
    at.set_xlim(0, 1)
    at.set_ylim(0, bottom)
    at.grid(visible=False)
    at.tick_params(axis="y", length=0)
    places = _times(scale, size)
    at.set_xticks([place for place, _ in places], [text for _, text in places])
    at.set_title(f"{printable(port.name)}: µs of a cycle of {span(port.cycle)}")


def _classes(lane: Lane) -> str:
    first, last = lane.classes[0], lane.classes[-1]
    classes = f"class {first}" if first == last else f"classes {first}\N{EN DASH}{last}"
    return f"{classes}: scheduled" if lane.scheduled else f"{classes}: the rest"


def _gates(at: Axes, lane: Lane, scale: Axis, cycle: float, bottom: float, height: float) -> None:
    colour = COLOURS[0] if lane.scheduled else INK
    begins_open = any(begin == 0 for begin, _ in lane.open)
    boxes, shut = [], []
    for begin, length in lane.open:
        end = min(begin + length, cycle)
        boxes += [(left, right - left) for left, right in scale.within(begin, end)]
        # A window that continues in the next cycle does not close at the end of this cycle.
        if lane.guard and not (end >= cycle and begins_open):
            within = scale.within(max(begin, end - lane.guard), end)
            shut += [(left, right - left) for left, right in within]
    # All boxes are drawn in one call, because every call adds some hundred octets to the drawing.
    across = (bottom + 0.06, height - 0.12)
    if boxes:
        at.broken_barh(boxes, across, facecolor=colour + "18", edgecolor=colour, linewidth=0.6)
    if shut:
        at.broken_barh(
            shut, across, facecolor="none", edgecolor="#767676", hatch="////", linewidth=0.0
        )  # fmt: skip


def _frames(at: Axes, port: PlannedPort, scale: Axis, bottom: float, height: float, size: Size) -> None:
    room = 1.1 * size.letters / 72 / size.width
    for slot in port.slots:
        parts = [(slot.begin, slot.begin + slot.length)]
        if parts[0][1] > port.cycle:
            parts = [(slot.begin, float(port.cycle)), (0.0, parts[0][1] - port.cycle)]
        for begin, end in parts:
            for left, right in scale.within(begin, end):
                at.broken_barh(
                    [(left, right - left)], (bottom + 0.22, height - 0.44), edgecolor=INK, linewidth=0.35,
                    **look(slot.number),
                )  # fmt: skip
                text = str(slot.number)
                if right - left > (room if len(text) == 1 else 1.2 * room):
                    lies = right - left > 0.9 * room * len(text)
                    at.text(
                        (left + right) / 2, bottom + height / 2, text, ha="center", va="center",
                        rotation=0 if lies else 90,
                        color="white", fontsize=size.letters - 1.5, fontweight="bold",
                        bbox={"boxstyle": "round,pad=0.12", "facecolor": "#1b1f24cc", "linewidth": 0},
                    )  # fmt: skip
            if slot.margin:
                for left, right in scale.within(begin - slot.margin, end + slot.margin):
                    at.broken_barh(
                        [(left, right - left)], (bottom + 0.14, height - 0.28), facecolor="none",
                        edgecolor=INK, linewidth=0.5, linestyle=(0, (1, 1)),
                    )  # fmt: skip


def _times(scale: Axis, size: Size) -> list[tuple[float, str]]:
    """Begins and ends of stretches, and lengths of pauses, as far as there is space for the labels."""
    found: list[tuple[float, str]] = []
    letter = 0.62 * size.letters / 72 / size.width
    last = -1.0
    for time in (time for mark in scale.marks for time in mark):
        text = typeset(quantities.trimmed(quantities.micros(time, 2)))
        place, half = scale.at(time), letter * (len(text) + 1) / 2
        if place - half > last:
            found.append((place, text))
            last = place + half
    return found


def _spaces(found: Planned) -> list[Drawing]:
    """The streams with the least slack first."""
    ordered = sorted(found.streams, key=lambda one: (one.slack, one.number))
    pages = _pages(ordered, WAYS)
    left = len(ordered) - sum(map(len, pages))
    drawings = []
    for page, streams in enumerate(pages, 1):
        name, title = _named("paths", "Paths through the network, in time", page, len(pages))
        told = [_delay(one) for one in streams]
        caption = (
            "Each slanted band is one frame on one link: from its first bit at one node to its last bit at "
            "the next. Level lines: the frame is processed, or waits for its planned instant. A branch of a "
            "tree begins again below; * is a listener. Limits far to the right are not drawn. "
            + " ".join(told)
        )
        if left and page == len(pages):
            caption += (
                f" {count(left)} more streams, with more slack, are not drawn; the table has all of them."
            )
        draw = partial(_diagrams, streams)
        rows = partial(_stage_rows, streams)
        drawings.append(Drawing(name, title, caption, " ".join(told), draw, rows, wide=True))
    return drawings


def _stage_rows(streams: Sequence[PlannedStream]) -> Iterator[Row]:
    """Each frame on each link: from its first bit at one node to its last bit at the next."""
    for one in streams:
        for stage in one.stages:
            for begin, end in stage.frames:
                yield {
                    "stream": one.label,
                    "from": stage.begins_at,
                    "to": stage.ends_at,
                    "first_bit_sent_ns": begin,
                    "last_bit_sent_ns": end,
                    "last_bit_received_ns": end + stage.propagation,
                }


def _delay(one: PlannedStream) -> str:
    limit = "" if one.limit is None else f" of {span(one.limit)} allowed"
    margin = f" and {span(one.margin)} of margin" if one.margin else ""
    return f"{one.number} {printable(one.label)}: {span(one.delay)}{margin}{limit}."


def _diagrams(streams: Sequence[PlannedStream], size: Size) -> Figure:

    columns = 1 if len(streams) == 1 or size.width < 5 else 2
    rows = [streams[at : at + columns] for at in range(0, len(streams), columns)]
    heights = [max(len(_levels(one)[0]) for one in row) for row in rows]
    per = size.letters / 72
    figure = matplotlib.figure.Figure(figsize=(size.width, 0.29 * sum(heights) + len(rows) * 3.8 * per))
    axes = figure.subplots(len(rows), columns, squeeze=False, height_ratios=heights)
    for number, at in enumerate(axes.flat):
        if number < len(streams):
            _diagram(at, streams[number], size)
        else:
            at.axis("off")
    return figure


def _levels(one: PlannedStream) -> tuple[list[str], list[tuple[int, int]]]:
    """Nodes from top to bottom, and for every stage its first and last row."""
    names: list[str] = []
    rows: list[tuple[int, int]] = []
    for number, stage in enumerate(one.stages):
        if number == 0 or stage.parent != number - 1:
            names.append(stage.begins_at)
        rows.append((len(names) - 1, len(names)))
        names.append(stage.ends_at)
    return names, rows


def _diagram(at: Axes, one: PlannedStream, size: Size) -> None:
    names, rows = _levels(one)
    colour = COLOURS[(one.number - 1) % len(COLOURS)]
    for number, stage in enumerate(one.stages):
        top, bottom = -rows[number][0], -rows[number][1]
        for place, (begin, end) in enumerate(stage.frames):
            there = stage.propagation
            corners = [(begin, top), (end, top), (end + there, bottom), (begin + there, bottom)]
            at.fill(
                [x / 1e3 for x, _ in corners], [y for _, y in corners], facecolor=colour + "99",
                edgecolor=colour, linewidth=0.7,
            )  # fmt: skip
            came = 0.0
            if stage.parent is not None:
                before = one.stages[stage.parent]
                came = before.frames[place][1] + before.propagation
            at.plot([came / 1e3, begin / 1e3], [top, top], color=colour, linewidth=1.6, solid_capstyle="butt")
    if one.limit is not None and one.limit <= 4 * one.delay:
        at.axvline(one.limit / 1e3, color=LIMIT, linewidth=1, linestyle=(0, (4, 2)))
        at.text(
            one.limit / 1e3, -0.1, "limit ", color=LIMIT, ha="right", va="top", fontsize=size.letters - 1.5
        )
    at.axvline(one.delay / 1e3, color=INK, linewidth=0.6, linestyle=(0, (1, 1.5)))
    at.text(
        one.delay / 1e3, 0.12, f"{micros(one.delay)}{THIN}µs ", ha="right", va="bottom",
        fontsize=size.letters - 1.5,
    )  # fmt: skip
    at.set_yticks(
        [-row for row in range(len(names))],
        [shortened(f"{name}{' *' if name in one.listeners else ''}", 18) for name in names],
    )
    at.set_ylim(-(len(names) - 1) - 0.35, 0.75)
    at.set_xlim(left=0)
    at.grid(visible=True, axis="y")
    at.set_title(f"{one.number} {shortened(one.label, 34)}: µs from the release")
