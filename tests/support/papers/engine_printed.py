"""EnGINE's printed tables in the layout of its README; the numbers are from its ``printed.yml``."""

from __future__ import annotations

from support.papers.printed import text, value

Printed = dict[str, list[tuple[float, ...]]]

LIMITS = {"A": (2_000_000, 125_000), "B": (10_000_000, 1_000_000)}
"""Table 1: delay and jitter in ns."""
HOPS = range(1, 8)


def _by_hops(name: str) -> Printed:
    """Mean and p99 of delay in ms, mean absolute jitter in us, for flows 1 to 4 over 1 to 7 hops."""

    def number(hops: int, flow: int, path: str, unit: str) -> float:
        return value("engine", f"ex-{name}[{hops}] flow{flow} {path}", unit)

    paths = {"mean": ("delay.mean", "ms"), "p99": ("delay.p99", "ms"), "jitter": ("jitter.mean", "us")}
    return {
        key: [tuple(number(hops, flow, *path) for flow in (1, 2, 3, 4)) for hops in HOPS]
        for key, path in paths.items()
    }


def _read_off(name: str, letter: str, what: str) -> float | None:
    try:
        return value("engine", f"Fig. 23, 24: EX_{name}, class {letter}: {what}", "ms")
    except KeyError:  # not in the text
        return None


TABLE_9 = _by_hops("mq1")
TABLE_10 = _by_hops("mq2")

# Numbers that the text reads from Fig. 22 to 24: mean delay at 1 and at 7 hops, greatest at 7 hops, in ms.
FIGURES: dict[tuple[str, str], tuple[float | None, ...]] = {
    (name, "flow4"): (
        None,
        value("engine", f"Fig. 22: mean delay over 7 hops, EX_{name.upper()}", "ms"),
        None,
    )
    for name in ("cs1", "cs2")
}
FIGURES |= {
    (name, flow): tuple(
        _read_off(name.upper(), letter, what)
        for what in ("mean over 1 hop", "mean over 7 hops", "greatest over 7 hops")
    )
    for flow, letter in (("flow4", "A"), ("flow3", "B"))
    for name in ("cm1", "cm2")
}


def _row_14(name: str) -> tuple[str, ...]:
    """Delay and jitter of class A and of class B. (*) mean and median only."""
    found = []
    for letter in "AB":
        for what in ("delay", "jitter"):
            try:
                found.append(text("engine", f"Table 14: EX_{name.upper()}, class {letter}: {what}"))
            except KeyError:
                found.append("YES")  # printed as assumed: EX_CS was run with class A only
    return tuple(found)


TABLE_14 = {name: _row_14(name) for name in ("mq1", "mq2", "cs1", "cs2", "cm1", "cm2")}


def _figures(row: str, places: tuple[str, ...] = ("mean", "median", "p99")) -> tuple[float, ...]:
    """Figures of delay, in us."""
    return tuple(round(1000 * value("engine", f"{row} driver-rx/delay.{place}", "ms"), 1) for place in places)


def _deadline(hops: str, mean: float) -> tuple[float, ...]:
    """The figures of a row whose mean is an input of the hosts' profile."""
    return (mean, *_figures(f"ex-ts[deadline 200 us {hops}] flow4", ("median", "p99")))


# Table 11: mode, txtime-delay, hops; mean, median and p99 of delay in us.
TABLE_11 = {
    ("strict", delay, hops): _figures(f"ex-ts[strict {delay} {hops}] flow4")
    for delay, hops in (("200 us", "1"), ("200 us", "2"), ("200 us", "4"), ("200 us", "7"), ("450 us", "7"))
}
TABLE_11 |= {
    ("deadline", "200 us", "1"): _deadline("1", 14.6),
    ("deadline", "200 us", "2"): _figures("ex-ts[deadline 200 us 2] flow4"),
    ("deadline", "200 us", "4"): _figures("ex-ts[deadline 200 us 4] flow4"),
    ("deadline", "200 us", "7"): _deadline("7", 883.4),
    ("deadline", "450 us", "7"): _figures("ex-ts[deadline 450 us 7] flow4"),
}
# Table 12: offload, mode, hops; mean, median and p99 of delay in us.
TABLE_12 = {
    (offload, mode, hops): _figures(
        f"ex-tm[zgw{int(hops) + 1} {offload}] {'flow4' if mode == 'strict' else 'flow3'}"
    )
    for offload in ("true", "false")
    for mode, hops in (("strict", "1"), ("strict", "2"), ("strict", "4"), ("strict", "7"), ("deadline", "7"))
}
# Table 13: mode and stream; the median of delay without and with cross-traffic, in us.
TABLE_13 = {
    (mode, stream): (
        _figures(f"ex-uct-f[{stream[:2].upper()} {mode}] {stream}", ("median",))[0],
        _figures(f"ex-uct[{mode}] {stream}", ("median",))[0],
    )
    for mode in ("strict", "deadline")
    for stream in ("f1-cc", "f1-adas", "f2-lidar", "f2-radar", "f3-radar", "f3-us", "f3-gps")
}
