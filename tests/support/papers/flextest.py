"""FlexTest's printed figures and ours, table by table. Ours: ``tsnbench run <scenario> --duration 1s``."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from support.papers.printed import text, texts, value
from support.shipped import MS, Result, planned, simulated, variants
from support.statistics import mean, quantile, us
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.gates import open_share
from tsnbench.planning import plan

DURATION = 1000 * MS
PRINTED_LEAST = value(
    "flextest", "Fig. 9: least delay of the high stream (Fig. 11a), under cut-through", "ns"
)
PRINTED_MOST = value("flextest", "Fig. 11: greatest delay of the high stream, without cross traffic", "ns")
PRINTED_ALONE = value("flextest", "Fig. 14: least delay of the high stream", "ns")
THETA = ("theta-high", "theta-med", "theta-low")
RESIDENCE = 12_240
STATISTICS = ("mean", "p99", "greatest")


def run(name: str, variant: str) -> Result:
    return simulated(f"papers/flextest/{name}", variant, DURATION)


def row_of(delays: pl.Series) -> list[str]:
    return [us(mean(delays)), us(quantile(delays, "0.99")), us(delays.max() or 0)]


def clock_offsets(variant: str, duration: int = 20_000 * MS) -> dict[str, pl.Series]:
    """By node, the lead of its clock over the bridge's clock in the second half of a run, in ns."""
    scenario = variants("papers/flextest/ptp")[variant].model_copy(update={"duration": duration})
    with tempfile.TemporaryDirectory() as folder:
        run = Simulation().execute(plan(scenario), Path(folder) / "run")
        errors = run.clock_errors().filter(pl.col("t_true_ns") >= duration // 2)
    offsets = errors.with_columns(pl.col("offset_ps") / 1000).select("node", "offset_ps")
    return {node: offsets.filter(pl.col("node") == node)["offset_ps"] for node in ("node0", "node1")}


def clocks() -> Iterable[list[str]]:
    """Fig. 6: error of both clocks by rate of Sync messages, in ns."""
    yield ["Sync interval", "node", "mean", "std. dev.", "greatest distance"]
    for variant in variants("papers/flextest/ptp"):
        for node, offsets in clock_offsets(variant).items():
            spread, worst = offsets.std(ddof=0), offsets.abs().max()
            yield [variant, node, f"{offsets.mean():.1f}", f"{spread:.1f}", f"{worst:.1f}"]


def baseline() -> Iterable[list[str]]:
    """Each stream without other traffic, in us."""
    yield ["Stream", "frames", "least", "mean", "greatest"]
    for stream in variants("papers/flextest/baseline"):
        delays = run("baseline", stream).frames["delay_ns"]
        yield [stream, str(len(delays)), us(delays.min() or 0), us(mean(delays)), us(delays.max() or 0)]


def sizes() -> Iterable[list[str]]:
    """Residence by frame size under cut-through, in us; all frames of a size have the same residence."""
    yield ["Frame", "residence"]
    for size in variants("papers/flextest/frame-sizes"):
        (residence,) = run("frame-sizes", size).frames["delay_ns"].unique().to_list()
        yield [size, us(residence)]


def cut_through() -> Iterable[list[str]]:
    """Each stream without other traffic under cut-through, in us."""
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
    """Gate control lists with cross traffic, as in Fig. 12, in us: high, medium, low."""
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


def boxes() -> Iterable[list[str]]:
    """The six lists of Fig. 13, slots of 15 us, with cross traffic: the figures of a box plot, in us."""
    shares = {"lower quartile": "0.25", "median": "0.5", "upper quartile": "0.75", "p99.9": "0.999"}
    yield ["List", "guard band", "stream", "least", *shares, "greatest"]
    lists = [("tas", gcl, "-") for gcl in "1234"] + [("tas-guard-band", gcl, "15 us") for gcl in "14"]
    for scenario, gcl, guard in lists:
        result = run(scenario, f"{gcl} 15 us crossed")
        for stream in THETA:
            delays = result.group(stream)
            quantiles = [us(quantile(delays, share)) for share in shares.values()]
            yield [f"GCL {gcl}", guard, stream, us(delays.min() or 0), *quantiles, us(delays.max() or 0)]


def synchronised() -> Iterable[list[str]]:
    """Fig. 14 for all sets and lists: residence in the bridge, and waiting at the senders, in us."""
    yield [
        "Set",
        "list",
        "stream",
        "least",
        "mean",
        "std. dev.",
        "greatest",
        "alone: greatest",
        "mean wait at the sender",
    ]
    for variant in variants("papers/flextest/synchronised-senders"):
        gcl, name = variant.split()
        result = run("synchronised-senders", variant)
        for stream in (f"{name}-high", f"{name}-med", f"{name}-low"):
            delays, alone = result.group(stream), run("baseline", stream).frames["delay_ns"]
            spread = delays.cast(pl.Float64).std(ddof=0) or 0.0
            yield [
                name.capitalize(), gcl, stream, us(delays.min() or 0), us(mean(delays)), us(spread),
                us(delays.max() or 0), us(alone.max() or 0), us(mean(result.waits(stream))),
            ]  # fmt: skip


TABLE_V = {
    "tcpreplay": ("tcpreplay 4.3.4, no gates", "tcpreplay 4.3.4"),
    "15us": ("gates, slots of 15 us", "slots of 15 us"),
    "500us": ("gates, slots of 500 us", "slots of 500 us"),
}
"""The description, and the name in the printed numbers."""
COLUMNS_V = ("min", "mean", "median", "stdev", "P99%", "max")


def deviations(gates: str) -> pl.Series:
    """The deviation of a sender's cycle from 1 ms, in ns."""
    sent = run("sender-precision", gates).frames.sort("seq")["t_tx_ns"]
    return sent.diff().drop_nulls() - MS


def precision() -> Iterable[list[str]]:
    """Table V and our figures, in ns."""
    yield ["Sender", "whose", "least", "mean", "median", "std. dev.", "p99", "greatest"]
    for gates, (what, called) in TABLE_V.items():
        theirs = [value("flextest", f"Table V: {called}: {column}", "ns") for column in COLUMNS_V]
        found = deviations(gates)
        spread = found.cast(pl.Float64).std(ddof=0) or 0.0
        ours = (
            found.min(), round(mean(found)), quantile(found, "0.5"), round(spread),
            quantile(found, "0.99"), found.max(),
        )  # fmt: skip
        yield [what, "FlexTest", *(f"{number:.0f}" for number in theirs)]
        yield [what, "ours", *map(str, ours)]


TREATMENTS = {
    "a": ("none", "", "one queue"),
    "b": ("none", "-crossed", "one queue"),
    "c": ("spq", "", "strict priority"),
    "d": ("spq", "-crossed", "strict priority"),
    **{
        panel: (f"tas flextest/gcl-{gcl} {slot} us", "-crossed", f"GCL {gcl}, {slot} us")
        for panel, (slot, gcl) in zip("efghijkl", itertools.product((15, 45), (1, 2, 3, 4)), strict=True)
    },
    **{
        panel: (
            f"tas-guard-band flextest/gcl-{gcl} {slot} us",
            "-crossed",
            f"GCL {gcl}, {slot} us, guard band",
        )
        for panel, (gcl, slot) in zip("mnop", itertools.product((1, 4), (15, 45)), strict=True)
    },
}
"""Panels of Fig. 15 and 16: treatment, traffic, description."""


def sets(name: str) -> Iterable[list[str]]:
    """Fig. 15 or 16: mean and greatest residence by treatment, in us."""
    head = ["Panel", "treatment", "cross traffic"]
    for stream in ("high", "medium", "low"):
        head += [f"{stream}: mean", f"{stream}: p99", f"{stream}: greatest"]
    yield head
    for panel, (treatment, traffic, what) in TREATMENTS.items():
        result = run("psi-omega", f"{name}{traffic} {treatment}")
        row = [panel, what, "yes" if traffic else "-"]
        for stream in (f"{name}-high", f"{name}-med", f"{name}-low"):
            row += row_of(result.group(stream))
        yield row


def printed() -> Iterable[list[str]]:
    """The numbers in the text of Section VI, and ours."""
    alone, crossed = run("spq", "alone"), run("spq", "crossed")
    one_queue, full = run("no-prioritisation", "alone"), run("no-prioritisation", "crossed")
    high = THETA[0]
    share = 100 * (one_queue.frames["delay_ns"] == RESIDENCE).sum() / len(one_queue.frames)
    growth = int(alone.group(high).max() or 0) - int(alone.group(high).min() or 0)
    yield ["Figure", "FlexTest", "ours"]
    waits = "Fig. 10: frames that do not wait, without cross traffic"
    yield ["one queue, alone: frames that do not wait", text("flextest", waits), f"{share:.2f} %"]
    yield [
        "one queue, crossed: almost all delays below (high, medium, low)",
        texts(
            "flextest",
            "Fig. 10: greatest delay of almost all frames of the high stream, with cross traffic",
            "Fig. 10: the same of the medium stream",
            "Fig. 10: the same of the low stream",
        ),
        f"{', '.join(us(full.group(stream).max() or 0) for stream in THETA)} us",
    ]
    first = "Fig. 11: overall latency of the high stream, without cross traffic"
    others = ("Fig. 11: of the medium stream", "Fig. 11: of the low stream")
    with_traffic = [
        f"Fig. 11: of the {level} stream with cross traffic" for level in ("high", "medium", "low")
    ]
    for result, what, theirs in ((alone, "alone", (first, *others)), (crossed, "crossed", with_traffic)):
        yield [
            f"strict priority, {what}: mean delay (high, medium, low)",
            texts("flextest", *theirs),
            f"{means(result)} us",
        ]
    yield [
        "strict priority, alone: greatest less least delay of the high stream",
        f"{us(PRINTED_MOST - PRINTED_LEAST)} us",
        f"{us(growth)} us",
    ]
    slots = [mean(run("tas", f"4 {slot} us crossed").group(high)) for slot in (15, 45)]
    yield [
        "list 4, slots of 15 and 45 us: mean of the high stream",
        texts(
            "flextest",
            *(f"Fig. 12, 13: list 4, slots of {slot} us: mean of the high stream" for slot in (15, 45)),
        ),
        f"{', '.join(map(us, slots))} us",
    ]
    guard = "Fig. 12, 13: list 1, slots of {} us: what a guard band adds to the {}"
    added_to = {15: "average", 45: "mean of the high stream"}
    for slot, whose in added_to.items():
        theirs = "+" + text("flextest", guard.format(slot, whose))
        without, guarded = (
            mean(run(name, f"1 {slot} us crossed").group(high)) for name in ("tas", "tas-guard-band")
        )
        what = f"list 1, slots of {slot} us: what the guard band adds to the mean of the high stream"
        yield [what, theirs, f"{100 * (guarded / without - 1):+.0f} %"]
    senders = run("synchronised-senders", "1 theta").group(high)
    added = int(senders.min() or 0) - int(alone.group(high).min() or 0)
    yield [
        "synchronised senders: what is added to the least delay of the high stream",
        f"{us(PRINTED_ALONE - PRINTED_LEAST)} us ({PRINTED_ALONE / 1e3:.3f} less {PRINTED_LEAST / 1e3:.3f})",
        f"{us(added)} us",
    ]
    spread = senders.cast(pl.Float64).std(ddof=0) or 0.0
    deviation = us(value("flextest", "Fig. 14: standard deviation of the high stream", "ns"))
    yield [
        "synchronised senders: standard deviation of the high stream",
        f"{deviation} us",
        f"{us(spread)} us",
    ]
    lists = (
        ("tas", "1 15 us alone"),
        ("tas-guard-band", "1 15 us alone"),
        ("tas-guard-band", "1 45 us alone"),
    )
    open_rates = ", ".join(f"{open_rate(*one) / 10**6:.0f}" for one in lists)
    yield [
        "list 1: rate of one stream without guard band, with it and slots of 15 us, and of 45 us",
        texts(
            "flextest",
            "Fig. 12, 13: list 1, slots of 15 us: what the high stream's gate lets through",
            "Fig. 12, 13: the same with a guard band",
            "Fig. 12, 13: the same with a guard band and slots of 45 us",
        ),
        f"{open_rates} Mbit/s",
    ]


def open_rate(name: str, variant: str) -> float:
    """The bandwidth of the high stream's gate, in bit/s."""
    ports = planned(f"papers/flextest/{name}", variant).document["ports"]
    port = next(port for port in ports if port["name"] == "dut -> node0")
    return float(port["rate_bps"] * open_share(port, 3))


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
    "boxes": boxes,
    "synchronised": synchronised,
    "precision": precision,
    "psi": lambda: sets("psi"),
    "omega": lambda: sets("omega"),
}
