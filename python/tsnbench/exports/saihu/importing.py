"""A network of Saihu as a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from tsnbench.exports import scenario_text
from tsnbench.exports.saihu import output_ports, physical
from tsnbench.exports.saihu.nodes import Placed, place
from tsnbench.exports.saihu.scaling import SMALLEST, Scaled, scaled
from tsnbench.exports.scenario_text import flow, listed, rate, valid_name
from tsnbench.quantities import exact

LARGEST_FILE = 1 << 26
_SHORTEST_NS, _LONGEST_NS = 10**6, 10**9


def scenario(file: str, text: str) -> str:
    """The scenario of a network of Saihu.

    Args:
        file: the name of the file, for messages.
        text: an output-port network in JSON, or a physical network in XML.

    Raises:
        ContentError: with the line, what was expected and what was found.
    """
    read = physical.read if text.lstrip()[:1] == "<" else output_ports.read
    whole = scaled(read(output_ports.shown(file), text))
    placed = place(whole.model)
    nodes = _named((name for pair in placed.ends for name in pair), "node")
    streams = list(_streams(whole, placed, nodes))
    _tell_packets(whole)
    _tell_overload(whole, placed)
    head = {
        "name": _named([whole.model.name], "saihu")[whole.model.name],
        "title": json.dumps(whole.model.name, ensure_ascii=False),
        "duration": exact(_duration_ns(whole)),
    }
    rest = ["streams:", *streams]
    shapers = list(_shapers(whole, placed, nodes))
    if shapers:
        rest += ["", "shapers:", *shapers]
    return scenario_text.text(
        _source(whole), head, list(_network(whole, placed, nodes)), rest, whole.model.lost
    )


def _source(whole: Scaled) -> list[str]:
    """The comments about the origin."""
    lines = [
        f"From {whole.model.file}, a network of Saihu. Its links and servers have no queue limits.",
        "All frames of a stream have one size: its bounds need not hold for smaller packets.",
    ]
    if whole.power:
        # The times of the network stay as they are.
        by = f"{10**whole.power:,} times" if whole.power > 0 else f"1/{10**-whole.power:,} of"
        lines.append(f"All data (bursts, packets, rates) are {by} the file's, so that packets are frames.")
    decided = whole.model.decided
    return [*lines, *(["Decided:", *decided.lines()] if decided.found else [])]


def _tell_packets(whole: Scaled) -> None:
    """Notes the sizes of frames that do not follow from the file alone."""
    model = whole.model
    if not model.packetizer:
        model.decided.add(
            "bridges store whole frames, where analyses without a packetizer pass bits on at once",
            f"{len(model.flows)} flows",
        )
    for one in model.flows:
        if whole.padded and whole.frame(one) > whole.packet(one):
            model.decided.add(
                f"packets below {SMALLEST} octets on the wire are frames of {SMALLEST}, which bursts hold",
                output_ports.shown(one.name),
            )
        if one.largest is None:
            what = "as large as the burst" if model.packetizer else "the smallest of Ethernet"
            model.decided.add(f"packets without a length are {what}", output_ports.shown(one.name))
        elif one.largest > one.burst:
            what = (
                "bursts below the largest packet hold one"
                if model.packetizer
                else "packets that exceed their burst have its length"
            )
            model.decided.add(what, output_ports.shown(one.name))


def _tell_overload(whole: Scaled, placed: Placed) -> None:
    """Notes servers whose delays have no bound in the file, but one by the queue limit of the scenario."""
    arrivals = [0] * len(placed.servers)
    for one, paths in zip(whole.model.flows, placed.paths, strict=True):
        for number in {server for path in paths for server in path}:
            arrivals[number] += whole.flow_rate(one)
    for server, bps in zip(placed.servers, arrivals, strict=True):
        served = whole.service(server)
        if bps > (whole.link(server) if served is None else served[0]):
            whole.model.decided.add(
                "bounds come from a queue limit where flows exceed the rate of their server",
                output_ports.shown(server.name),
            )


def _duration_ns(whole: Scaled) -> int:
    """Twice the longest time in which a bucket fills, from 1 ms to 1 s."""
    longest = max(whole.burst(one) * 8 * 10**9 // whole.flow_rate(one) for one in whole.model.flows)
    return min(max(2 * longest, _SHORTEST_NS), _LONGEST_NS)


def _named(written: Iterable[str], kind: str) -> dict[str, str]:
    """A name of a scenario for each name of the file."""
    taken: set[str] = set()
    return {name: valid_name(name, taken, kind) for name in dict.fromkeys(written)}


def _network(whole: Scaled, placed: Placed, nodes: dict[str, str]) -> Iterator[str]:
    """The nodes by what they do, and the links."""
    ends: set[str] = set()
    forwards: set[str] = set()
    for path in (path for own in placed.paths for path in own):
        ends |= {placed.ends[path[0]][0], placed.ends[path[-1]][1]}
        forwards |= {placed.ends[server][1] for server in path[:-1]}
    of = {
        "stations": [own for name, own in nodes.items() if name in ends - forwards],
        "bridges": [own for name, own in nodes.items() if name not in ends],
        "hosts": [own for name, own in nodes.items() if name in ends & forwards],
    }
    yield from (f"{kind}: {listed(names)}" for kind, names in of.items() if names)
    yield "queues: {classes: {0: 0}, limit-frames: 16777216}"
    yield "links:"
    rates = {pair: whole.link(server) for pair, server in zip(placed.ends, placed.servers, strict=True)}
    written: set[tuple[str, str]] = set()
    for pair, bps in rates.items():
        if pair[::-1] in written:
            continue
        written.add(pair)
        back = rates.get(pair[::-1], bps)
        between = " -- ".join(nodes[name] for name in pair)
        link = {
            "rate": rate(bps),
            "between": between,
            "back": flow({"rate": rate(back)}) if back != bps else None,
        }
        yield f"  - {flow(link)}"


def _shapers(whole: Scaled, placed: Placed, nodes: dict[str, str]) -> Iterator[str]:
    for pair, server in zip(placed.ends, placed.servers, strict=True):
        served = whole.service(server)
        if served is not None:
            keys = {"rate": rate(served[0]), "latency": exact(served[1]) if served[1] else None}
            yield f"  {nodes[pair[0]]} -> {nodes[pair[1]]}: {{server: {flow(keys)}}}"


def _streams(whole: Scaled, placed: Placed, nodes: dict[str, str]) -> Iterator[str]:
    names = _named((one.name for one in whole.model.flows), "flow")
    # Without a circle there is one path between two nodes, and the planner finds it.
    circles = _has_circle(placed)
    for one, paths in zip(whole.model.flows, placed.paths, strict=True):
        ends = [[placed.ends[path[0]][0], *(placed.ends[server][1] for server in path)] for path in paths]
        talkers = {path[0] for path in ends}
        keys = {
            "arrivals": flow({"burst": f"{whole.burst(one)} B", "rate": rate(whole.flow_rate(one))}),
            "phy": f"{whole.frame(one)} B",
        }
        tree = not circles and len({path[-1] for path in ends}) == len(ends) and len(talkers) == 1
        if tree:
            to = [nodes[path[-1]] for path in ends]
            listener = to[0] if len(to) == 1 else listed(to)
            yield f"  {names[one.name]}: {flow({'from': nodes[ends[0][0]], 'to': listener, **keys})}"
            continue
        if len(ends) > 1:
            whole.model.decided.add(
                "flows with several paths: one stream for each", output_ports.shown(one.name)
            )
        for number, path in enumerate(ends):
            via = listed(nodes[name] for name in path[1:-1]) if len(path) > 2 else None
            name = names[one.name] + (f"+{number}" if number else "")
            yield f"  {name}: {flow({'from': nodes[path[0]], 'to': nodes[path[-1]], 'via': via, **keys})}"


def _has_circle(placed: Placed) -> bool:
    """Whether some two nodes have more than one path between them."""
    of: dict[str, str] = {}

    def root(node: str) -> str:
        while (up := of.get(node, node)) != node:
            of[node] = node = of.get(up, up)
        return node

    for one, other in {frozenset(pair): pair for pair in placed.ends}.values():
        a, b = root(one), root(other)
        if a == b:
            return True
        of[a] = b
    return False
