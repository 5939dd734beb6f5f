"""EnGINE's printed figures and ours, table by table. Ours: ``tsnbench run <scenario> --duration 1s``."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from support.papers.engine_printed import FIGURES, LIMITS, TABLE_9, TABLE_10, TABLE_14, Printed
from support.shipped import MS, Result, planned, simulated, variants
from support.statistics import mean, quantile, steps, us

HOPS = range(1, 8)
DURATION = 1000 * MS
CLASSES = {name: {"A": "flow4"} for name in ("mq1", "cs1", "cs2")}
CLASSES |= {name: {"A": "flow4", "B": "flow3"} for name in ("mq2", "cm1", "cm2")}


def run(name: str, hops: int) -> Result:
    return simulated(f"papers/engine/ex-{name}", str(hops), DURATION)


def per_hop(name: str, printed: Printed, flows: tuple[int, ...]) -> Iterable[list[str]]:
    """Mean delay, 99th percentile and mean absolute jitter in us: the least and the greatest of the flows."""
    yield ["Hops", "mean, EnGINE", "ours", "p99, EnGINE", "ours", "mean jitter, EnGINE", "ours"]
    for hops in HOPS:
        delays = [run(name, hops).delays(f"flow{flow}") for flow in flows]
        ours = {
            "mean": [mean(one) for one in delays],
            "p99": [float(quantile(one, "0.99")) for one in delays],
            "jitter": [mean(steps(one)) for one in delays],
        }
        row = [str(hops)]
        for key, values in ours.items():
            theirs = [printed[key][hops - 1][flow - 1] for flow in flows]
            factor, places = (1, 2) if key == "jitter" else (1000, 0)
            row += [span([f"{value * factor:.{places}f}" for value in sorted(theirs)])]
            row += [span([us(value) for value in sorted(values)])]
        yield row


def span(ascending: list[str]) -> str:
    first, last = ascending[0], ascending[-1]
    return first if first == last else f"{first} to {last}"


def shaped() -> Iterable[list[str]]:
    """EX_CS and EX_CM: the numbers that the text reads from Fig. 22 to 24, and ours, in us."""
    yield [
        "Experiment", "mean at 1 hop, EnGINE", "ours", "mean at 7 hops, EnGINE", "ours",
        "greatest, EnGINE", "ours", "jitter limit", "greatest jitter, ours",
    ]  # fmt: skip
    for (name, flow), theirs in FIGURES.items():
        near, far = run(name, 1).delays(flow), run(name, 7).delays(flow)
        letter = "A" if flow == "flow4" else "B"
        ours = (us(mean(near)), us(mean(far)), us(far.max() or 0))
        row = [f"EX_{name.upper()}, class {letter}"]
        for printed, own in zip(theirs, ours, strict=True):
            row += ["-" if printed is None else f"{printed * 1000:.0f}", own]
        yield [*row, us(LIMITS[letter][1]), us(steps(far).max() or 0)]


def cbs() -> Iterable[list[str]]:
    """Table 8 from the Plan. A test compares it with the printed table, which is the same."""
    yield ["Interface", "class", "idleSlope", "sendSlope", "hiCredit", "loCredit"]
    keys = ("idleslope", "sendslope", "hicredit", "locredit")
    for port in planned("papers/engine/ex-ucc").document["ports"]:
        for number in (3, 2):
            if "cbs" in port["classes"][number]:
                linux = port["classes"][number]["cbs"]["linux"]
                yield [f"`{port['name']}`", "A" if number == 3 else "B", *(str(linux[key]) for key in keys)]


def use_case() -> Iterable[list[str]]:
    """EX_UCC and EX_UCC-F, all flows of a stream together, in us."""
    yield [
        "Stream", "class", "hops", "least", "mean", "p99", "greatest", "greatest jitter",
        "alone: mean", "alone: greatest", "alone: greatest jitter",
    ]  # fmt: skip
    together = simulated("papers/engine/ex-ucc", duration=DURATION)
    for path in variants("papers/engine/ex-ucc-f"):
        alone = simulated("papers/engine/ex-ucc-f", path, DURATION)
        for group in dict.fromkeys(stream["group"] for stream in alone.plan["streams"]):
            flow = next(stream for stream in alone.plan["streams"] if stream["group"] == group)
            all_together, all_alone = together.group(group), alone.group(group)
            yield [
                group,
                "A" if flow["pcp"] == 3 else "B",
                str(len(flow["route"])),
                us(all_together.min() or 0),
                us(mean(all_together)),
                us(quantile(all_together, "0.99")),
                us(all_together.max() or 0),
                us(greatest_step(together, group)),
                us(mean(all_alone)),
                us(all_alone.max() or 0),
                us(greatest_step(alone, group)),
            ]


def greatest_step(result: Result, group: str) -> int:
    """Jitter is between frames of the same flow; the greatest step of any flow."""
    flows = [stream["name"] for stream in result.plan["streams"] if stream["group"] == group]
    return max(int(steps(result.delays(flow)).max() or 0) for flow in flows)


def verdicts() -> Iterable[list[str]]:
    """Table 14 and our verdicts, over seven hops."""
    yield [
        "Experiment", "A delay, EnGINE", "ours", "A jitter, EnGINE", "ours",
        "B delay, EnGINE", "ours", "B jitter, EnGINE", "ours",
    ]  # fmt: skip
    for name, theirs in TABLE_14.items():
        row = [f"EX_{name.upper()}"]
        for number, letter in enumerate("AB"):
            flow = CLASSES[name].get(letter)
            if flow is None:
                row += [theirs[2 * number], "-", theirs[2 * number + 1], "-"]
                continue
            delays = run(name, 7).delays(flow)
            delay, jitter = LIMITS[letter]
            row += [theirs[2 * number], judged(delays, delay)]
            row += [theirs[2 * number + 1], judged(steps(delays), jitter)]
        yield row


def judged(values: pl.Series, limit: int) -> str:
    if (values.max() or 0) <= limit:
        return "YES"
    return "YES*" if mean(values) <= limit and quantile(values, "0.5") <= limit else "NO"


TABLES = {
    "mq1": lambda: per_hop("mq1", TABLE_9, (1, 2, 3, 4)),
    "mq2-limited": lambda: per_hop("mq2", TABLE_10, (3, 4)),
    "mq2-unlimited": lambda: per_hop("mq2", TABLE_10, (2,)),
    "shaped": shaped,
    "cbs": cbs,
    "use-case": use_case,
    "verdicts": verdicts,
}
