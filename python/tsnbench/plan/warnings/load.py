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
from tsnbench.plan.gates import open_share
from tsnbench.plan.load import ClassLoad, flow_rate, passed, sum_of
from tsnbench.plan.streams.facts import Facts, InForce
from tsnbench.plan.streams.sending import overlap, together
from tsnbench.plan.warnings.doubt import Doubt
from tsnbench.plan.warnings.gates import behind

if TYPE_CHECKING:
    from tsnbench.plan.types import GateList, PlanDocument, Port


def load_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kinds: port-overload, over-reserved, class-over-reservation, saturating-reservation, starvation,
    full-queue.

    Streams count together if they send at one instant, and the list of a port while it is in force.
    """
    document = facts.document
    groups = {stream["name"]: stream["group"] for stream in document["streams"]}
    filled = _filled(facts)
    for number, (port, loads) in enumerate(zip(document["ports"], facts.loads, strict=True)):
        rate = port["server"]["rate_bps"] if "server" in port else port["rate_bps"]
        flows = facts.busiest([flow for load in loads for flow in load.flows], facts.run, rate)
        asked = sum_of([own for _, own in flows])
        if asked > rate:
            who = contributors(flows, groups)
            text = f"load of {quantities.rate(asked)} at a rate of {quantities.rate(rate)}: {who}"
            yield Doubt("port-overload", port["name"], text, f"streams.{_largest(flows, groups)}")
        lists: list[InForce | None] = list(facts.lists(number))
        for one in lists or [None]:
            yield from _reservations(facts, port, loads, groups, one)
            yield from _starvation(facts, port, loads, groups, one)
        if number in filled:
            yield from _full_queues(facts, port, loads, groups)


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


def _slopes(gates: GateList | None) -> dict[int, int]:
    """The idle slopes that change with a list, by class."""
    changed = gates.get("idle_slopes", []) if gates is not None and "at_ns" in gates else []
    return {one["class"]: one["bps"] for one in changed}


def _reservations(
    facts: Facts, port: Port, loads: list[ClassLoad], groups: Mapping[str, str], one: InForce | None
) -> Iterator[Doubt]:
    """Doubts about shapers; ``one``: the port's list, where it has gates."""
    gates, span = (None, facts.run) if one is None else (one.gates, one.span)
    told = "" if one is None else behind(one, facts)
    slopes = _slopes(gates)
    reserved = Fraction(0)
    for number, (traffic_class, load) in enumerate(zip(port["classes"], loads, strict=True)):
        cbs = traffic_class.get("cbs")
        if cbs is None:
            continue
        # Credit grows only while the gate is open, which reduces the mean rate.
        share = open_share(port, number, gates)
        reserved += slopes.get(number, cbs["idle_slope_bps"]) * share
        idle = (slopes[number] if number in slopes else passed(cbs, port["rate_bps"])) * share
        flows = facts.busiest(load.flows, span, idle)
        if (asked := sum_of([rate for _, rate in flows])) > idle:
            text = f"class {number} has a load of {quantities.rate(asked)}"
            text = f"{text}, its shaper passes {quantities.rate(idle)}{told}: {contributors(flows, groups)}"
            yield Doubt("class-over-reservation", port["name"], text, "cbs", port["name"])
        if hogs := facts.active(load.saturating, span):
            text = (
                f"{_streams(hogs, groups)} saturates class {number}, "
                f"whose shaper passes {quantities.rate(idle)}{told}: frames wait without end, or are dropped"
            )
            yield Doubt("saturating-reservation", port["name"], text, "cbs", port["name"])
    if reserved > port["rate_bps"]:
        text = f"its shapers reserve {quantities.rate(reserved)} of its {quantities.rate(port['rate_bps'])}"
        text += told
        yield Doubt("over-reserved", port["name"], text, "cbs", port["name"])


def _starvation(
    facts: Facts, port: Port, loads: list[ClassLoad], groups: Mapping[str, str], one: InForce | None
) -> Iterator[Doubt]:
    span = facts.run if one is None else one.span
    for number, load in enumerate(loads):
        hogs = facts.active(load.saturating, span)
        if not hogs or "cbs" in port["classes"][number]:
            continue
        below = [lower for lower in range(number) if one is None or not _own_time(one.gates, lower, number)]
        starved = [
            name
            for lower in reversed(below)
            for name in facts.active(_names(loads[lower]), span)
            if any(overlap(facts.spans[name], facts.spans[hog]) for hog in hogs)
        ]
        if starved:
            text = f"{_streams(hogs, groups)} saturates class {number}: "
            text += f"nothing may be left for {_streams(starved, groups)} in lower classes"
            yield Doubt("starvation", port["name"], text, f"streams.{groups[hogs[0]]}")


def _own_time(gates: GateList, lower: int, upper: int) -> bool:
    """Whether a list leaves the lower class a time in which the upper one is closed."""
    return any(entry["open"] >> lower & 1 and not entry["open"] >> upper & 1 for entry in gates["entries"])


def _names(load: ClassLoad) -> list[str]:
    return [name for name, _ in load.flows] + load.saturating


def _filled(facts: Facts) -> set[int]:
    """Ports at which more may arrive than they can send, because saturating flows arrive over several links.

    At its talker such a flow waits for space in the queue; behind a link it arrives at the link's rate.
    """
    document = facts.document
    if not any(stream["pattern"]["kind"] == "saturating" for stream in document["streams"]):
        return set()
    return {port for names in together(facts.spans, facts.run) for port in _filled_by(document, names)}


def _filled_by(document: PlanDocument, names: set[str]) -> set[int]:
    """The same for streams that send at one time."""
    ports = document["ports"]
    entries: dict[int, set[int | None]] = defaultdict(set)
    others: dict[int, list[tuple[int | None, Fraction]]] = defaultdict(list)
    for stream in (one for one in document["streams"] if one["name"] in names):
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


def _full_queues(
    facts: Facts, port: Port, loads: list[ClassLoad], groups: Mapping[str, str]
) -> Iterator[Doubt]:
    for number, load in enumerate(loads):
        spans = [facts.spans[name] for name in load.saturating]
        late = [name for name, _ in load.flows if any(overlap(facts.spans[name], span) for span in spans)]
        if late:
            text = f"{_streams(load.saturating, groups)} may fill the queue of class {number}"
            text = f"{text}: {_streams(late, groups)} waits behind it, or is dropped"
            yield Doubt("full-queue", port["name"], text, f"streams.{groups[load.saturating[0]]}")
