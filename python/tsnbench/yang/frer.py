"""Stream identification and FRER of one node.

IEEE 802.1CB-2017, 9 and 10; IEEE 802.1CBcv-2021.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.yang import xml
from tsnbench.yang.ports import interface

if TYPE_CHECKING:
    from tsnbench.plan.types import Recovery, Stream


def handles(network: Network, node: int) -> dict[int, int]:
    """Streams that a node identifies, and their handles: those with several paths, and those of filters."""
    wanted: set[int] = set()
    policing = network.policing(node)
    for one in policing.get("filters", []) if policing else []:
        wanted |= set(one.get("streams", []))
    for place, stream in enumerate(network.streams):
        if "redundancy" in stream and (_splits(network, node, stream) or _joins(network, node, stream)):
            wanted.add(place)
    return {place: handle for handle, place in enumerate(sorted(wanted), start=1)}


def _splits(network: Network, node: int, stream: Stream) -> list[int]:
    """Ports at which a node splits a stream into member streams."""
    copies = stream["redundancy"].get("copies")
    if not copies:
        return []
    return [
        hop["port"]
        for place, hop in enumerate(stream["route"])
        if copies[place]
        and network.ports[hop["port"]]["node"] == node
        and (hop.get("parent") is None or not copies[hop["parent"]])
    ]


def _joins(network: Network, node: int, stream: Stream) -> list[int]:
    """Ports by which a node gets the member streams that it merges."""
    found = []
    for merge in stream["redundancy"].get("merges", []):
        for place in merge["from"]:
            port = network.ports[stream["route"][place]["port"]]["peer"]
            if network.ports[port]["node"] == node:
                found.append(port)
    return found


def identification(config: xml.Element, network: Network, node: int, numbers: dict[int, int]) -> None:
    """`/stream-identity`, one per handle."""
    for place, handle in numbers.items():
        stream = network.streams[place]
        entry = config.add("stream-identity", xml.STREAM_IDENTIFICATION).leaf("index", handle)
        entry.leaf("handle", handle)
        arrives = {
            network.ports[hop["port"]]["peer"] for hop in stream["route"] if network.far(hop["port"]) == node
        }
        if arrives:
            facing = entry.add("out-facing")
            for port in sorted(arrives):
                facing.leaf("input-port", interface(network, port))
        _parameters(entry, network, stream)


def _parameters(entry: xml.Element, network: Network, stream: Stream) -> None:
    recovery = stream.get("redundancy", {}).get("recovery")
    kind = recovery["identification"] if recovery else "ip"
    destination = xml.address(stream["destination_mac"])
    tagged, vid = "tagged" if "vid" in stream else "all", stream.get("vid", 0)
    if isinstance(kind, dict):
        # `down`: the fields of member streams; `up`: the fields at the talker and at the listener.
        own = entry.add("dmac-vlan-stream-identification")
        active = kind["active"]
        down = own.add("down").leaf("destination-mac", xml.address(active["destination_mac"]))
        down.leaf("tagged", tagged).leaf("vlan", active["vid"]).leaf("priority", active["pcp"])
        up = own.add("up").leaf("destination-mac", destination)
        up.leaf("tagged", tagged).leaf("vlan", vid).leaf("priority", stream["pcp"])
        return
    first = next(hop["port"] for hop in stream["route"] if hop.get("parent") is None)
    if kind == "source-mac":
        own = entry.add("smac-vlan-stream-identification")
        own.leaf("source-mac", xml.address(network.ports[first]["mac"]))
    else:
        own = entry.add("null-stream-identification" if kind == "null" else "ip-stream-identification")
        own.leaf("destination-mac", destination)
    own.leaf("tagged", tagged).leaf("vlan", vid)
    if kind not in ("source-mac", "null"):
        own.leaf("ip-source", network.nodes[stream["talker"]]["ipv4"])
        own.leaf("ip-destination", stream["destination_ipv4"]).leaf("next-protocol", "udp")
        own.leaf("source-port", stream["udp_port"]).leaf("destination-port", stream["udp_port"])


def frer(config: xml.Element, network: Network, node: int, numbers: dict[int, int], notes: Notes) -> None:
    """`/frer`: sequence generation, recovery functions, and the encoding of the R-TAG."""
    own = {place: network.streams[place] for place in numbers if "redundancy" in network.streams[place]}
    split = {place: ports for place, one in own.items() if (ports := _splits(network, node, one))}
    join = {place: ports for place, one in own.items() if (ports := _joins(network, node, one))}
    if not split and not join:
        return
    table = config.add("frer", xml.FRER)
    for index, place in enumerate(split, start=1):
        entry = table.add("sequence-generation").leaf("index", index).leaf("stream", numbers[place])
        entry.leaf("direction-out-facing", True)
    recoveries = [
        (numbers[place], group, recovery, individual)
        for place, ports in join.items()
        if (recovery := own[place]["redundancy"].get("recovery")) is not None
        for individual in ([True, False] if recovery.get("individual") else [False])
        for group in ([[port] for port in ports] if individual else [ports])
    ]
    for index, found in enumerate(recoveries, start=1):
        _recovery(table.add("sequence-recovery").leaf("index", index), network, *found)
    tagged: dict[int, set[int]] = {}
    for place, ports in (*split.items(), *join.items()):
        for port in ports:
            tagged.setdefault(port, set()).add(numbers[place])
    for port, handles_of in sorted(tagged.items()):
        entry = table.add("sequence-identification").leaf("port", interface(network, port))
        entry.leaf("direction-out-facing", True)
        for handle in sorted(handles_of):
            entry.leaf("stream", handle)
        entry.leaf("active", True)
        entry.add("encapsulation").empty("r-tag")
    for place, ports in split.items():
        if len(ports) > 1:
            notes.lost(
                "handles of copies",
                "member streams keep the stream's address: all have one handle, and the address table splits",
                f"{own[place]['name']} at {network.nodes[node]['name']}",
            )
    for stream in own.values():
        if stream["redundancy"].get("active"):
            notes.lost("standby paths", "the modules have no such path", stream["name"])


def _recovery(
    entry: xml.Element,
    network: Network,
    handle: int,
    ports: list[int],
    recovery: Recovery,
    individual: bool,
) -> None:
    entry.leaf("stream", handle)
    for port in ports:
        entry.leaf("port", interface(network, port))
    entry.leaf("direction-out-facing", True)
    algorithm = recovery["algorithm"]
    entry.add("algorithm").empty(algorithm["kind"])
    if algorithm["kind"] == "vector":
        entry.leaf("history-length", algorithm["history"])
    entry.leaf("reset-timeout", recovery["reset_ns"] // 1_000_000)
    entry.leaf("individual-recovery", individual)
    latent = recovery.get("latent")
    if latent and not individual:
        entry.leaf("latent-error-detection", True)
        own = entry.add("latent-error-detection-parameters").leaf("difference", latent["difference"])
        own.leaf("period", latent["period_ns"] // 1_000_000).leaf("paths", len(ports))
        own.leaf("reset-period", latent["reset_ns"] // 1_000_000)
