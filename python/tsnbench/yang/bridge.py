"""A bridge: its component, VLANs, static addresses, filters, gates, meters and ATS schedulers.

IEEE 802.1Q-2022, 48.6.2 (bridge), 48.6.13 (psfp), 48.6.14 (ats).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.yang import xml
from tsnbench.yang.ports import COMPONENT, base_time, rational, supported

if TYPE_CHECKING:
    from tsnbench.plan.types import Policing, StreamFilter, StreamGate

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven")


def bridges(config: xml.Element, network: Network, node: int, handles: dict[int, int], notes: Notes) -> None:
    """`/dot1q:bridges`; ``handles``: place of a stream to its handle."""
    name = network.nodes[node]["name"]
    own = config.add("bridges", xml.BRIDGE).add("bridge").leaf("name", name)
    first = network.ports[network.ports_of(node)[0]]
    own.leaf("address", xml.address(first["mac"]))
    own.leaf_identity("bridge-type", xml.BRIDGE, "customer-vlan-bridge")
    component = own.add("component").leaf("name", COMPONENT).leaf("id", 1)
    component.leaf_identity("type", xml.BRIDGE, "c-vlan-component")
    component.leaf("traffic-class-enabled", True)
    _database(component, network, node, notes)
    vlans = component.add("bridge-vlan")
    for vid in sorted({1, *network.node_vids(node)}):
        vlans.add("vlan").leaf("vid", vid).leaf("name", f"vlan{vid}")
    policing = network.policing(node)
    if policing:
        _policing(component, network, policing, handles, notes)


def _database(component: xml.Element, network: Network, node: int, notes: Notes) -> None:
    rows, clashes = network.forwarding(node)
    database = component.add("filtering-database")
    for row in rows:
        entry = database.add("filtering-entry").leaf("database-id", row.vid or 1)
        entry.leaf("vids", row.vid or 1).leaf("address", xml.address(row.destination_mac))
        entry.leaf("entry-type", "static")
        for port in row.ports:
            found = entry.add("port-map").leaf("port-ref", network.place(port) + 1)
            found.add("static-filtering-entries").leaf("control-element", "forward")
    for vid in network.node_vids(node):
        entry = database.add("vlan-registration-entry").leaf("database-id", vid).leaf("vids", vid)
        entry.leaf("entry-type", "static")
        for port in network.ports_of(node):
            if vid in network.vids(port):
                found = entry.add("port-map").leaf("port-ref", network.place(port) + 1)
                found.add("static-vlan-registration-entries").leaf(
                    "registrar-admin-control", "fixed-new-ignored"
                ).leaf("vlan-transmitted", "tagged")
    for clash in clashes:
        notes.lost(
            "paths that an address table cannot distinguish",
            "destination and VLAN are those of a stream with another path there",
            f"{clash.stream} at {network.nodes[node]['name']}, where {clash.other} has them",
        )


def _policing(
    component: xml.Element,
    network: Network,
    policing: Policing,
    handles: dict[int, int],
    notes: Notes,
) -> None:
    filters = policing.get("filters", [])
    if any("scheduler" in one for one in filters):
        _tables(component, network, policing, handles, notes, xml.ATS_BRIDGE)
        if any("meter" in one for one in filters):
            notes.lost(
                "flow meters",
                "the ATS module's stream filters have none, and a component has one table of filters",
                network.nodes[policing["node"]]["name"],
            )
    elif filters:
        _tables(component, network, policing, handles, notes, xml.PSFP_BRIDGE)


def _tables(
    component: xml.Element,
    network: Network,
    policing: Policing,
    handles: dict[int, int],
    notes: Notes,
    namespace: str,
) -> None:
    psfp = namespace == xml.PSFP_BRIDGE
    if psfp:
        _meters(component, policing)
    gates = component.add("stream-gates", namespace)
    lists = policing.get("gates", [])
    for index, gate in enumerate(lists, start=1):
        _gate(gates, index, gate, psfp, network, policing, notes)
    # A filter must name a gate; this one is open.
    still = gates.add("stream-gate-instance-table").leaf("stream-gate-instance-id", 0)
    still.leaf("gate-enable", False)
    if psfp:
        rational(still.add("admin-cycle-time"), 0)
        intervals = [[one["interval_ns"] for one in gate["entries"]] for gate in lists]
        supported(gates, intervals, max((gate["cycle_ns"] for gate in lists), default=1_000_000_000))
    table = component.add("stream-filters", namespace)
    number = 0
    for one in policing["filters"]:
        streams: Sequence[int | None] = one.get("streams") or [None]
        for stream in streams:
            _filter(table, number, one, stream, handles, policing, psfp)
            number += 1
        if one.get("ports"):
            notes.lost(
                "ports of filters",
                "the modules' filters are for all ports; stream identification has the ports",
                f"{one['name']} at {network.nodes[policing['node']]['name']}",
            )
    groups = [
        policing["schedulers"][one["scheduler"]]["group"] for one in policing["filters"] if "scheduler" in one
    ]
    if len(set(groups)) < len(groups):
        notes.lost(
            "ATS schedulers that share a group",
            "the module has schedulers and groups below each filter",
            network.nodes[policing["node"]]["name"],
        )


def _filter(
    table: xml.Element,
    number: int,
    one: StreamFilter,
    stream: int | None,
    handles: dict[int, int],
    policing: Policing,
    psfp: bool,
) -> None:
    entry = table.add("stream-filter-instance-table").leaf("stream-filter-instance-id", number)
    if stream is None:
        entry.empty("wildcard")
    else:
        entry.leaf("stream-handle", handles[stream])
    entry.leaf("priority-spec", _NUMBERS[one["priority"]] if "priority" in one else "wildcard")
    entry.leaf("max-sdu-size", one.get("max_sdu_octets", 0))
    entry.leaf("stream-blocked-due-to-oversize-frame-enabled", bool(one.get("block_oversize", False)))
    entry.leaf("stream-gate-ref", one["gate"] + 1 if "gate" in one else 0)
    if psfp and "meter" in one:
        entry.leaf("flow-meter-ref", one["meter"]).leaf("flow-meter-enable", True)
    if not psfp and "scheduler" in one:
        _scheduler(entry, policing, one["scheduler"])
        entry.add("scheduler").leaf("scheduler-ref", one["scheduler"]).leaf("scheduler-enable", True)


def _meters(component: xml.Element, policing: Policing) -> None:
    if not policing.get("meters"):
        return
    table = component.add("flow-meters", xml.PSFP_BRIDGE)
    for index, meter in enumerate(policing["meters"]):
        entry = table.add("flow-meter-instance-table").leaf("flow-meter-instance-id", index)
        entry.leaf("committed-information-rate", meter["cir_bps"]).leaf(
            "committed-burst-size", meter["cbs_octets"]
        )
        entry.leaf("excess-information-rate", meter["eir_bps"]).leaf("excess-burst-size", meter["ebs_octets"])
        entry.leaf("coupling-flag", "one" if meter.get("coupling") else "zero")
        entry.leaf("color-mode", "color-aware" if meter.get("color_aware") else "color-blind")
        entry.leaf("drop-on-yellow", bool(meter.get("drop_on_yellow", False)))
        entry.leaf("mark-all-frames-red-enable", bool(meter.get("mark_all_frames_red", False)))
    table.leaf("max-flow-meter-instances", len(policing["meters"]))


def _gate(
    gates: xml.Element,
    index: int,
    gate: StreamGate,
    psfp: bool,
    network: Network,
    policing: Policing,
    notes: Notes,
) -> None:
    entry = gates.add("stream-gate-instance-table").leaf("stream-gate-instance-id", index)
    entry.leaf("gate-enable", True)
    if not psfp:
        where = network.nodes[policing["node"]]["name"]
        notes.lost("lists of stream gates", "the ATS module's stream gates have none", where)
        return
    entry.leaf("admin-gate-states", "open").leaf("admin-ipv", "null")
    control = entry.add("admin-control-list")
    for place, one in enumerate(gate["entries"]):
        row = control.add("gate-control-entry").leaf("index", place)
        row.leaf_identity("operation-name", xml.PSFP, "set-gate-and-ipv")
        row.leaf("time-interval-value", one["interval_ns"])
        row.leaf("gate-state-value", "open" if one["open"] else "closed")
        row.leaf("ipv-spec", _NUMBERS[one["ipv"]] if "ipv" in one else "null")
        if "octets_max" in one:
            row.leaf("interval-octet-max", one["octets_max"])
    rational(entry.add("admin-cycle-time"), gate["cycle_ns"])
    base_time(entry.add("admin-base-time"), gate["base_time_ns"], gate["cycle_ns"])
    entry.leaf("config-change", True)
    entry.leaf("gate-closed-due-to-invalid-rx-enable", bool(gate.get("close_on_invalid_rx", False)))
    entry.leaf("gate-closed-due-octets-exceeded-enable", bool(gate.get("close_on_octets_exceeded", False)))


def _scheduler(entry: xml.Element, policing: Policing, index: int) -> None:
    """A filter's own scheduler and its group: the module has both below the filter."""
    own = policing["schedulers"][index]
    table = entry.add("schedulers").add("scheduler-instance-table").leaf("scheduler-instance-id", index)
    table.leaf("committed-information-rate", own["cir_bps"]).leaf("committed-burst-size", own["cbs_bits"])
    table.leaf("scheduler-group-ref", own["group"])
    group = entry.add("scheduler-groups").add("scheduler-group-instance-table")
    group.leaf("scheduler-group-instance-id", own["group"])
    group.leaf("max-residence-time", policing["groups"][own["group"]]["max_residence_ns"])
