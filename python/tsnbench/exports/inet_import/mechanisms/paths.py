"""Paths by address tables, and member streams by splitters and mergers: followed hop by hop as INET does."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsnbench.exports.inet_import.language.expressions import Value
from tsnbench.exports.inet_import.mechanisms.filters import matches
from tsnbench.exports.inet_import.model import Model, Stream
from tsnbench.exports.inet_import.parameters import of_row
from tsnbench.exports.inet_import.topology import Link
from tsnbench.exports.scenario_text import flow, listed

MOST_PATHS = 64
MOST_HOPS = 64


@dataclass
class _Walk:
    """The paths that are found, and the nodes where member streams merge."""

    model: Model
    manual: dict[str, list[dict[str, Value]]]
    """The address table of each node."""
    stream: Stream
    paths: list[list[str]] = field(default_factory=list)
    hops: list[list[str]] = field(default_factory=list)
    """The same paths in the words of a scenario, without the talker."""
    merges: dict[str, None] = field(default_factory=dict)
    split: bool = False


def paths(model: Model) -> None:
    """Adds ``via`` or ``frer`` to the streams whose paths the model writes down."""
    manual = {node: _table(model, node) for node in model.topology.nodes}
    if not any(manual.values()):
        return
    known = {one.address for one in model.streams}.union(*(_addresses(model, node) for node in manual))
    for node, rows in manual.items():
        others = {str(row.get("address")) for row in rows} - known - set(model.topology.folded)
        if others:
            setting = model.parameters.setting(model.path(node, "macTable.forwardingTable"))
            model.lose_setting(f"addresses that no node has: {', '.join(sorted(others))}", setting)
    for stream in model.streams:
        if not stream.listeners or "frer" in stream.keys:
            continue
        walk = _Walk(model, manual, stream)
        _from_talker(walk)
        if not walk.paths:
            continue
        model.passed |= {node for path in walk.paths for node in path[1:-1]}
        if len(stream.listeners) > 1:
            _group(walk)
        elif walk.split and len(walk.paths) > 1:
            _members(walk)
        else:
            _via(walk)


def _table(model: Model, node: str) -> list[dict[str, Value]]:
    return model.parameters.rows(model.path(node, "macTable.forwardingTable"))


def _group(walk: _Walk) -> None:
    """A scenario's tree to several listeners has the shortest paths; lists address tables with other ones."""
    model, address = walk.model, walk.stream.address
    if any(model.topology.shortest(path[0], path[-1]) != (path, True) for path in walk.paths):
        tables = walk.manual.items()
        node = next(node for node, rows in tables if any(row.get("address") == address for row in rows))
        setting = model.parameters.setting(model.path(node, "macTable.forwardingTable"))
        model.lose_setting(f"paths to the group {address}; written: the shortest ones", setting)


def _via(walk: _Walk) -> None:
    path, hops = walk.paths[0], walk.hops[0]
    shortest, only = walk.model.topology.shortest(path[0], path[-1])
    if not only or shortest != path or any("#" in one for one in hops):
        walk.stream.keys["via"] = listed(hops if "#" in hops[-1] else hops[:-1])


def _members(walk: _Walk) -> None:
    model, stream = walk.model, walk.stream
    written = [listed(hops if "#" in hops[-1] else hops[:-1]) for hops in walk.hops]
    keys: dict[str, object] = {"paths": listed(written)}
    merges = list(walk.merges)
    if merges:
        names = [model.names[node] for node in merges]
        keys["at"] = names[0] if len(names) == 1 else listed(names)
    # The window of INET's merger.
    keys["history"] = 10
    stream.keys["frer"] = flow(keys)


def _from_talker(walk: _Walk) -> None:
    model, stream = walk.model, walk.stream
    name = stream.identified
    if model.topology.nodes[stream.talker].apps:
        # The device of a pair is before its switch, which looks up the path.
        _forward(walk, ([stream.talker], []), -1, stream.vlan or 0)
        return
    for out in _split(walk, stream.talker, name):
        tag = _encoded(model, stream.talker, out)
        vlan = tag if tag is not None else (stream.vlan or 0)
        for number in model.topology.nodes[stream.talker].links:
            _step(walk, ([stream.talker], []), number, vlan)


def _split(walk: _Walk, node: str, name: str) -> list[str]:
    """The streams that leave a node in place of one that reaches it."""
    model = walk.model
    relay = f"{model.path(node, 'bridging')}.streamRelay"
    merged = model.parameters.get(f"{relay}.merger.mapping")
    if isinstance(merged, dict) and name in merged:
        walk.merges[node] = None
        name = str(merged[name] or "")
    splits = model.parameters.get(f"{relay}.splitter.mapping")
    if isinstance(splits, dict) and isinstance(splits.get(name), list):
        walk.split = True
        parts = splits[name]
        return [str(one) for one in parts] if isinstance(parts, list) else [name]
    return [name]


def _encoded(model: Model, node: str, name: str) -> int | None:
    """The VLAN that a node's encoder gives a stream."""
    for row in model.parameters.rows(f"{model.path(node, 'bridging')}.streamCoder.encoder.mapping"):
        if row.get("stream") == name and name:
            vlan = of_row(row, "vlan")
            return None if vlan is None else int(vlan)
    return None


def _step(walk: _Walk, so_far: tuple[list[str], list[str]], number: int, vlan: int) -> None:
    """A frame leaves the last node over an interface; ``so_far``: nodes, and hops."""
    model = walk.model
    before, hops = so_far
    link = model.topology.nodes[before[-1]].links.get(number)
    if link is None or len(walk.paths) >= MOST_PATHS or len(before) > MOST_HOPS:
        return
    node, arrived = link.other(before[-1])
    path, hops = [*before, node], [*hops, _hop(model, before[-1], node, link)]
    if node in before:
        return
    name = _decoded(model, node, arrived, vlan, walk.stream)
    if node in walk.stream.listeners:
        _split(walk, node, name)
        walk.paths.append(path)
        walk.hops.append(hops)
        return
    if model.topology.nodes[node].kind == "bridge":
        _forward(walk, (path, hops), arrived, vlan)


def _hop(model: Model, begin: str, end: str, link: Link) -> str:
    """A node, with the number of the link over which it is reached if there are several."""
    same = [one for one in model.topology.links if {node for node, _ in one.ends} == {begin, end}]
    number = f"#{same.index(link) + 1}" if len(same) > 1 else ""
    return f"{model.names[end]}{number}"


def _forward(walk: _Walk, so_far: tuple[list[str], list[str]], arrived: int, vlan: int) -> None:
    """The last node of a path passes a frame on."""
    model = walk.model
    node = so_far[0][-1]
    name = _decoded(model, node, arrived, vlan, walk.stream)
    for out in _split(walk, node, name):
        tag = _encoded(model, node, out)
        leaves = vlan if tag is None else tag
        for following in _leaving(model, walk.manual[node], walk.stream, leaves):
            if following != arrived:
                _step(walk, so_far, following, leaves)


def _decoded(model: Model, node: str, arrived: int, vlan: int, stream: Stream) -> str:
    """The name that a bridge gives a stream which arrives: by its decoder, then by its identification."""
    bridging = model.path(node, "bridging")
    found = ""
    for row in model.parameters.rows(f"{bridging}.streamCoder.decoder.mapping"):
        given = of_row(row, "vlan")
        if (given is None or given == vlan) and row.get("interface") in (None, f"eth{arrived}"):
            pcp = of_row(row, "pcp")
            if (pcp is None or pcp == stream.pcp) and matches(row.get("packetFilter"), stream) is not False:
                found = str(row.get("stream") or "")
                break
    for row in model.parameters.rows(f"{bridging}.streamIdentifier.identifier.mapping"):
        if matches(row.get("packetFilter"), stream):
            return str(row.get("stream") or "")
    return found


def _addresses(model: Model, node: str) -> set[str]:
    """The name of a node, and the addresses that its interfaces are given."""
    numbers = (0, *model.topology.nodes[node].links)
    paths = [path(node, f"eth[{number}].address") for number in numbers for path in (model.talks, model.path)]
    return {node, *map(model.parameters.text, paths)}


def _leaving(model: Model, rows: list[dict[str, Value]], stream: Stream, vlan: int) -> list[int]:
    """Interfaces that an address table names for a stream."""
    addresses = {stream.address}
    if len(stream.listeners) == 1:
        addresses |= _addresses(model, stream.listeners[0])
    addresses -= {""}
    found = []
    for row in rows:
        given = of_row(row, "vlan")
        interface = str(row.get("interface") or "")
        if row.get("address") in addresses and (given is None or given == vlan) and interface[3:].isdecimal():
            found.append(int(interface[3:]))
    return found
