"""Figures of a device under test: gates against their list, residence by length, credit as a staircase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform import estimate
from tsnbench.conform.suites import cbs, forwarding, gates
from tsnbench.libraries import numpy as np
from tsnbench.report.figures.style import CLASS_COLOURS, INK, AnyFigure, Drawing, Row, Size, panels_of
from tsnbench.report.formatting import printable

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

BINS = 250
STAIRS = 40
"""Frames of a staircase."""


def drawings(bench: Bench, suite: str, stimulus: Stimulus, seen: Seen) -> Iterator[Drawing]:
    """The figures that show the frames of one stimulus."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    if suite == "gates":
        yield _gates(port, number, stimulus, seen)
    elif suite == "forwarding":
        yield _residence(bench, number, stimulus, seen)
    elif suite == "cbs":
        yield from (_stairs(one, number, stimulus, seen) for one in cbs.classes(port))


def _gates(port: Port, number: int, stimulus: Stimulus, seen: Seen) -> Drawing:
    """By class, when in the cycle frames began, over the windows of the list."""
    cycle, base = port["gates"]["cycle_ns"], port["gates"]["base_time_ns"]
    lanes = gates.windows(port)
    shares = {}
    for own in lanes:
        names = [name for name in stimulus.streams if name.startswith(f"class-{own}-")]
        begins = np.concatenate([seen.frames(number, name).begin for name in names] or [np.zeros(0)])
        counts, _ = np.histogram((begins - base) % cycle, BINS, (0, cycle))
        shares[own] = counts / max(1, counts.max())

    def draw(size: Size) -> AnyFigure:
        figure, (at,) = panels_of(1, size, 0.4 * len(lanes) + 0.8)
        for place, (own, spans) in enumerate(reversed(lanes.items())):
            colour = CLASS_COLOURS[own]
            at.broken_barh(
                [(begin / 1e3, (end - begin) / 1e3) for begin, end in spans],
                (place + 0.04, 0.92),
                facecolor=colour + "2e",
                edgecolor=colour,
                linewidth=0.7,
            )
            edges = [cycle * bin_ / BINS / 1e3 for bin_ in range(BINS + 1)]
            heights = [place + 0.04 + 0.92 * float(share) for share in shares[own]]
            at.stairs(heights, edges, baseline=place + 0.04, fill=True, color=colour, linewidth=0)
        at.set_yticks(
            [place + 0.5 for place in range(len(lanes))], [f"class {own}" for own in reversed(lanes)]
        )
        at.set_ylim(0, len(lanes))
        at.set_xlim(0, cycle / 1e3)
        at.set_xlabel("time within the cycle of the list (µs)")
        return figure

    def rows() -> Iterator[Row]:
        for own, share in shares.items():
            for place, one in enumerate(share):
                yield {"class": own, "from_us": cycle * place / BINS / 1e3, "share_of_most": float(one)}

    return Drawing(
        stimulus.name,
        f"{printable(stimulus.port)}: gates",
        "Light boxes: windows of the list. Filled: how many frames of the class began just then, each class "
        "alone with more frames than its windows take.",
        f"{len(lanes)} classes",
        draw,
        rows,
        wide=True,
        light=True,
    )


def _residence(bench: Bench, number: int, stimulus: Stimulus, seen: Seen) -> Drawing:
    """The least residence of each size, and the line through them."""
    ingress = seen.ingress(next(iter(stimulus.streams)), number)
    waited = {
        octets: seen.residence(ingress, number, name)
        for octets, name in zip(forwarding.SIZES, stimulus.streams, strict=True)
    }
    least = {octets: float(one.min()) for octets, one in waited.items() if len(one)}
    a, b, _ = (
        estimate.line(np.array(list(least), dtype=float), np.array(list(least.values())))
        if least
        else (0.0, 0.0, 0.0)
    )

    def draw(size: Size) -> AnyFigure:
        figure, (at,) = panels_of(1, size, 1.9)
        ends = (0, forwarding.SIZES[-1])
        at.plot(ends, [(a + b * octets) / 1e3 for octets in ends], color=INK, linewidth=0.8)
        at.plot(list(least), [one / 1e3 for one in least.values()], "o", color=CLASS_COLOURS[0], markersize=4)
        at.set_xlabel("octets")
        at.set_ylabel("residence (µs)")
        return figure

    return Drawing(
        stimulus.name,
        f"{printable(stimulus.port)}: residence by length",
        "Points: least time from the first bit in to the first bit out; line: "
        f"{a:.1f} ns + {b:.4f} ns an octet.",
        f"{len(least)} sizes",
        draw,
        lambda: ({"octets": octets, "least_ns": one} for octets, one in least.items()),
        light=True,
    )


def _stairs(one: cbs.Shaped, number: int, stimulus: Stimulus, seen: Seen) -> Drawing:
    """Bits that left under a backlog, against the idle slope."""
    begin = seen.frames(number, f"class-{one.own}-backlog").begin
    begin = begin[len(begin) // 2 :][:STAIRS]
    at_us = [float(ns - begin[0]) / 1e3 for ns in begin]
    bits = [place * (one.octets + 20) * 8 / 1e3 for place in range(len(begin))]

    def draw(size: Size) -> AnyFigure:
        figure, (at,) = panels_of(1, size, 1.9)
        if at_us:
            end = at_us[-1]
            at.plot((0, end), (0, end * one.cbs["idle_slope_bps"] / 1e9), color=INK, linewidth=0.8)
            at.step(at_us, bits, where="post", color=CLASS_COLOURS[one.own])
        at.set_xlabel("time (µs)")
        at.set_ylabel("sent (kbit)")
        return figure

    return Drawing(
        f"{stimulus.name}-class-{one.own}",
        f"{printable(stimulus.port)}: class {one.own} under a backlog",
        "Steps: bits of frames that began to leave, with preamble and gap; line: the idle slope.",
        f"{len(begin)} frames",
        draw,
        lambda: ({"at_us": at, "kbit": kbit} for at, kbit in zip(at_us, bits, strict=True)),
        light=True,
    )
