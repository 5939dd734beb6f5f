"""Functions of bridges on received frames: flow meters, and asynchronous shaping (ATS).

Only filters that INET has are written: of named streams, with a meter of one rate or an ATS scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.exports.inet.layout import Layout
from tsnbench.exports.inet.paths import Path, Paths
from tsnbench.exports.inet.syntax import filtered, mapping, quoted
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import AtsScheduler, FlowMeter, Policing, StreamFilter

TAKEN_OFF_OCTETS = 18
"""Octets of header and FCS, which INET does not measure; and the tag, if there is one."""
TAG_OCTETS = 4
PHY_OCTETS = 20
"""Octets of preamble, delimiter and gap, which ATS also counts."""
SAID = {"name", "ports", "streams"}
"""The settings that a filter may have besides its meter or scheduler, so that INET's filter is equivalent."""


@dataclass(frozen=True)
class Metered:
    """One of INET's meters at a bridge, with its streams."""

    kind: str
    """``meter`` or ``scheduler``."""
    number: int
    """The index in the Plan's list of that kind."""
    tagged: bool
    paths: list[Path]


def metered(network: Network, paths: Paths, node: int) -> list[Metered]:
    """All meters of a bridge; only the first filter that names a stream applies."""
    policing = network.policing(node)
    # INET's bridge has one list of arriving streams; at a merge point the member streams use it.
    if policing is None or any(path.copies and path.copies.merge == node for path in paths.streams):
        return []
    found: dict[tuple[str, int, bool], Metered] = {}
    seen: set[str] = set()
    for one in policing.get("filters", []):
        kind = _kind(network, policing, one)
        for path in paths.streams:
            if "streams" in one and network.streams.index(path.stream) not in one["streams"]:
                continue
            if path.name in seen:
                continue
            seen.add(path.name)
            if kind is not None:
                number = one["meter"] if kind == "meter" else one["scheduler"]
                key = (kind, number, path.vlan is not None)
                found.setdefault(key, Metered(*key, [])).paths.append(path)
    return list(found.values())


def eligible(network: Network, paths: Paths, port: int) -> set[int]:
    """Classes of a port whose frames wait for their eligibility time."""
    node = network.ports[port]["node"]
    return {
        network.ports[port]["pcp_to_class"][path.stream["pcp"]]
        for one in metered(network, paths, node)
        if one.kind == "scheduler"
        for path in one.paths
        if any(hop["port"] == port for hop in path.stream["route"])
    }


def meters(network: Network, layout: Layout, paths: Paths, node: int, notes: Notes) -> list[str]:
    """The lines of a bridge, and notes of the differences."""
    policing = network.policing(node)
    if policing is None:
        return []
    found = metered(network, paths, node)
    _tell(network, policing, found, network.nodes[node]["name"], notes)
    if not found:
        return []
    name = f"*.{layout.names[node]}"
    lines = [f"{name}.hasIngressTrafficFiltering = true"]
    lines += mapping(
        f"{name}.bridging.streamCoder.decoder.mapping",
        [
            f'{{packetFilter: {filtered(path.stream)}, interface: "eth{interface}", '
            f"stream: {quoted(path.name)}}}"
            for one in found
            for path in one.paths
            for interface in _interfaces(network, layout, path, node)
        ],
    )
    ingress = f"{name}.bridging.streamFilter.ingress"
    classified = ", ".join(
        f"{quoted(path.name)}: {number}" for number, one in enumerate(found) for path in one.paths
    )
    lines.append(f"{ingress}.numStreams = {len(found)}")
    lines.append(f"{ingress}.classifier.mapping = {{{classified}}}")
    for number, one in enumerate(found):
        overhead = TAKEN_OFF_OCTETS + (TAG_OCTETS if one.tagged else 0)
        if one.kind == "meter":
            lines += _meter(policing["meters"][one.number], overhead, f"{ingress}.meter[{number}]")
        else:
            lines += _scheduler(policing["schedulers"][one.number], overhead, ingress, number)
    return lines


def _meter(meter: FlowMeter, overhead: int, own: str) -> list[str]:
    return [
        f'{own}.typename = "TokenBucketMeter"',
        f"{own}.initialNumTokens = {8 * meter['cbs_octets']}",
        f"{own}.maxNumTokens = {8 * meter['cbs_octets']}",
        f"{own}.tokenProductionRate = {meter['cir_bps']}",
        f"{own}.tokenConsumptionPerPacket = {8 * overhead}",
        f"{own}.tokenConsumptionPerBit = 1",
        f'{own}.label = "green"',
        f'{own}.defaultLabel = "red"',
    ]


def _scheduler(scheduler: AtsScheduler, overhead: int, ingress: str, number: int) -> list[str]:
    own = f"{ingress}.meter[{number}]"
    return [
        f'{own}.typename = "EligibilityTimeMeter"',
        f"{own}.packetOverheadLength = {8 * (overhead + PHY_OCTETS)}b",
        f"{own}.committedInformationRate = {scheduler['cir_bps']}bps",
        f"{own}.committedBurstSize = {scheduler['cbs_bits']}b",
        f'{ingress}.filter[{number}].typename = "EligibilityTimeFilter"',
    ]


def _kind(network: Network, policing: Policing, one: StreamFilter) -> str | None:
    """``meter`` or ``scheduler``; None if INET has no equivalent of this filter."""
    (kind, *more) = sorted(set(one) - SAID) or [""]
    if more or kind not in ("meter", "scheduler") or not one.get("streams"):
        return None
    if kind == "meter":
        meter = policing["meters"][one["meter"]]
        flags = (meter.get("coupling"), meter.get("color_aware"), meter.get("drop_on_yellow"))
        if meter["eir_bps"] or any(flags) or meter.get("mark_all_frames_red"):
            return None
    ports = one.get("ports")
    # A stream that also arrives at a port outside of the filter would be metered there, too.
    same = all(
        ports is None or network.ports[hop["port"]]["peer"] in ports
        for number in one["streams"]
        for hop in network.streams[number]["route"]
        if network.far(hop["port"]) == policing["node"]
    )
    return kind if same else None


def _interfaces(network: Network, layout: Layout, path: Path, node: int) -> list[int]:
    """Interfaces at which a stream arrives at a node; from its own applications: the inner one."""
    found = {
        network.place(network.ports[hop["port"]]["peer"])
        for hop in path.stream["route"]
        if network.far(hop["port"]) == node
    }
    return sorted(found) or [layout.inner(node)]


def _tell(network: Network, policing: Policing, found: list[Metered], node: str, notes: Notes) -> None:
    written = {(one.kind, one.number) for one in found}
    for one in policing.get("filters", []):
        kinds = {("meter", one["meter"])} if "meter" in one else set()
        kinds |= {("scheduler", one["scheduler"])} if "scheduler" in one else set()
        if not kinds or not kinds <= written or _kind(network, policing, one) is None:
            notes.lost(
                "filters",
                "INET's bridges get meters of one rate and ATS schedulers, for streams that are named, "
                "and none where member streams merge",
                f"{one['name']} at {node}",
            )
    for own in found:
        if own.kind == "scheduler":
            notes.warn(
                "groups of ATS schedulers",
                "INET has one clock for each stream, none for a group, and no limit of residence",
                node,
            )
    if policing.get("regeneration"):
        notes.lost("regenerated priorities", "INET's bridges keep the priority of the tag", node)
