"""The forwarding tables of bridges: INET looks up a VLAN and an address.

Streams with equal VLAN and address but different paths get VLANs of their own: the length of the tag is
unchanged. Member streams (802.1CB) also get VLANs of their own, from where they are made to the listener.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench.exports.inet.layout import Layout
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.plan.streams.paths import entries_to, parents_of

if TYPE_CHECKING:
    from tsnbench.plan.types import Destination, Stream

LARGEST_VLAN = 4094
Hops = dict[int, frozenset[int]]
"""By node that switches: numbers of its interfaces by which a frame leaves."""


@dataclass(frozen=True)
class Copies:
    """A stream that is split at one node and merged at another one."""

    split: int
    merge: int
    vlans: tuple[int, ...]
    """The VLAN of each member stream."""


@dataclass
class Path:
    """A stream in its exported form."""

    stream: Stream
    vlan: int | None
    """None: untagged."""
    address: str
    listeners: list[Destination]
    copies: Copies | None = None

    @property
    def group(self) -> bool:
        """Whether several listeners share an address."""
        return len(self.listeners) > 1

    @property
    def name(self) -> str:
        return str(self.stream["name"])

    def members(self) -> list[tuple[str, int]]:
        """Name and VLAN of each member stream."""
        vlans = self.copies.vlans if self.copies else ()
        return [(f"{self.name}.copy{number}", vlan) for number, vlan in enumerate(vlans, start=1)]


@dataclass
class Paths:
    """All exported streams, and every bridge's table."""

    network: Network
    layout: Layout
    notes: Notes
    streams: list[Path] = field(default_factory=list)
    tables: dict[tuple[int, str], Hops] = field(default_factory=dict)
    """The tables by VLAN (0: none) and address."""
    users: dict[tuple[int, int], list[Stream]] = field(default_factory=dict)
    """Streams by port and class."""

    def __post_init__(self) -> None:
        self._used = {stream["vid"] for stream in self.network.streams if "vid" in stream}
        for stream in self.network.streams:
            if stream["stop_ns"] <= stream["start_ns"]:
                self.notes.lost("streams that send nothing", "they stop before they start", stream["name"])
                continue
            self.streams.append(self._path(stream))
            for hop in stream["route"]:
                number = self.network.ports[hop["port"]]["pcp_to_class"][stream["pcp"]]
                self.users.setdefault((hop["port"], number), []).append(stream)

    def passes(self, node: int) -> bool:
        """Whether any frame arrives at one port of a node and leaves by another one."""
        return any(
            hop.get("parent") is not None and self.network.ports[hop["port"]]["node"] == node
            for path in self.streams
            for hop in path.stream["route"]
        )

    def rows(self, node: int) -> Iterator[tuple[str, int, int]]:
        """Address, VLAN and interface of a bridge's table."""
        for (vlan, address), hops in self.tables.items():
            for interface in sorted(hops.get(node, ())):
                yield address, vlan, interface

    def _path(self, stream: Stream) -> Path:
        listeners = stream["listeners"]
        copies = self._copies(stream) if "redundancy" in stream else None
        only = "redundancy" in stream and copies is None
        places = self._tree(stream) if only or "redundancy" not in stream else range(len(stream["route"]))
        address = stream["destination_mac"] if len(listeners) > 1 else self.layout.mac(listeners[0]["node"])
        path = Path(stream, stream.get("vid"), address, listeners, copies)
        if copies is None:
            path.vlan = self._place(path, self._hops(stream, places))
            return path
        before = [place for place in places if not stream["redundancy"]["copies"][place]]
        merged = {place for merge in stream["redundancy"]["merges"] for place in merge["from"]}
        behind = self._behind(stream, merged)
        path.vlan = self._place(path, self._hops(stream, [p for p in before if p not in behind], ends=False))
        for copy, vlan in enumerate(copies.vlans, start=1):
            own = [p for p in places if stream["redundancy"]["copies"][p] == copy or p in behind]
            self.tables[vlan, address] = self._hops(stream, own)
        return path

    def _place(self, path: Path, hops: Hops) -> int | None:
        """A VLAN in which a path has no conflict with other paths; its rows are added."""
        key = (path.vlan or 0, path.address)
        have = self.tables.get(key, {})
        if all(have.get(node, out) == out for node, out in hops.items()):
            self.tables[key] = {**have, **hops}
            return path.vlan
        if path.vlan is None:
            self.notes.lost(
                "paths of untagged streams",
                "INET's bridges distinguish streams to one address only by their VLANs",
                path.name,
            )
            return None
        vlan = self._fresh()
        self.notes.warn(
            "VLANs of streams to one address whose paths part",
            "INET's bridges look up VLAN and address; written: VLANs of their own",
            f"{path.name}: {vlan} for {path.vlan}",
            cure="a `vlan` of its own for each of them",
        )
        self.tables[vlan, path.address] = dict(hops)
        return vlan

    def _fresh(self) -> int:
        vlan = next(vlan for vlan in range(LARGEST_VLAN, 0, -1) if vlan not in self._used)
        self._used.add(vlan)
        return vlan

    def _tree(self, stream: Stream) -> list[int]:
        """Entries of a route that lead to its listeners."""
        found: set[int] = set()
        for listener in stream["listeners"]:
            found |= set(entries_to(parents_of(stream), listener["route"]))
        return sorted(found)

    def _hops(self, stream: Stream, places: Iterable[int], ends: bool = True) -> Hops:
        """``ends``: with the path from a pair's switch to its applications."""
        found: dict[int, set[int]] = {}
        for place in places:
            port = stream["route"][place]["port"]
            node = self.network.ports[port]["node"]
            if self.layout.switches(node):
                found.setdefault(node, set()).add(self.network.place(port))
        for listener in stream["listeners"] if ends else []:
            node = listener["node"]
            if node in self.layout.hosts:
                found.setdefault(node, set()).add(self.layout.inner(node))
        return {node: frozenset(out) for node, out in found.items()}

    def _behind(self, stream: Stream, merged: set[int]) -> set[int]:
        """Entries after the merge point."""
        found: set[int] = set()
        for place, hop in enumerate(stream["route"]):
            if hop.get("parent") in merged | found and not stream["redundancy"]["copies"][place]:
                found.add(place)
        return found

    def _copies(self, stream: Stream) -> Copies | None:
        """The member streams; None if INET's splitter and merger do not support them."""
        own = stream["redundancy"]
        if "copies" not in own or "merges" not in own:
            return None
        numbers, route = own["copies"], stream["route"]
        ports = self.network.ports
        firsts = [
            place
            for place, hop in enumerate(route)
            if numbers[place] and (hop.get("parent") is None or not numbers[hop["parent"]])
        ]
        split = {ports[route[place]["port"]]["node"] for place in firsts}
        merges = own["merges"]
        simple = (
            len(split) == 1
            and len(merges) == 1
            and len(stream["listeners"]) == 1
            and "vid" in stream
            and "active" not in own
            # Active identification gives member streams addresses of their own.
            and isinstance(own["recovery"]["identification"], str)
            and sorted(numbers[place] for place in firsts) == list(range(1, len(firsts) + 1))
            and sorted(numbers[place] for place in merges[0]["from"]) == list(range(1, len(firsts) + 1))
        )
        if not simple:
            return None
        (at,) = split
        meets = {ports[ports[route[place]["port"]]["peer"]]["node"] for place in merges[0]["from"]}
        if len(meets) != 1 or not self.layout.switches(at) or not self.layout.switches(min(meets)):
            return None
        return Copies(at, min(meets), tuple(self._fresh() for _ in firsts))
