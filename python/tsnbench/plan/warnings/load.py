"""Ports and classes whose load or reservation is more than they can send.

IEEE 802.1Q-2022, 8.6.8.1 and 8.6.8.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.plan.frames import tag_octets
from tsnbench.plan.gates import gate_lists, open_share
from tsnbench.plan.load import ClassLoad, flow_rate, total
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.warnings.doubt import Doubt

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Port


def load_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kinds: port-overload, over-reserved, class-over-reservation, saturating-reservation, starvation,
    full-queue."""
    document = facts.document
    groups = {stream["name"]: stream["group"] for stream in document["streams"]}
    filled = _filled(document)
    for number, (port, loads) in enumerate(zip(document["ports"], facts.loads, strict=True)):
        asked = total(loads)
        if asked > port["rate_bps"]:
            who = contributors([flow for load in loads for flow in load.flows], groups)
            text = f"load of {quantities.rate(asked)} at a rate of {quantities.rate(port['rate_bps'])}: {who}"
            largest = _largest([flow for load in loads for flow in load.flows], groups)
            yield Doubt("port-overload", port["name"], text, f"streams.{largest}")
        yield from _reservations(port, loads, groups)
        yield from _starvation(port, loads, groups)
        if number in filled:
            yield from _full_queues(port, loads, groups)


def contributors(flows: list[tuple[str, Fraction]], groups: Mapping[str, str]) -> str:
    """``cam (80 Mbit/s), radar (12 Mbit/s) and 3 more``: streams, largest first."""
    order = _by_rate(flows, groups)
    return quantities.some([f"{group} ({quantities.rate(rate)})" for group, rate in order])


def _by_rate(flows: list[tuple[str, Fraction]], groups: Mapping[str, str]) -> list[tuple[str, Fraction]]:
    sums: dict[str, Fraction] = {}
    for name, rate in flows:
        sums[groups[name]] = sums.get(groups[name], Fraction(0)) + rate
    return sorted(sums.items(), key=lambda item: -item[1])


def _largest(flows: list[tuple[str, Fraction]], groups: Mapping[str, str]) -> str:
    return _by_rate(flows, groups)[0][0]


def _streams(flows: list[str], groups: Mapping[str, str]) -> str:
    return quantities.some(list(dict.fromkeys(groups[flow] for flow in flows)))


def _reservations(port: Port, loads: list[ClassLoad], groups: Mapping[str, str]) -> Iterator[Doubt]:
    reserved = Fraction(0)
    for number, (traffic_class, load) in enumerate(zip(port["classes"], loads, strict=True)):
        cbs = traffic_class.get("cbs")
        if cbs is None:
            continue
        # Credit grows only while the gate is open, which reduces the mean rate.
        idle = cbs["idle_slope_bps"] * open_share(port, number)
        reserved += idle
        if load.rate_bps > idle:
            who = contributors(load.flows, groups)
            text = f"class {number} has a load of {quantities.rate(load.rate_bps)}"
            text = f"{text}, its shaper passes {quantities.rate(idle)}: {who}"
            yield Doubt("class-over-reservation", port["name"], text, "cbs", port["name"])
        if load.saturating:
            text = (
                f"{_streams(load.saturating, groups)} saturates class {number}, "
                f"whose shaper passes {quantities.rate(idle)}: frames wait without end, or are dropped"
            )
            yield Doubt("saturating-reservation", port["name"], text, "cbs", port["name"])
    if reserved > port["rate_bps"]:
        text = f"its shapers reserve {quantities.rate(reserved)} of its {quantities.rate(port['rate_bps'])}"
        yield Doubt("over-reserved", port["name"], text, "cbs", port["name"])


def _starvation(port: Port, loads: list[ClassLoad], groups: Mapping[str, str]) -> Iterator[Doubt]:
    for number, load in enumerate(loads):
        if not load.saturating or "cbs" in port["classes"][number]:
            continue
        below = [
            lower for lower in range(number) if not loads[lower].idle and not _own_time(port, lower, number)
        ]
        starved = [name for lower in reversed(below) for name in _names(loads[lower])]
        if starved:
            text = f"{_streams(load.saturating, groups)} saturates class {number}: "
            text += f"nothing may be left for {_streams(starved, groups)} in lower classes"
            yield Doubt("starvation", port["name"], text, f"streams.{groups[load.saturating[0]]}")


def _own_time(port: Port, lower: int, upper: int) -> bool:
    """Whether the gates leave the lower class a time in which the upper one is closed."""
    if "gates" not in port:
        return False
    return all(
        any(entry["open"] >> lower & 1 and not entry["open"] >> upper & 1 for entry in gates["entries"])
        for gates in gate_lists(port["gates"])
    )


def _names(load: ClassLoad) -> list[str]:
    return [name for name, _ in load.flows] + load.saturating


def _filled(document: PlanDocument) -> set[int]:
    """Ports at which more may arrive than they can send, because saturating flows arrive over several links.

    At its talker such a flow waits for space in the queue; behind a link it arrives at the link's rate.
    """
    if not any(stream["pattern"]["kind"] == "saturating" for stream in document["streams"]):
        return set()
    ports = document["ports"]
    entries: dict[int, set[int | None]] = defaultdict(set)
    others: dict[int, list[tuple[int | None, Fraction]]] = defaultdict(list)
    for stream in document["streams"]:
        for place, hop in enumerate(stream["route"]):
            rate = flow_rate(stream["pattern"], stream["size"], tag_octets(stream, place))
            before = stream["route"][hop["parent"]]["port"] if "parent" in hop else None
            if rate is None:
                entries[hop["port"]].add(before)
            else:
                others[hop["port"]].append((before, rate))
    filled = set()
    for number, full in entries.items():
        arriving = sum(ports[before]["rate_bps"] for before in full if before is not None)
        beside = sum(rate for before, rate in others[number] if before not in full)
        if arriving and arriving + beside > ports[number]["rate_bps"]:
            filled.add(number)
    return filled


def _full_queues(port: Port, loads: list[ClassLoad], groups: Mapping[str, str]) -> Iterator[Doubt]:
    for number, load in enumerate(loads):
        if load.saturating and load.flows:
            text = f"{_streams(load.saturating, groups)} may fill the queue of class {number}"
            behind = _streams([name for name, _ in load.flows], groups)
            text = f"{text}: {behind} waits behind it, or is dropped"
            yield Doubt("full-queue", port["name"], text, f"streams.{groups[load.saturating[0]]}")
