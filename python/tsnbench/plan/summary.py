"""A Plan as rows for people: streams with their paths, classes with their load, shapers, gate entries.

Ports that no stream crosses are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench import _native, quantities
from tsnbench.plan import faults
from tsnbench.plan.delay import smallest_delay_ns, stamped_points
from tsnbench.plan.frames import sizes
from tsnbench.plan.gates import gate_lists, open_ns, requested_ns
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.streams.paths import paths_to

if TYPE_CHECKING:
    from tsnbench.plan.types import GateList, PlanDocument, Port, Stream


@dataclass(frozen=True)
class StreamRow:
    """Flows of one stream that take the same path to the same listener."""

    stream: str
    flows: int
    pcp: int
    frame: str
    pattern: str
    path: tuple[str, ...]
    """Names of nodes; ``b #2`` if the link to b is one of several parallel links."""
    least_ns: int
    """Delay of the largest frame in a network without other traffic."""
    limit_ns: int | None


@dataclass(frozen=True)
class ClassRow:
    """One traffic class of a port that streams use or that is shaped."""

    port: str
    traffic_class: int
    pcps: tuple[int, ...]
    flows: int
    load: str
    share: str
    shapers: str


@dataclass(frozen=True)
class CbsRow:
    """One credit-based shaper in both systems of units."""

    port: str
    traffic_class: int
    linux: tuple[int, ...]
    """idleSlope, sendSlope, hiCredit, loCredit in kbit/s and octets."""
    standard: tuple[int, ...]
    """idleSlope, sendSlope, hiCredit, loCredit in bit/s and bit."""


@dataclass(frozen=True)
class GateRow:
    """One entry of a gate control list, at every port that has the same list."""

    ports: tuple[str, ...]
    begin_ns: int
    length_ns: int
    classes: tuple[int, ...]
    mac: str = ""
    """Its MAC operation: hold, release or none."""
    asked_ns: int | None = None
    """The time at which its list is requested; None for the first list."""
    base_ns: int = 0
    """The list's base time, from which ``begin_ns`` counts."""


def stream_rows(document: PlanDocument, most: int | None = None) -> tuple[list[StreamRow], int]:
    """One row per stream, path and listener, in the order of the Plan, and the total number of rows.

    Args:
        document: a Plan's document.
        most: greatest number of rows; None: all rows.
    """
    flows_of = Counter(stream["group"] for stream in document["streams"])
    points = stamped_points(document)
    ports = document["ports"]
    # A row is for all flows of a stream with the same path: the last flow, and the number of flows.
    found: dict[tuple[str, tuple[int, ...]], tuple[Stream, int, int]] = {}
    left = 0
    for stream in document["streams"]:
        alone = "redundancy" not in stream and flows_of[stream["group"]] == 1
        if most is not None and len(found) >= most and alone and len(stream["listeners"]) == 1:
            # Its row is not shown, and there is no other flow to join.
            left += 1
            continue
        for place in range(len(stream["listeners"])):
            for path in paths_to(stream, place):
                key = (stream["group"], tuple(port for port, _ in path))
                flows = found[key][2] if key in found else 0
                found[key] = (stream, place, flows + 1)
    rows = []
    for (group, passed), (stream, place, flows) in list(found.items())[:most]:
        names = [document["nodes"][ports[passed[0]]["node"]]["name"]]
        names += [ports[port]["name"].partition(" -> ")[2] for port in passed]
        rows.append(
            StreamRow(
                stream=group,
                flows=flows,
                pcp=stream["pcp"],
                frame=_frame(stream),
                pattern=_pattern(document, stream),
                path=tuple(names),
                least_ns=smallest_delay_ns(document, stream, place, points=points),
                limit_ns=stream["requirements"].get("delay_ns"),
            )
        )
    return rows, len(found) + left


def class_rows(facts: Facts, most: int | None = None) -> tuple[list[list[ClassRow]], int]:
    """The classes of every port that streams use, highest first, and the total number of these ports.

    Args:
        facts: those of a Plan.
        most: greatest number of ports; None: all ports.
    """
    every: list[list[ClassRow]] = []
    there = 0
    for port, loads in zip(facts.document["ports"], facts.loads, strict=True):
        if all(load.idle for load in loads):
            continue
        there += 1
        if most is not None and there > most:
            continue
        rows = []
        for number in reversed(range(len(loads))):
            load, traffic_class = loads[number], port["classes"][number]
            if load.idle and "cbs" not in traffic_class:
                continue
            shapers = ["CBS"] if "cbs" in traffic_class else []
            if "gates" in port:
                open_share = 100 * open_ns(port["gates"], number) / port["gates"]["cycle_ns"]
                shapers.append(f"open {open_share:.3g} %")
            rows.append(
                ClassRow(
                    port=port["name"],
                    traffic_class=number,
                    pcps=tuple(pcp for pcp, mapped in enumerate(port["pcp_to_class"]) if mapped == number),
                    flows=len(load.flows) + len(load.saturating),
                    load=load_text(load.rate_bps, bool(load.saturating)),
                    share=quantities.share(load.rate_bps, port["rate_bps"]) if load.flows else "",
                    shapers=", ".join(shapers),
                )
            )
        every.append(rows)
    return every, there


def cbs_rows(document: PlanDocument) -> list[CbsRow]:
    """Every credit-based shaper, port by port, highest class first."""
    rows = []
    for port in document["ports"]:
        for number in reversed(range(len(port["classes"]))):
            cbs = port["classes"][number].get("cbs")
            if cbs is None:
                continue
            own = cbs["linux"]
            linux = (own["idleslope"], own["sendslope"], own["hicredit"], own["locredit"])
            slopes, credits = (
                (cbs["idle_slope_bps"], cbs["send_slope_bps"]),
                (cbs["hi_credit_bits"], cbs["lo_credit_bits"]),
            )
            standard = (*slopes, *credits)
            rows.append(CbsRow(port["name"], number, linux, standard))
    return rows


def gate_rows(
    document: PlanDocument, most: int | None = None, few: int = 0
) -> tuple[list[list[GateRow]], int]:
    """Every distinct gate control list, with the ports that have it, and the total number of these lists.

    Args:
        document: a Plan's document.
        most: if there are more lists, only the first ``few`` of them are returned; None: all lists.
        few: see ``most``.
    """
    alike: dict[tuple[str, int], list[Port]] = {}
    for port in document["ports"]:
        if "gates" in port:
            alike.setdefault((_native.compact(port["gates"]), len(port["classes"])), []).append(port)
    lists = [(ports, one) for ports in alike.values() for one in gate_lists(ports[0]["gates"])]
    shown = lists if most is None or len(lists) <= most else lists[:few]
    return [list(_entries(ports, one)) for ports, one in shown], len(lists)


def _entries(ports: list[Port], gates: GateList) -> Iterator[GateRow]:
    names = tuple(port["name"] for port in ports)
    begin = 0
    for entry in gates["entries"]:
        classes = tuple(n for n in reversed(range(len(ports[0]["classes"]))) if entry["open"] >> n & 1)
        mac, asked = entry.get("mac", ""), requested_ns(gates)
        yield GateRow(names, begin, entry["interval_ns"], classes, mac, asked, gates["base_time_ns"])
        begin += entry["interval_ns"]


def fault_rows(document: PlanDocument) -> list[tuple[str, str, str, str]]:
    """(kind, place, begin, duration) of every fault."""
    rows = []
    for fault in document.get("faults", ()):
        length = fault["until_ns"] - fault["from_ns"]
        what, where = faults.numbers(fault), faults.place(document, fault)
        rows.append((what, where, quantities.time(fault["from_ns"]), quantities.time(length)))
    return rows + list(_clock_fault_rows(document))


def _clock_fault_rows(document: PlanDocument) -> Iterator[tuple[str, str, str, str]]:
    for fault in document.get("clocks", {}).get("faults", ()):
        where = document["nodes"][fault["node"]]["name"]
        if fault["kind"] == "clock-step":
            by = f"clock-step by {quantities.time(fault['by_ns'])}"
            yield by, where, quantities.time(fault["at_ns"]), ""
            continue
        what: str = fault["kind"]
        if fault["kind"] == "frequency-jump":
            what = f"{what} by {fault['by_ppt'] / 1e6:g} ppm"
        length = fault["until_ns"] - fault["from_ns"]
        yield what, where, quantities.time(fault["from_ns"]), quantities.time(length)


def _frame(stream: Stream) -> str:
    frames = sizes(stream["size"])
    if frames.smallest == frames.largest:
        return f"{frames.largest} B"
    return f"{frames.smallest}-{frames.largest} B"


def load_text(rate_bps: Fraction, saturating: bool) -> str:
    """A rate in words, such as ``100 Mbit/s+rest`` if saturating flows take the remaining rate."""
    parts = [quantities.rate(rate_bps)] if rate_bps or not saturating else []
    return "+".join([*parts, "rest"] if saturating else parts)


def _pattern(document: PlanDocument, stream: Stream) -> str:
    pattern = stream["pattern"]
    if "answers" in stream:
        return f"after {document['streams'][stream['answers']['stream']]['group']}"
    if pattern["kind"] == "periodic":
        return quantities.exact(pattern["period_ns"])
    if pattern["kind"] == "poisson":
        return f"~{quantities.time(pattern['mean_interval_ps'] // 1_000)}"
    if pattern["kind"] == "trace":
        passes = "" if pattern["passes"] == 1 else f", {pattern['passes']} times"
        return f"{len(pattern['gaps_ns'])} recorded in {quantities.time(pattern['cycle_ns'])}{passes}"
    if pattern["kind"] == "token-bucket":
        burst, rate = quantities.size(pattern["burst_octets"]), quantities.rate(pattern["rate_bps"])
        return f"{burst} and {rate}"
    return "saturating"
