"""Forwarding: how long single frames stay in the device, and how that depends on their length.

RFC 2544, 26.2, measures a latency of each size. Here the least residence of each size is fitted by a line
a + b · octets: a store-and-forward device waits for the whole frame, so b is the time of an octet on the
incoming link, and a is its own time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tsnbench.conform import estimate
from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided, verdict_of
from tsnbench.libraries import numpy as np
from tsnbench.quantities import exact
from tsnbench.scenario.model import Poisson

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error, Reason
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Node, Port

SIZES = (64, 128, 256, 512, 1024, 1280, 1522)
"""Octets with a VLAN tag. RFC 2544, 9.1."""
FRAMES = 15
"""Of each size."""
SPACING = 10
"""Mean time between frames of all sizes, in times of the largest frame."""
LEAST_FRAMES = 5
PREAMBLE = 8


def ports(bench: Bench) -> list[Port]:
    """All ports of a device that forwards."""
    return bench.ports if bench.network.forwards(bench.node) else []


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Single frames of all sizes through each port, with random gaps."""
    for port in ports(bench):
        testers = bench.testers(port["name"])
        if testers is None:
            yield Unsent(port["name"], ALONE)
            continue
        frame_ns = round(1542 * 8e9 / min(port["rate_bps"], testers.rate_bps))
        gap = SPACING * len(SIZES) * frame_ns
        duration = FRAMES * gap
        streams = {
            f"octets-{octets}": testers.stream(
                bench.usual_pcp(port), bench.vid(port["name"]), Poisson(mean_interval=gap), octets
            )
            for octets in SIZES
        }
        about = "single frames of seven sizes, with random gaps"
        yield bench.stimulus("forwarding", port["name"], streams, duration, 100 * frame_ns, about)


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """Whether residence is a line of the length, its slope, and the device's own time."""
    number = bench.number(stimulus.port)
    ingress = seen.ingress(next(iter(stimulus.streams)), number)
    least, frames = [], 0
    for name in stimulus.streams:
        waited = seen.residence(ingress, number, name)
        frames += len(waited)
        least.append(float(waited.min()) if len(waited) >= LEAST_FRAMES else np.nan)
    tests = ("forwarding.line", "forwarding.slope", "forwarding.residence")
    if np.isnan(least).any():
        yield from (undecided(test, stimulus.port, "too-few") for test in tests)
        return
    if error.one_ns is None or not error.whole:
        reason: Reason = "plane" if error.one_ns is not None else "clocks"
        yield from (undecided(test, stimulus.port, reason) for test in tests)
        return
    a, b, residual = estimate.line(np.array(SIZES, dtype=float), np.array(least))
    node = bench.expected.document["nodes"][bench.node]
    octet_ns = 8e9 / seen.plan["ports"][ingress]["rate_bps"]
    yield from _results(stimulus.port, node, octet_ns, (a, b, residual), error, frames)


def _results(
    port: str, node: Node, octet_ns: float, fit: tuple[float, float, float], error: Error, frames: int
) -> Iterator[Result]:
    a, b, residual = fit
    own = float(error.one_ns or 0)
    tolerance = error.tolerance_ns(own)
    verdict = verdict_of(residual, residual, 3 * tolerance, own)
    words = "" if verdict == "pass" else f"a size is {exact(round(residual))} off the line"
    yield Result(
        "forwarding.line",
        port,
        verdict,
        words,
        None if verdict in ("pass", "fail") else error.larger,
        found=Number(residual, "ns", residual - own, residual + own),
        limit=Number(0, "ns", 0, 3 * tolerance),
        shown=exact(round(residual)),
        wanted=f"<= {exact(round(3 * tolerance))}",
        frames=frames,
        estimates=len(SIZES),
    )
    through = "cut_through_octets" in node
    planned = 0.0 if through else octet_ns
    slack = own / (SIZES[-1] - SIZES[0])
    verdict = verdict_of(b - planned, b - planned, 4 * slack, 2 * slack)
    kind = "store-and-forward" if abs(b - octet_ns) < abs(b) else "cut-through"
    reason = None if verdict in ("pass", "fail") else error.larger
    if verdict == "fail" and error.kernel:
        verdict, reason = "not-decidable", "kernel"
    yield Result(
        "forwarding.slope",
        port,
        verdict,
        "" if verdict == "pass" else f"residence grows by {b:.3f} ns an octet: {kind}",
        reason,
        found=Number(b, "ns/octet", b - 2 * slack, b + 2 * slack),
        limit=Number(planned, "ns/octet", planned - 4 * slack, planned + 4 * slack),
        shown=f"{b:.3f} ns/octet",
        wanted=f"{planned:.3f} +-{4 * slack:.3f}",
        frames=frames,
        estimates=len(SIZES),
    )
    yield _residence(port, node, a - PREAMBLE * octet_ns if not through else a, error, frames)


def _residence(port: str, node: Node, own: float, error: Error, frames: int) -> Result:
    """The device's own time, from a frame's last bit in to its first bit out."""
    found = Number(own, "ns", own - (error.one_ns or 0), own + (error.one_ns or 0))
    shown = exact(round(own))
    if not node["processing_ns"] or "cut_through_octets" in node:
        return Result(
            "forwarding.residence",
            port,
            "not-decidable",
            f"a = {shown}: the scenario states no processing time to compare it with",
            "no-limit",
            found=found,
            shown=shown,
            frames=frames,
        )
    planned = node["processing_ns"]
    if error.kernel:
        words = f"a = {shown}: a kernel takes its own time in place of the {exact(planned)} of the scenario"
        return replace(
            undecided("forwarding.residence", port, "kernel", words), found=found, shown=shown, frames=frames
        )
    limit = error.tolerance_ns(error.one_ns or 0)
    verdict = verdict_of(own - planned, own - planned, limit, error.one_ns or 0)
    return Result(
        "forwarding.residence",
        port,
        verdict,
        ""
        if verdict == "pass"
        else f"frames stay {exact(round(abs(own - planned)))} "
        f"{'longer' if own > planned else 'shorter'} than the scenario states",
        None if verdict in ("pass", "fail") else error.larger,
        found=found,
        limit=Number(planned, "ns", planned - limit, planned + limit),
        shown=shown,
        wanted=f"{exact(planned)} +-{exact(round(limit))}",
        frames=frames,
        estimates=len(SIZES),
    )
