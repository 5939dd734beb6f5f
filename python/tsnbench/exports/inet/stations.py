"""Modules with applications: sources and sinks, and the tags of streams."""

from __future__ import annotations

from tsnbench.exports.inet.layout import INNER_BPS, Layout
from tsnbench.exports.inet.paths import Path, Paths
from tsnbench.exports.inet.ports import classes
from tsnbench.exports.inet.sources import sources
from tsnbench.exports.inet.syntax import filtered, mapping, quoted
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes


def station(network: Network, layout: Layout, paths: Paths, node: int, notes: Notes) -> list[str]:
    """The applications of a node, on the module that contains them."""
    name = layout.end(node)
    sent = [path for path in paths.streams if path.stream["talker"] == node]
    received = [path for path in paths.streams if any(one["node"] == node for one in path.listeners)]
    apps: list[list[str]] = []
    for path in sent:
        for one in sources(network, path.stream, notes):
            source = f"*.{name}.app[{len(apps)}]"
            apps.append(
                [
                    f'{source}.typename = "UdpSourceApp"',
                    f"{source}.display-name = {quoted(path.name)}",
                    *_destination(layout, path, f"{source}.io"),
                    f"{source}.io.destPort = {path.stream['udp_port']}",
                    *one.lines(f"{source}.source"),
                ]
            )
    for path in received:
        sink = f"*.{name}.app[{len(apps)}]"
        apps.append(
            [
                f'{sink}.typename = "UdpSinkApp"',
                f"{sink}.display-name = {quoted(path.name)}",
                f"{sink}.io.localPort = {path.stream['udp_port']}",
                *(_joined(path, f"{sink}.io") if path.group else []),
            ]
        )
    lines = [f"*.{name}.numApps = {len(apps)}", *(line for app in apps for line in app)]
    if any(path.group for path in sent):
        # Otherwise INET sends a copy of multicast frames to an interface that does not exist.
        lines.append(f"*.{name}.numLoInterfaces = 0")
    if any(path.group for path in received):
        lines.append(f"*.{name}.ethernet.macHeaderChecker.promiscuous = true")
    tagged = [path for path in sent if path.vlan is not None]
    if tagged:
        lines.append(f"*.{name}.hasOutgoingStreams = true")
        lines += mapping(
            f"*.{name}.bridging.streamIdentifier.identifier.mapping",
            [f"{{stream: {quoted(one.name)}, packetFilter: {filtered(one.stream)}}}" for one in tagged],
        )
        lines += mapping(
            f"*.{name}.bridging.streamCoder.encoder.mapping",
            [f"{{stream: {quoted(one.name)}, pcp: {one.stream['pcp']}, vlan: {one.vlan}}}" for one in tagged],
        )
    if received:
        lines.append(f"*.{name}.hasIncomingStreams = true")
    return lines


def _destination(layout: Layout, path: Path, io: str) -> list[str]:
    if not path.group:
        to = layout.end(path.listeners[0]["node"])
        return [f"{io}.destAddress = {quoted(f'{to}%eth0')}"]
    return [
        f"{io}.destAddress = {quoted(path.stream['destination_ipv4'])}",
        f'{io}.multicastInterface = "eth0"',
        f'{io}.interfaceTableModule = "^.^.interfaceTable"',
    ]


def _joined(path: Path, io: str) -> list[str]:
    return [
        f"{io}.multicastAddresses = [{quoted(path.stream['destination_ipv4'])}]",
        f'{io}.interfaceTableModule = "^.^.interfaceTable"',
    ]


def pair(network: Network, layout: Layout, paths: Paths, node: int, notes: Notes) -> list[str]:
    """The device with a node's applications, and the link to the switch with its ports."""
    name, inner = layout.hosts[node], f"*.{layout.names[node]}.eth[{layout.inner(node)}]"
    return [
        f"{inner}.bitrate = {INNER_BPS}bps",
        "",
        f"# {network.nodes[node]['name']}: its applications",
        f"*.{name}.eth[0].address = {quoted(layout.mac(node))}",
        f"*.{name}.eth[0].bitrate = {INNER_BPS}bps",
        *station(network, layout, paths, node, notes),
        f"*.{name}.hasEgressTrafficShaping = true",
        *classes(network.ports[network.ports_of(node)[0]], f"*.{name}.eth[0].macLayer.queue"),
    ]
