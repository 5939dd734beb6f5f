"""OCORA's printed figures and ours, table by table. Ours: ``tsnbench run <scenario> --duration 2s``."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from support.papers.printed import text
from support.shipped import MS, Result, simulated, variants
from support.statistics import us


def printed(name: str) -> str:
    """A printed number in us."""
    return text("ocora", name).removesuffix(" us")


DURATION = 2000 * MS
CYCLE = MS
SCHEDULED = {
    # schedule, PCP, traffic: figures, printed latency in us
    "1 7 alone": ("12, 21", printed("Fig. 12, 13, 21, 22: latency without best effort")),
    "1 7 loaded": ("13, 22", printed("Fig. 12, 13, 21, 22: latency with best effort")),
    "1 2 alone": ("14", printed("Fig. 14, 17, 23, 24: latency of priority 2")),
    "1 2 loaded": ("15", "more, and spread"),
    "2 7 alone": ("17, 23", "as Fig. 14"),
    "2 7 loaded": ("24", "as Fig. 23"),
}

LIMIT = text("ocora", "Fig. 25 to 28: the most that can").replace("<=", "at most")
INTERRUPTING = f"{text('ocora', 'Fig. 25 to 28: express frames that interrupt a frame')}, {LIMIT}"


def run(name: str, variant: str = "") -> Result:
    return simulated(f"papers/ocora/{name}", variant, DURATION)


def latencies(result: Result) -> pl.Series:
    """From the begin of the cycle to the reception of each message in ns: OCORA's definition of latency."""
    messages = result.frames.filter(pl.col("stream") == "message").sort("seq")
    return messages["t_rx_ns"] - messages["seq"].cast(pl.Int64) * CYCLE


def span(values: pl.Series) -> str:
    least, most = us(values.min() or 0), us(values.max() or 0)
    return least if least == most else f"{least} to {most}"


def schedules() -> Iterable[list[str]]:
    """Latency by schedule and priority, and the part of it at the first switch's port, in us."""
    yield [
        "Fig.",
        "schedule",
        "PCP",
        "best effort",
        "latency, OCORA",
        "ours",
        "waiting at the first switch",
        "behind it",
    ]
    for variant, (figures, theirs) in SCHEDULED.items():
        schedule, pcp, traffic = variant.split()
        result = run("schedules", variant)
        waits, delays = result.waits("message"), result.delays("message")
        best_effort = "yes" if traffic == "loaded" else "-"
        yield [
            figures, schedule, pcp, best_effort, theirs, span(latencies(result)), span(waits), span(delays),
        ]  # fmt: skip


def late() -> Iterable[list[str]]:
    """Messages that are handed over at the end of their window."""
    yield ["Second switch", "messages", "held by the second", "held by the first", "their latency in us"]
    for shift in variants("papers/ocora/late-messages"):
        found = latencies(run("late-messages", shift))
        held = found.filter(found > CYCLE // 2)
        first = held.filter(held > CYCLE + 1_000)
        seen = ", ".join(us(value) for value in sorted(held.unique()))
        what = "the same time" if shift == "0 ns" else f"{shift} later"
        yield [what, str(len(found)), str(len(held) - len(first)), str(len(first)), seen]


def preemption() -> Iterable[list[str]]:
    """Waits of express frames for the trunk, and the number of them that interrupt a frame."""
    yield ["Fig.", "pre-emption", "best effort", "wait of an express frame", "interrupting, OCORA", "ours"]
    runs = ("none alone", "7 alone", "none loaded", "7 loaded")
    for figure, variant in zip(("25", "26", "27", "28"), runs, strict=True):
        express, traffic = variant.split()
        result = run("preemption", variant)
        trunk = next(port for port in result.counters["ports"] if port["port"] == "kbox1 -> kbox2")
        count = trunk.get("preemption", {}).get("preemptions", 0)
        share = f"{100 * count / len(result.delays('high')):.1f} %"
        yield [
            figure, "-" if express == "none" else "yes", "yes" if traffic == "loaded" else "-",
            span(result.waits("high")), INTERRUPTING if figure == "28" else "-", share,
        ]  # fmt: skip


TABLES = {"preemption": preemption, "schedules": schedules, "late": late}
