"""Switches: address tables, processing, cut-through, member streams."""

from __future__ import annotations

from tsnbench.exports.inet.layout import Layout
from tsnbench.exports.inet.paths import Paths
from tsnbench.exports.inet.syntax import filtered, mapping, quoted
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

DECIDES_AFTER = 18
"""Octets of a tagged frame's headers: then INET's switches begin to forward."""


def bridge(network: Network, layout: Layout, paths: Paths, node: int, notes: Notes) -> list[str]:
    name = layout.names[node]
    lines = [f"*.{name}.hasIncomingStreams = true", f"*.{name}.hasOutgoingStreams = true"]
    lines += _copies(paths, layout, node)
    rows = [
        f'{{address: {quoted(address)}, vlan: {vlan}, interface: "eth{interface}"}}'
        for address, vlan, interface in paths.rows(node)
    ]
    if rows:
        lines += mapping(f"*.{name}.macTable.forwardingTable", rows)
    return lines + _processing(network, layout, paths, node, notes)


def _processing(network: Network, layout: Layout, paths: Paths, node: int, notes: Notes) -> list[str]:
    name, taken = layout.names[node], network.nodes[node]["processing_ns"]
    if not taken:
        return []
    if node not in layout.hosts:
        delayer = f"*.{name}.bridging.directionReverser.delayer"
        return [f'{delayer}.typename = "PacketDelayer"', f"{delayer}.delay = {taken}ns"]
    if not paths.passes(node):
        return []
    # In a host the delayer also delays frames that the host itself receives.
    if any(one["node"] == node for path in paths.streams for one in path.listeners):
        notes.warn(
            "processing of nodes that pass on and listen",
            "written: also for what they listen to",
            f"{network.nodes[node]['name']} ({taken} ns too late)",
        )
    lines = []
    for port in network.ports_of(node):
        layer = f"*.{name}.eth[{network.place(port)}].processingDelayLayer"
        lines += [
            f'{layer}.typename = "ProcessingDelayLayer"',
            f"{layer}.ingress.delay = {taken}ns",
            f'{layer}.egress.typename = ""',
        ]
    return lines


def _copies(paths: Paths, layout: Layout, node: int) -> list[str]:
    """802.1CB: member streams that are made here, and member streams that merge here."""
    split = [path for path in paths.streams if path.copies and path.copies.split == node]
    made = [(path, name, vlan) for path in split for name, vlan in path.members()]
    meet = [
        (name, vlan)
        for path in paths.streams
        if path.copies and path.copies.merge == node
        for name, vlan in path.members()
    ]
    name = layout.names[node]
    lines = [f"*.{name}.hasStreamRedundancy = true"] if made or meet else []
    bridging = f"*.{name}.bridging"
    if made:
        numbered = [
            f"{{stream: {quoted(one.name)}, packetFilter: {filtered(one.stream)}, sequenceNumbering: true}}"
            for one in split
        ]
        lines += mapping(f"{bridging}.streamIdentifier.identifier.mapping", numbered)
        splits = [
            f"{quoted(one.name)}: [{', '.join(quoted(name) for name, _ in one.members())}]" for one in split
        ]
        lines.append(f"{bridging}.streamRelay.splitter.mapping = {{{', '.join(splits)}}}")
        coded = [
            f"{{stream: {quoted(copy)}, pcp: {one.stream['pcp']}, vlan: {vlan}}}" for one, copy, vlan in made
        ]
        lines += mapping(f"{bridging}.streamCoder.encoder.mapping", coded)
    if meet:
        decoded = [f"{{stream: {quoted(copy)}, vlan: {vlan}}}" for copy, vlan in meet]
        lines += mapping(f"{bridging}.streamCoder.decoder.mapping", decoded)
        merged = [f'{quoted(copy)}: ""' for copy, _ in meet]
        lines.append(f"{bridging}.streamRelay.merger.mapping = {{{', '.join(merged)}}}")
        reverser = f"{bridging}.directionReverser.reverser"
        lines.append(f'{reverser}.excludeEncapsulationProtocols = ["ieee8021rtag"]')
    return lines


def cut_through(network: Network, layout: Layout, notes: Notes) -> list[str]:
    """If one node uses cut-through, all others also have to stream frames."""
    lines = ["", "# who stores frames, and who cuts through"]
    for node, one in enumerate(network.nodes):
        if layout.switches(node) and "cut_through_octets" not in one:
            name = layout.names[node]
            lines.append(f"*.{name}.hasCutthroughSwitching = false")
            lines.append(f'*.{name}.eth[*].phyLayer.typename = "EthernetStreamingPhyLayer"')
        elif one.get("cut_through_octets", DECIDES_AFTER) != DECIDES_AFTER:
            rate = min(network.ports[port]["rate_bps"] for port in network.ports_of(node))
            early = (one["cut_through_octets"] - DECIDES_AFTER) * 8 * 1_000_000_000 // rate
            notes.warn(
                "after how many octets nodes cut through",
                f"INET decides after {DECIDES_AFTER} octets",
                f"{one['name']} ({early} ns too early)",
                cure=f"forwarding: {{mode: cut-through, after: {DECIDES_AFTER} B}}",
            )
    return [*lines, "*.*.hasCutthroughSwitching = true"]
