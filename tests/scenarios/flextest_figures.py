"""FlexTest's printed figures and ours, table by table. Ours: ``tsnbench run <scenario> --duration 1s``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import polars as pl
from shipped import MS, Result, simulated, variants
from statistics_of import mean, quantile, us

from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan

DURATION = 1000 * MS
THETA = ("theta-high", "theta-med", "theta-low")
RESIDENCE = 12_240
STATISTICS = ("mean", "p99", "greatest")


def run(name: str, variant: str) -> Result:
    return simulated(f"papers/flextest/{name}", variant, DURATION)


def row_of(delays: pl.Series) -> list[str]:
    return [us(mean(delays)), us(quantile(delays, "0.99")), us(delays.max() or 0)]


def clock_offsets(variant: str, duration: int = 20_000 * MS) -> dict[str, pl.Series]:
    """By node: how far its clock was ahead of the bridge's in the second half of a run, in ns."""
    scenario = variants("papers/flextest/ptp")[variant].model_copy(update={"duration": duration})
    with tempfile.TemporaryDirectory() as folder:
        run = Simulation().execute(plan(scenario), Path(folder) / "run")
        errors = run.clock_errors().filter(pl.col("t_true_ns") >= duration // 2)
    offsets = errors.with_columns(pl.col("offset_ps") / 1000).select("node", "offset_ps")
    return {node: offsets.filter(pl.col("node") == node)["offset_ps"] for node in ("node0", "node1")}


def clocks() -> Iterable[list[str]]:
    """Fig. 6: error of both clocks by Sync messages per second, in ns."""
    yield ["Sync interval", "node", "mean", "std. dev.", "greatest distance"]
    for variant in variants("papers/flextest/ptp"):
        for node, offsets in clock_offsets(variant).items():
            spread, worst = offsets.std(ddof=0), offsets.abs().max()
            yield [variant, node, f"{offsets.mean():.1f}", f"{spread:.1f}", f"{worst:.1f}"]


def baseline() -> Iterable[list[str]]:
    """Each stream alone, in us."""
    yield ["Stream", "frames", "least", "mean", "greatest"]
    for stream in variants("papers/flextest/baseline"):
        delays = run("baseline", stream).frames["delay_ns"]
        yield [stream, str(len(delays)), us(delays.min() or 0), us(mean(delays)), us(delays.max() or 0)]


def sizes() -> Iterable[list[str]]:
    """Residence by frame size under cut-through, in us; every frame of a size takes the same time."""
    yield ["Frame", "residence"]
    for size in variants("papers/flextest/frame-sizes"):
        (residence,) = run("frame-sizes", size).frames["delay_ns"].unique().to_list()
        yield [size, us(residence)]


def cut_through() -> Iterable[list[str]]:
    """Each stream alone under cut-through, in us."""
    yield ["Stream", "frames", "least", "mean", "greatest"]
    for stream in variants("papers/flextest/cut-through"):
        delays = run("cut-through", stream).frames["delay_ns"]
        yield [stream, str(len(delays)), us(delays.min() or 0), us(mean(delays)), us(delays.max() or 0)]


def queues() -> Iterable[list[str]]:
    """Without priorities and under strict priority, in us; the share of frames that did not wait."""
    yield ["Treatment", "traffic", "stream", "without waiting", *STATISTICS]
    for name, what in (("no-prioritisation", "one queue"), ("spq", "strict priority")):
        for traffic in ("alone", "crossed"):
            result = run(name, traffic)
            for stream in THETA:
                delays = result.group(stream)
                share = f"{100 * (delays == RESIDENCE).sum() / len(delays):.2f} %"
                yield [what, traffic, stream, share, *row_of(delays)]


def gates() -> Iterable[list[str]]:
    """Gate control lists with cross traffic, as Fig. 12, in us: high, medium, low."""
    head = ["List", "slot", "guard band"]
    for stream in ("high", "medium", "low"):
        head += [f"{stream}: {statistic}" for statistic in STATISTICS]
    yield head
    for scenario, guard in (("tas", "-"), ("tas-guard-band", "15 us")):
        for variant in variants(f"papers/flextest/{scenario}"):
            gcl, slot, unit, traffic = variant.split()
            if traffic == "crossed":
                result = run(scenario, variant)
                row = [f"GCL {gcl}", f"{slot} {unit}", guard]
                for stream in THETA:
                    row += row_of(result.group(stream))
                yield row


def printed() -> Iterable[list[str]]:
    """What Section VI states in numbers, and ours."""
    alone, crossed = run("spq", "alone"), run("spq", "crossed")
    one_queue, full = run("no-prioritisation", "alone"), run("no-prioritisation", "crossed")
    high = THETA[0]
    share = 100 * (one_queue.frames["delay_ns"] == RESIDENCE).sum() / len(one_queue.frames)
    growth = int(alone.group(high).max() or 0) - int(alone.group(high).min() or 0)
    yield ["Figure", "FlexTest", "ours"]
    yield ["one queue, alone: frames that do not wait", "97.96 %", f"{share:.2f} %"]
    yield [
        "one queue, crossed: almost all delays below (high, medium, low)",
        "135.4, 109.6, 85.3 us",
        f"{', '.join(us(full.group(stream).max() or 0) for stream in THETA)} us",
    ]
    for result, what, theirs in (
        (alone, "alone", "12.0, 12.4, 14.2"),
        (crossed, "crossed", "16.7, 20.8, 17.8"),
    ):
        yield [
            f"strict priority, {what}: mean delay (high, medium, low)",
            f"{theirs} us",
            f"{means(result)} us",
        ]
    yield [
        "strict priority, alone: greatest less least delay of the high stream",
        "13.65 us",
        f"{us(growth)} us",
    ]
    slots = [mean(run("tas", f"4 {slot} us crossed").group(high)) for slot in (15, 45)]
    yield [
        "list 4, slots of 15 and 45 us: mean of the high stream",
        "18.4, 34.0 us",
        f"{', '.join(map(us, slots))} us",
    ]
    for slot, theirs in ((15, "+16 %"), (45, "+24 %")):
        without, guarded = (
            mean(run(name, f"1 {slot} us crossed").group(high)) for name in ("tas", "tas-guard-band")
        )
        what = f"list 1, slots of {slot} us: what the guard band adds to the mean of the high stream"
        yield [what, theirs, f"{100 * (guarded / without - 1):+.0f} %"]


def means(result: Result) -> str:
    return ", ".join(us(mean(result.group(stream))) for stream in THETA)


TABLES = {
    "clocks": clocks,
    "baseline": baseline,
    "sizes": sizes,
    "cut-through": cut_through,
    "printed": printed,
    "queues": queues,
    "gates": gates,
}
