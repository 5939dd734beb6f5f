"""Tables of the READMEs of scenarios with hosts: EnGINE with ETF, Farzaneh, COTS lessons."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from support.papers.engine_printed import TABLE_11, TABLE_12, TABLE_13
from support.papers.host_stages import Stages, staged
from support.shipped import MS, planned, variants

US = 1_000
OFFLOAD = {"true": "offload", "false": "no offload"}
SEEDS = (1, 2, 3, 4)
"""Runs of 20,000 samples in which outliers are counted: two are expected in each run."""


def rank(values: pl.Series, share: float) -> float:
    """A quantile by nearest rank, in us."""
    place = max(0, -(-int(share * 1000) * len(values) // 1000) - 1)
    return float(values.sort()[place]) / US


def mean(values: pl.Series) -> float:
    return float(values.sum()) / len(values) / US


def steps(values: pl.Series) -> pl.Series:
    """|delay(i) - delay(i-1)|."""
    return values.diff().drop_nulls().abs()


def figures(values: pl.Series) -> list[str]:
    return [f"{mean(values):.1f}", f"{rank(values, 0.5):.1f}", f"{rank(values, 0.99):.1f}"]


def etf() -> Iterator[list[str]]:
    yield ["delta", "no offload: mean", "p99", "offload: mean", "p99", "offload: port at", "dropped"]
    for delta in ("25 us", "50 us", "100 us", "175 us", "275 us", "300 us"):
        plain, offloaded = (staged("papers/engine/ex-etf", f"{way} {delta}") for way in ("false", "true"))
        row = [delta]
        for one in (plain, offloaded):
            delays = one.delays("send-udp", "driver", "rx")
            row += [f"{mean(delays):.1f}", f"{rank(delays, 0.99):.1f}"]
        # A frame always leaves the port by the same time after its launch time.
        left = offloaded.seen.filter(pl.col("stage") == "tx")["t_ns"] % (100 * US)
        lost = offloaded.qdisc("zgw1 -> zgw2")
        yield [
            *row,
            f"+{float(left.median() or 0) / US:.3f}",
            str(lost["dropped_late"] + lost["dropped_expired"]),
        ]


def taprio() -> Iterator[list[str]]:
    yield ["txtime-delay, delta", "no offload: mean", "p99", "offload: mean", "p99"]
    for setting in ("200 us, delta 175 us", "300 us, delta 175 us", "550 us, delta 175 us",
                    "300 us, delta 275 us", "550 us, delta 275 us"):  # fmt: skip
        row = [setting]
        for way in ("false", "true"):
            delays = staged("papers/engine/ex-taprio", f"{way} {setting}").delays("iperf3", "driver", "rx")
            row += [f"{mean(delays):.1f}", f"{rank(delays, 0.99):.1f}"]
        yield row


def ts() -> Iterator[list[str]]:
    yield ["mode, txtime-delay, hops", "printed: mean", "median", "p99", "ours: mean", "median", "p99"]
    for (mode, delay, hops), printed in TABLE_11.items():
        run = staged("papers/engine/ex-ts", f"{mode} {delay} {hops}", 500 * MS)
        ours = figures(run.delays("flow4", "driver", "rx"))
        yield [f"{mode}, {delay}, {hops}", *(f"{value:.1f}" for value in printed), *ours]


def tm() -> Iterator[list[str]]:
    yield ["offload, mode, hops", "printed: mean", "median", "p99", "ours: mean", "median", "p99"]
    for (offload, mode, hops), printed in TABLE_12.items():
        run = staged("papers/engine/ex-tm", f"zgw{int(hops) + 1} {offload}", 100 * MS)
        ours = figures(run.delays("flow4" if mode == "strict" else "flow3", "driver", "rx"))
        yield [f"{OFFLOAD[offload]}, {mode}, {hops}", *(f"{value:.1f}" for value in printed), *ours]


def cycles() -> Iterator[list[str]]:
    yield ["experiment, offload", "mean", "median", "p99", "greatest", "mean jitter", "p99 of jitter"]
    for name in ("ts-t", "ts-w"):
        for offload in ("true", "false"):
            delays = staged(f"papers/engine/ex-{name}", offload, 500 * MS).delays("flow4", "driver", "rx")
            jitter = steps(delays)
            yield [f"EX_{name.upper()}, {OFFLOAD[offload]}", *figures(delays), f"{rank(delays, 1):.1f}",
                   f"{mean(jitter):.1f}", f"{rank(jitter, 0.99):.1f}"]  # fmt: skip


def uct() -> Iterator[list[str]]:
    yield ["mode, stream", "printed: alone", "with cross-traffic", "ours: alone", "with cross-traffic"]
    for (mode, stream), (alone, crossed) in TABLE_13.items():
        path = stream[:2].upper()
        ours = [
            staged("papers/engine/ex-uct-f", f"{path} {mode}", 200 * MS).group(stream, "driver", "rx"),
            staged("papers/engine/ex-uct", mode, 200 * MS).group(stream, "driver", "rx"),
        ]
        yield [
            f"{mode}, {stream}",
            f"{alone:.1f}",
            f"{crossed:.1f}",
            *(f"{rank(one, 0.5):.1f}" for one in ours),
        ]


def _motor(number: int, variant: str, duration: int) -> Stages:
    return staged(f"papers/farzaneh/experiment-{number}", variant, duration)


def farzaneh_1() -> Iterator[list[str]]:
    yield ["load", "priority 5: mean", "greatest", "priority 7: mean", "p99", "greatest", "dropped"]
    for load in ("200 Mbit/s", "400 Mbit/s", "600 Mbit/s", "800 Mbit/s", "1 Gbit/s"):
        low, high = (_motor(1, f"{pcp} {load}", 1000 * MS) for pcp in (5, 7))
        below, above = (run.delays("motor", "tx", "rx") for run in (low, high))
        dropped = high.counters["streams"][0]["dropped_in_network"]
        yield [load, f"{mean(below):.1f}", f"{rank(below, 1):.1f}", f"{mean(above):.1f}",
               f"{rank(above, 0.99):.1f}", f"{rank(above, 1):.1f}", str(dropped)]  # fmt: skip


def farzaneh_2() -> Iterator[list[str]]:
    yield ["priority", "least", "mean", "greatest"]
    for pcp in variants("papers/farzaneh/experiment-2"):
        delays = _motor(2, pcp, 2000 * MS).delays("motor", "tx", "rx")
        yield [pcp, f"{rank(delays, 0):.2f}", f"{mean(delays):.2f}", f"{rank(delays, 1):.2f}"]


def farzaneh_3() -> Iterator[list[str]]:
    yield ["sender, Delta", "frames", "median", "greatest", "outliers"]
    for variant in variants("papers/farzaneh/experiment-3"):
        runs = [staged("papers/farzaneh/experiment-3", variant, 10_000 * MS, seed) for seed in SEEDS]
        delays = pl.concat([run.delays("motor", "tx", "rx") for run in runs])
        late = len(delays.filter(delays > 100 * US))
        yield [variant, str(len(delays)), f"{rank(delays, 0.5):.2f}", f"{rank(delays, 1):.2f}", str(late)]


def lesson_2() -> Iterator[list[str]]:
    yield ["delta", "no offload: p1", "mean", "p99", "offload: p1", "mean", "p99"]
    for delta in ("25 us", "100 us", "175 us", "250 us", "300 us"):
        row = [delta]
        for way in ("false", "true"):
            delays = staged("papers/cots/etf-delta", f"{way} {delta}", 500 * MS).delays(
                "udp-tai", "driver", "rx"
            )
            row += [f"{rank(delays, 0.01):.1f}", f"{mean(delays):.1f}", f"{rank(delays, 0.99):.1f}"]
        yield row


def shaped() -> Iterator[list[str]]:
    yield ["experiment, shaper, flow", "mean", "p99", "greatest"]
    for name in ("ex-c1", "ex-c2"):
        for way in ("full-offload", "software"):
            run = staged(f"papers/cots/{name}", way, 200 * MS)
            for flow in ("f1", "f2", "f3"):
                delays = run.delays(flow, "tx", "rx")
                numbers = (mean(delays), rank(delays, 0.99), rank(delays, 1))
                yield [
                    f"{name.upper().replace('-', '_')}, {way}, {flow.upper()}",
                    *(f"{value:.1f}" for value in numbers),
                ]


def shapers() -> Iterator[list[str]]:
    yield ["experiment, port", "flow", "idleSlope", "sendSlope", "hiCredit", "loCredit"]
    for name in ("ex-c1", "ex-c2"):
        port = next(
            one
            for one in planned(f"papers/cots/{name}", "full-offload").document["ports"]
            if one["name"] == "n2 -> n3"
        )
        for flow, number in (("F1", 3), ("F2", 2)):
            yield [
                f"{name.upper().replace('-', '_')}, n2 -> n3",
                flow,
                *(str(n) for n in port["classes"][number]["cbs"]["linux"].values()),
            ]


ENGINE: dict[str, Callable[[], Iterator[list[str]]]] = {
    "etf": etf, "taprio": taprio, "ts": ts, "tm": tm, "cycles": cycles, "uct": uct,
}  # fmt: skip
FARZANEH: dict[str, Callable[[], Iterator[list[str]]]] = {
    "experiment-1": farzaneh_1, "experiment-2": farzaneh_2, "experiment-3": farzaneh_3,
}  # fmt: skip
COTS: dict[str, Callable[[], Iterator[list[str]]]] = {
    "etf-delta": lesson_2, "shapers": shapers, "shaped": shaped,
}  # fmt: skip
