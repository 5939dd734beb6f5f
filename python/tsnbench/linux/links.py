"""Interfaces, VLAN devices, bridges and address tables as lines of ``ip -batch`` and ``bridge -batch``.

A priority is the same number everywhere: in the socket buffer, in the tag, and as the index of taprio's map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.linux.profile import Profile
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream

BRIDGE = "br0"
_SAME = " ".join(f"{number}:{number}" for number in range(8))


def namespace(network: Network, node: int) -> str:
    return str(network.nodes[node]["name"])


def namespaces(network: Network, profile: Profile) -> list[str]:
    """The whole network on one machine: a namespace per node, a veth pair per link, for ``ip -batch``."""
    lines = [f"netns add {namespace(network, node)}" for node in range(len(network.nodes))]
    for one, other in network.links():
        ends = []
        for port in (one, other):
            queues = profile.tx_queues or len(network.ports[port]["classes"])
            ends.append(
                f"{profile.interface(network, port)} numtxqueues {queues} numrxqueues {queues} "
                f"address {network.ports[port]['mac']} "
                f"netns {namespace(network, network.ports[port]['node'])}"
            )
        lines.append(f"link add {ends[0]} type veth peer name {ends[1]}")
    return lines


def no_namespaces(network: Network) -> list[str]:
    """Undoes :func:`namespaces`; the veth pairs go with them."""
    return [f"netns del {namespace(network, node)}" for node in range(len(network.nodes))]


def interfaces(network: Network, node: int, profile: Profile) -> list[str]:
    """One node's interfaces for ``ip -batch``."""
    lines = []
    for port in network.ports_of(node):
        device = profile.interface(network, port)
        lines.append(f"link set dev {device} address {network.ports[port]['mac']}")
        lines.append(f"link set dev {device} up")
    if network.forwards(node):
        lines.append(
            f"link add name {BRIDGE} type bridge vlan_filtering 1 vlan_default_pvid 1 stp_state 0 "
            "mcast_snooping 1 mcast_querier 0"
        )
        for port in network.ports_of(node):
            lines.append(f"link set dev {profile.interface(network, port)} master {BRIDGE}")
        lines.append(f"link set dev {BRIDGE} up")
    if network.talks(node):
        lines += _end_station(network, node, profile)
    return lines


def _end_station(network: Network, node: int, profile: Profile) -> list[str]:
    """Addresses, VLAN devices and routes to listeners; a node that forwards has them on its bridge."""
    lines = []
    address = network.nodes[node]["ipv4"]
    by_base = (
        {BRIDGE: network.node_vids(node)}
        if network.forwards(node)
        else {profile.interface(network, port): network.vids(port) for port in network.ports_of(node)}
    )
    for base, vids in by_base.items():
        lines.append(f"address replace {address}/32 dev {base}")
        for vid in vids:
            lines.append(
                f"link add link {base} name {vlan_device(base, vid)} type vlan id {vid} "
                f"egress-qos-map {_SAME} ingress-qos-map {_SAME}"
            )
            lines.append(f"address replace {address}/32 dev {vlan_device(base, vid)}")
            lines.append(f"link set dev {vlan_device(base, vid)} up")
    reached: set[tuple[str, str]] = set()
    for stream in network.streams:
        firsts = [hop["port"] for hop in stream["route"] if hop.get("parent") is None]
        if stream["talker"] != node or not firsts:
            continue
        device = _device(network, profile, firsts[0], stream)
        key = (stream["destination_ipv4"], device)
        if key in reached:
            continue
        reached.add(key)
        metric = len([1 for ip, _ in reached if ip == key[0]])
        lines.append(f"route replace {key[0]}/32 dev {device} metric {metric}")
        if not int(stream["destination_mac"][:2], 16) & 1:
            lines.append(
                f"neighbour replace {key[0]} lladdr {stream['destination_mac']} dev {device} nud permanent"
            )
    for stream in network.streams:
        if not int(stream["destination_mac"][:2], 16) & 1:
            continue
        for listener in stream["listeners"]:
            if listener["node"] != node:
                continue
            entry = stream["route"][listener["route"]]
            port = network.ports[entry["port"]]["peer"]
            device = _device(network, profile, port, stream)
            lines.append(f"maddress add {stream['destination_mac']} dev {device}")
    return lines


def _device(network: Network, profile: Profile, port: int, stream: Stream) -> str:
    """The interface by which programs of a port's node send or receive a stream."""
    bridged = network.forwards(network.ports[port]["node"])
    base = BRIDGE if bridged else profile.interface(network, port)
    return vlan_device(base, stream["vid"]) if "vid" in stream else base


def vlan_device(base: str, vid: int) -> str:
    return f"{base}.{vid}"


def no_interfaces(network: Network, node: int, profile: Profile) -> list[str]:
    """Undoes :func:`interfaces`."""
    lines = []
    if network.forwards(node):
        lines.append(f"link del dev {BRIDGE}")
    elif network.talks(node):
        for port in network.ports_of(node):
            base = profile.interface(network, port)
            lines += [f"link del dev {vlan_device(base, vid)}" for vid in network.vids(port)]
            lines.append(f"address del {network.nodes[node]['ipv4']}/32 dev {base}")
    return lines


def address_table(network: Network, node: int, profile: Profile) -> list[str]:
    """VLANs of a bridge's ports and its static addresses, for ``bridge -batch``."""
    if not network.forwards(node):
        return []
    lines = []
    for port in network.ports_of(node):
        device = profile.interface(network, port)
        lines += [f"vlan add dev {device} vid {vid}" for vid in network.vids(port) if vid != 1]
        if 1 in network.vids(port):
            # VLAN 1 is also the VLAN of untagged frames; tagged frames of VLAN 1 must keep their tag.
            lines.append(f"vlan add dev {device} vid 1 pvid")
        lines.append(f"link set dev {device} learning off flood off mcast_flood off")
    if network.talks(node):
        lines += [f"vlan add dev {BRIDGE} vid {vid} self" for vid in network.node_vids(node)]
    rows, _ = network.forwarding(node)
    for row in rows:
        vid = row.vid or 1
        for port in row.ports:
            device = profile.interface(network, port)
            if row.group:
                lines.append(
                    f"mdb add dev {BRIDGE} port {device} grp {row.destination_ipv4} permanent vid {vid}"
                )
            elif port == row.ports[0]:
                # A bridge of the kernel has one port per address, so only the first path is configured.
                lines.append(f"fdb replace {row.destination_mac} dev {device} master static vlan {vid}")
    return lines
