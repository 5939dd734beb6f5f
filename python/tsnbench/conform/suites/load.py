"""Load: the greatest rate without loss, and the order of frames.

RFC 2544, 26.1, searches the rate by bisection. Here a staircase of rates is sent in one run: its steps are
the interval of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.conform.suites import priority
from tsnbench.libraries import polars as pl
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.scenario.model import Periodic, Saturating, Stream

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus, Testers
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

SIZES = (64, 512, 1522)
LEVELS = (50, 75, 90, 95, 99, 100)
"""Percent of the slower of the two links."""
FRAMES = 100
"""At each level of each size."""
ports = priority.ports


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """A staircase of rates of three sizes through each port."""
    for port in ports(bench):
        testers = bench.testers(port["name"])
        if testers is None:
            yield Unsent(port["name"], ALONE)
            continue
        streams: dict[str, Stream] = {}
        at = 0
        slower = min(port["rate_bps"], testers.rate_bps)
        for octets in SIZES:
            frame = (octets + PHY_OVERHEAD) * 8e9 / slower
            for level in LEVELS:
                end = at + round(FRAMES * frame * 100 / level)
                streams[f"octets-{octets}-{level}"] = _stream(bench, port, testers, octets, level, (at, end))
                at = end + round(20 * frame)
        about = "a staircase of rates of three sizes"
        yield bench.stimulus("load", port["name"], streams, at, 10_000_000, about)


def _stream(
    bench: Bench, port: Port, testers: Testers, octets: int, level: int, span: tuple[int, int]
) -> Stream:
    slower = min(port["rate_bps"], testers.rate_bps)
    gap = -(-(octets + PHY_OVERHEAD) * 8 * 10**11 // (slower * level))
    full = level == LEVELS[-1] and testers.rate_bps <= port["rate_bps"]
    return testers.stream(
        0,
        bench.vid(port["name"]),
        Saturating() if full else Periodic(period=gap),
        octets,
        start=span[0],
        stop=span[1],
    )


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The greatest level up to which no frame of any size was lost or overtaken."""
    number = bench.number(stimulus.port)
    levels: list[int] = []
    lost, frames, moved = 0, 0, 0
    for level in LEVELS:
        gone = 0
        for octets in SIZES:
            name = f"octets-{octets}-{level}"
            sent, left = seen.entered(seen.ingress(name, number), name), seen.left(number, name)
            frames += len(sent)
            gone += len(sent) - left["seq"].n_unique()
            moved += int((left["seq"].cast(pl.Int64).diff() < 0).sum())
        lost += gone
        if not gone and len(levels) == LEVELS.index(level):
            levels.append(level)
    if not frames:
        yield undecided("load.lossfree", stimulus.port, "too-few")
        yield undecided("load.sequence", stimulus.port, "too-few")
        return
    best = levels[-1] if levels else 0
    above = LEVELS[len(levels)] if len(levels) < len(LEVELS) else best
    yield Result(
        "load.lossfree",
        stimulus.port,
        "pass" if best == LEVELS[-1] else "fail",
        "" if not lost else f"{lost} of {frames:,} frames were lost, from {above} % of the link on",
        found=Number(best, "%", best, above),
        limit=Number(100, "%", 100, 100),
        shown=f"{best} %" if best == above else f"{best} to {above} %",
        wanted="100 %",
        frames=frames,
        estimates=len(LEVELS) * len(SIZES),
    )
    yield Result(
        "load.sequence",
        stimulus.port,
        "fail" if moved else "pass",
        f"{moved} frames were overtaken by frames of their stream" if moved else "",
        found=Number(moved, "frames", moved, moved),
        limit=Number(0, "frames", 0, 0),
        shown=f"{moved} of {frames:,}",
        wanted="0",
        frames=frames,
    )
