"""The catalogue as a list for people: each name with what it stands for, in the words of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tsnbench.catalogue.read import gate_lists, patterns, pcp_to_class, printed, sr_classes


def entries() -> Iterator[tuple[str, str]]:
    """Every (name, meaning), kind by kind in the order of the data files."""
    for name, sr in sr_classes().items():
        limits = []
        if sr.requirements.delay is not None:
            limits.append(f"delay {_time(sr.requirements.delay)}")
        limits += [f"{jitter.kind} {_time(jitter.limit)}" for jitter in sr.requirements.jitter]
        yield name, f"class: PCP {sr.pcp}, {', '.join(limits) or 'no limits'}"
    for name, stream in patterns().items():
        means = ", ".join(f"{key} {_value(key, value)}" for key, value in stream.items())
        yield name, f"{printed()[name]['name']}: {means}"
    for name, gates in gate_lists().items():
        slots = " | ".join(",".join(map(str, slot)) for slot in gates.slots)
        guard = "" if gates.guard_ns is None else f", guard band {_time(gates.guard_ns)}"
        yield name, f"gates: PCPs {slots}; slot {_time(gates.slot_ns)}{guard}"
    for name, classes in pcp_to_class().items():
        yield name, f"classes of PCP 0 to 7: {', '.join(map(str, classes))}"


def _value(key: str, value: Any) -> str:
    """A value of a stream as a scenario would write it."""
    match key:
        case "period" | "offset" | "jitter":
            return _time(value)
        case "phy" | "frame" | "payload":
            return f"{value} B"
        case "mean" | "deviation":
            return f"{float(value):.1f} B"
        case "poisson" | "rate":
            return f"{value // 10**6} Mbit/s" if value % 10**6 == 0 else f"{value / 1000:g} kbit/s"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inner} {_value(inner, what)}" for inner, what in value.items()) + "}"
    return str(value)


def _time(ns: int) -> str:
    """``15 us``: ns in the largest unit that keeps them whole."""
    for size, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns % size == 0:
            return f"{ns // size} {unit}"
    return f"{ns} ns"
