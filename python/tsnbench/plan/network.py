"""A Plan for exports: nodes, their ports, and the address tables of bridges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tsnbench.plan.streams.regeneration import rewriting

if TYPE_CHECKING:
    from tsnbench.plan.types import Node, PlanDocument, Policing, Port, Stream


@dataclass(frozen=True)
class Forwarding:
    """The egress ports of one bridge for frames of one destination: indices, ascending."""

    destination_mac: str
    destination_ipv4: str
    vid: int | None
    ports: tuple[int, ...]
    streams: tuple[str, ...]

    @property
    def group(self) -> bool:
        """Whether the address is one of a group."""
        return bool(int(self.destination_mac[:2], 16) & 1)


@dataclass(frozen=True)
class Clash:
    """A stream whose path no address table can express: another stream has the same address and VLAN."""

    stream: str
    node: int
    other: str


class Network:
    """Look-ups in a Plan's document, without decisions."""

    def __init__(self, document: PlanDocument, interfaces: Mapping[str, str] | None = None) -> None:
        self.document = document
        self.interfaces = interfaces or {}
        """Names that a device has for ports, where they are known."""
        self.nodes: list[Node] = document["nodes"]
        self.ports: list[Port] = document["ports"]
        self.streams: list[Stream] = document["streams"]

    @cached_property
    def _of(self) -> list[list[int]]:
        of: list[list[int]] = [[] for _ in self.nodes]
        for number, port in enumerate(self.ports):
            of[port["node"]].append(number)
        return of

    def ports_of(self, node: int) -> list[int]:
        """The ports of a node, in the order of the Plan: the p-th one is interface p."""
        return self._of[node]

    def place(self, port: int) -> int:
        """The index of a port among its node's ports, from 0."""
        return self._of[self.ports[port]["node"]].index(port)

    def forwards(self, node: int) -> bool:
        return self.nodes[node]["kind"] in ("bridge", "host")

    def talks(self, node: int) -> bool:
        return self.nodes[node]["kind"] in ("station", "host")

    def links(self) -> Iterator[tuple[int, int]]:
        """Every link once: the ports at its ends, the lower one first."""
        for number, port in enumerate(self.ports):
            if number < port["peer"]:
                yield number, port["peer"]

    def far(self, port: int) -> int:
        """The node at the other end of a port's link."""
        return int(self.ports[self.ports[port]["peer"]]["node"])

    def vids(self, port: int) -> list[int]:
        """VLANs whose frames cross a link in either direction, ascending. A bridge that splits a stream
        checks the port's VLANs before it rewrites a member stream's."""
        return self._vids[port]

    @cached_property
    def _vids(self) -> list[list[int]]:
        found: list[set[int]] = [set() for _ in self.ports]
        for stream in self.streams:
            if "vid" in stream:
                for hop in [*stream["route"], *stream.get("flood", [])]:
                    for port in (hop["port"], self.ports[hop["port"]]["peer"]):
                        found[port].add(stream["vid"])
                for place, (_, vid) in self._rewritten(stream).items():
                    port = stream["route"][place]["port"]
                    found[port].add(vid)
                    found[self.ports[port]["peer"]].add(vid)
        return [sorted(vids) for vids in found]

    def untagged(self, port: int) -> bool:
        """Whether some stream without a tag crosses the link of a port."""
        peer = self.ports[port]["peer"]
        return any(
            hop["port"] in (port, peer)
            for stream in self.streams
            if "vid" not in stream
            for hop in stream["route"]
        )

    def node_vids(self, node: int) -> list[int]:
        return sorted({vid for port in self.ports_of(node) for vid in self.vids(port)})

    def forwarding(self, node: int) -> tuple[list[Forwarding], list[Clash]]:
        """The rows of a bridge's address table, and the streams that the table cannot express."""
        wanted: dict[tuple[str, int | None], tuple[set[int], dict[str, None], Stream]] = {}
        clashes = []
        for number, own in self._relayed[node].items():
            stream = self.streams[number]
            for key, ports in own.items():
                if key not in wanted:
                    wanted[key] = (ports, {stream["name"]: None}, stream)
                    continue
                have, names, _ = wanted[key]
                if have != ports:
                    clashes.append(Clash(stream["name"], node, next(iter(names))))
                else:
                    names[stream["name"]] = None
        rows = [
            Forwarding(mac, stream["destination_ipv4"], vid, tuple(sorted(ports)), tuple(names))
            for (mac, vid), (ports, names, stream) in wanted.items()
        ]
        return rows, clashes

    def _rewritten(self, stream: Stream) -> dict[int, tuple[str, int]]:
        """By entry of the route, the address and VLAN of a member stream with active identification.
        IEEE 802.1CB-2017, 6.6."""
        redundancy = stream.get("redundancy", {})
        if (active := rewriting(redundancy)) is None:
            return {}
        key = active["destination_mac"], active["vid"]
        return {place: key for place, copy in enumerate(redundancy["copies"]) if copy}

    @cached_property
    def _relayed(self) -> list[dict[int, dict[tuple[str, int | None], set[int]]]]:
        """By node and stream, the egress ports by the address and VLAN that the bridge looks up: a member
        stream's, unless the bridge splits the stream or merges its member streams."""
        found: list[dict[int, dict[tuple[str, int | None], set[int]]]] = [{} for _ in self.nodes]
        for number, stream in enumerate(self.streams):
            route, rewritten = stream["route"], self._rewritten(stream)
            merges = stream["redundancy"]["merges"] if rewritten else []
            merging = {self._far(route[place]["port"]) for merge in merges for place in merge["from"]}
            for place, hop in enumerate(route):
                parent = hop.get("parent")
                if parent is None:
                    continue
                key: tuple[str, int | None] = stream["destination_mac"], stream.get("vid")
                node = self.ports[hop["port"]]["node"]
                if place in rewritten and parent in rewritten and node not in merging:
                    key = rewritten[parent]
                found[node].setdefault(number, {}).setdefault(key, set()).add(hop["port"])
        return found

    def _far(self, port: int) -> int:
        """The node at the other end of a port's link."""
        return self.ports[self.ports[port]["peer"]]["node"]

    def redundant(self) -> list[Stream]:
        """Streams with several paths."""
        return [stream for stream in self.streams if "redundancy" in stream]

    def policing(self, node: int) -> Policing | None:
        """The policing of a node's arriving frames."""
        for entry in self.document.get("policing", []):
            if entry["node"] == node:
                return entry
        return None


def file_name(name: str) -> str:
    """A name as part of a path: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".") or "_"
