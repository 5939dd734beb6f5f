"""Interfaces of a bridge: traffic classes, selection algorithms, gates, shapers, pre-emption.

IEEE 802.1Q-2022, 48.6.2 (bridge), 48.6.10 (sched), 48.6.11 (preemption); IEEE 802.1Qcw-2023.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.yang import xml

if TYPE_CHECKING:
    from tsnbench.plan.types import Port

COMPONENT = "c-vlan"
INGRESS_FILTERING = "enable-ingress-filtering"
OPERATIONS = {None: "set-gate-states", "hold": "set-and-hold-mac", "release": "set-and-release-mac"}


def interface(network: Network, port: int) -> str:
    return network.interfaces.get(network.ports[port]["name"], f"eth{network.place(port) + 1}")


def interfaces(config: xml.Element, network: Network, node: int, notes: Notes) -> None:
    """`/if:interfaces` with all settings of ports."""
    table = config.add("interfaces", xml.INTERFACES)
    for number in network.ports_of(node):
        port = network.ports[number]
        entry = table.add("interface").leaf("name", interface(network, number))
        entry.leaf("description", port["name"])
        entry.leaf_identity("type", xml.IF_TYPE, "ethernetCsmacd").leaf("enabled", True)
        if not network.forwards(node):
            continue
        own = entry.add("bridge-port", xml.BRIDGE)
        own.leaf("bridge-name", network.nodes[node]["name"]).leaf("component-name", COMPONENT)
        _classes(own, network, node, number)
        # Off by default; the simulator's and the kernel's bridges drop frames of other VLANs (8.6.2).
        own.leaf(INGRESS_FILTERING, True)
        _gates(own, port, notes)
        if "preemption" in port:
            _preemption(own, port, notes)
        _shapers(own, port, notes)
    if any(
        "limit_frames" in one or "limit_octets" in one for port in network.ports for one in port["classes"]
    ):
        notes.lost("limits of queues", "the modules have no length of queues")
    notes.stages(
        network,
        "the modules have no buffer of a MAC",
        "the modules have no rate of a queue",
        "the modules have no transit delay of a class",
    )


def _classes(own: xml.Element, network: Network, node: int, number: int) -> None:
    port = network.ports[number]
    policing = network.policing(node)
    for regenerated in policing.get("regeneration", []) if policing else []:
        if regenerated["port"] == number:
            _priorities(own.add("priority-regeneration"), regenerated["pcp"])
    table = own.add("traffic-class").add("traffic-class-table")
    table.leaf("number-of-traffic-classes", len(port["classes"]))
    _priorities(table, port["pcp_to_class"])
    algorithms = own.add("transmission-selection-algorithm-table")
    ats = policing and policing.get("schedulers")
    other = "asynchronous-traffic-shaping" if ats else "strict-priority"
    for number_of_class, one in enumerate(port["classes"]):
        entry = algorithms.add("transmission-selection-algorithm-map").leaf("traffic-class", number_of_class)
        kind = "credit-based-shaper" if "cbs" in one else other
        entry.leaf_identity("transmission-selection-algorithm", xml.TYPES, kind)


def _priorities(into: xml.Element, values: Iterable[object]) -> None:
    """The value of each priority, from 0 on."""
    for pcp, value in enumerate(values):
        into.leaf(f"priority{pcp}", value)


def rational(into: xml.Element, nanoseconds: int) -> None:
    """Nanoseconds as a fraction of seconds in lowest terms."""
    value = Fraction(nanoseconds, 1_000_000_000)
    into.leaf("numerator", value.numerator).leaf("denominator", value.denominator)


def base_time(into: xml.Element, nanoseconds: int, cycle_ns: int) -> None:
    """A base time; one before 0 is moved on by whole cycles, which is the same schedule."""
    at = nanoseconds if nanoseconds >= 0 else nanoseconds % cycle_ns
    into.leaf("seconds", at // 1_000_000_000).leaf("nanoseconds", at % 1_000_000_000)


def supported(into: xml.Element, intervals: Sequence[Sequence[int]], cycle_ns: int) -> None:
    """What a device supports: the greatest list, cycle and interval of its lists of gates.

    The modules' constraints compare the configuration with these nodes, also where a port has no gates, and
    fail if they are missing.

    Args:
        into: the parent of the nodes.
        intervals: the intervals of every list, in ns.
        cycle_ns: the longest cycle.
    """
    into.leaf("supported-list-max", max(map(len, intervals), default=0))
    rational(into.add("supported-cycle-max"), cycle_ns)
    into.leaf("supported-interval-max", max((ns for one in intervals for ns in one), default=0))


def _gates(own: xml.Element, port: Port, notes: Notes) -> None:
    table = own.add("gate-parameter-table", xml.SCHED_BRIDGE)
    for number, one in enumerate(port["classes"]):
        if "max_sdu_octets" in one:
            entry = table.add("queue-max-sdu-table").leaf("traffic-class", number)
            entry.leaf("queue-max-sdu", one["max_sdu_octets"])
    gates = port.get("gates")
    if gates is None:
        table.leaf("gate-enabled", False)
        rational(table.add("admin-cycle-time"), 0)
        supported(table, [], 0)
        return
    table.leaf("gate-enabled", True).leaf("admin-gate-states", gates.get("initial", 255))
    control = table.add("admin-control-list")
    for index, listed in enumerate(gates["entries"]):
        entry = control.add("gate-control-entry").leaf("index", index)
        # The module compares with the literal prefix `sched:`.
        entry.leaf_identity("operation-name", xml.SCHED, OPERATIONS[listed.get("mac")])
        entry.leaf("time-interval-value", listed["interval_ns"]).leaf("gate-states-value", listed["open"])
    rational(table.add("admin-cycle-time"), gates["cycle_ns"])
    if "cycle_extension_ns" in gates:
        table.leaf("admin-cycle-time-extension", gates["cycle_extension_ns"])
    base_time(table.add("admin-base-time"), gates["base_time_ns"], gates["cycle_ns"])
    table.leaf("config-change", True)
    supported(table, [[one["interval_ns"] for one in gates["entries"]]], gates["cycle_ns"])
    if gates.get("changes"):
        notes.lost(
            "later gate control lists",
            "instance data is one state; send each list when it is due",
            f"{port['name']}: {len(gates['changes'])}",
        )
    if gates.get("unguarded"):
        notes.lost("frames that overrun their window", "the modules cannot request it", port["name"])
    if any(one.get("cbs", {}).get("runs_while_closed") for one in port["classes"]):
        notes.lost("credit that runs while gates are closed", "in the standard it is frozen", port["name"])


def _preemption(own: xml.Element, port: Port, notes: Notes) -> None:
    table = own.add("frame-preemption-parameters", xml.PREEMPTION_BRIDGE).add("frame-preemption-status-table")
    express = port["preemption"]["express"]
    words = ("preemptable", "express")
    _priorities(table, (words[express >> number & 1] for number in port["pcp_to_class"]))
    if port["preemption"].get("hold_advance_ns") or port["preemption"].get("release_advance_ns"):
        notes.lost(
            "hold and release advance", "a device reports them; they are no configuration", port["name"]
        )


def _shapers(own: xml.Element, port: Port, notes: Notes) -> None:
    shaped = [(number, one["cbs"]) for number, one in enumerate(port["classes"]) if "cbs" in one]
    if not shaped:
        return
    table = own.add("cbsa", xml.CBSA_BRIDGE)
    for number, cbs in shaped:
        # The Plan has the operational slope, which is larger: credit grows only while the gate is open.
        slope = cbs["idle_slope_bps"]
        gates = port.get("gates")
        if gates and not cbs.get("runs_while_closed"):
            opened = sum(one["interval_ns"] for one in gates["entries"] if one["open"] >> number & 1)
            slope = slope * opened // gates["cycle_ns"]
        entry = table.add("cbsa-parameter-table").leaf("traffic-class", number)
        entry.leaf("admin-idle-slope", slope)
        if "follows" in cbs:
            notes.lost(
                "a send slope or credits that are given",
                "a device has those that follow from its idle slope",
                f"class {number} of {port['name']}",
            )
