"""The nodes of an output-port network, which names none: before and behind each server.

A server behind another one is a port of the node to which the other one sends. So the end of the first and
the beginning of the second become one node, unless a link would then lead from a node to itself, two links
would have equal ends, or a path would pass a node twice. There a link without a server joins the two, as fast
as links can be.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tsnbench.errors import ContentError
from tsnbench.exports.saihu.model import MOST_STEPS, Model, Server
from tsnbench.exports.saihu.output_ports import shown

_ENDS = re.compile(r"(\S+) -> (\S+?)(?:#\d+)?(?: class \d)?")
"""The name of a port in exports of tsnbench."""
_PORT = re.compile(r"(.+)-[a-z]{0,4}\d+")
"""The name of a port in Saihu's examples: s0-o1."""


@dataclass
class Placed:
    """A network whose servers have nodes at their ends."""

    servers: list[Server]
    ends: list[tuple[str, str]]
    """The nodes before and behind each server, by names that are no names of a scenario yet."""
    paths: list[tuple[tuple[int, ...], ...]]
    """The paths of each flow."""


def place(model: Model) -> Placed:
    """The servers of a model with their nodes, and links that join them where it takes some.

    Raises:
        ContentError: the paths are too long.
    """
    steps = sum(len(path) ** 2 for flow in model.flows for path in flow.paths)
    if steps > MOST_STEPS:
        raise ContentError(
            f"{model.file}: paths: expected at most {MOST_STEPS} pairs of servers on all paths, found {steps}"
        )
    paths = _used(model)
    if model.ends is not None:
        return Placed(model.servers, model.ends, paths)
    named = [_ENDS.fullmatch(server.name) for server in model.servers]
    ends = [(found[1], found[2]) for found in named if found is not None]
    if len(ends) == len(named) and _fits(ends, paths):
        return Placed(model.servers, ends, paths)
    return _joined(model, paths)


def _used(model: Model) -> list[tuple[tuple[int, ...], ...]]:
    """The paths of all flows; servers without a flow leave the model."""
    passed = {server for flow in model.flows for path in flow.paths for server in path}
    for number, server in enumerate(model.servers):
        if number not in passed:
            model.lost.add("servers without a flow", shown(server.name))
    kept = sorted(passed)
    model.servers = [model.servers[number] for number in kept]
    numbers = {number: place for place, number in enumerate(kept)}
    return [tuple(tuple(numbers[server] for server in path) for path in flow.paths) for flow in model.flows]


def _fits(ends: Sequence[tuple[str, str]], paths: Sequence[Sequence[Sequence[int]]]) -> bool:
    """Whether the names of the servers say a network in which all paths can be."""
    if len(set(ends)) < len(ends) or any(a == b for a, b in ends):
        return False
    for path in (path for own in paths for path in own):
        passed = [ends[path[0]][0], *(ends[server][1] for server in path)]
        joined = all(ends[one][1] == ends[other][0] for one, other in pairwise(path))
        if not joined or len(set(passed)) < len(passed):
            return False
    return True


class _Ends:
    """The two ends of every server, and which of them are one node: number 2 s is before server s, 2 s + 1
    behind it."""

    def __init__(self, count: int, paths: Sequence[Sequence[Sequence[int]]]) -> None:
        self.parent = list(range(2 * count))
        self.members = [[end] for end in range(2 * count)]
        self.apart: list[set[int]] = [{end ^ 1} for end in range(2 * count)]
        """By node: ends that have to be at other nodes."""
        for path in (path for own in paths for path in own):
            passed = [end for server in path for end in (2 * server, 2 * server + 1)]
            for place, end in enumerate(passed):
                # Only the neighbours behind one server and before the next one may be one node.
                near = place + (1 if place % 2 else -1)
                self.apart[end] |= {other for at, other in enumerate(passed) if at not in (place, near)}

    def node(self, end: int) -> int:
        while self.parent[end] != end:
            self.parent[end] = self.parent[self.parent[end]]
            end = self.parent[end]
        return end

    def join(self, one: int, other: int) -> None:
        """Makes two ends one node, if they may be."""
        a, b = self.node(one), self.node(other)
        if a == b:
            return
        if len(self.members[a]) < len(self.members[b]):
            a, b = b, a
        if any(self.node(end) == a for end in self.apart[b]) or self._parallel(a, b):
            return
        self.parent[b] = a
        self.members[a] += self.members[b]
        self.apart[a] |= self.apart[b]

    def _parallel(self, a: int, b: int) -> bool:
        """Whether two servers would begin at one node and end at another one."""
        there = {(end & 1, self.node(end ^ 1)) for end in self.members[a]}
        return any((end & 1, self.node(end ^ 1)) in there for end in self.members[b])


def _joined(model: Model, paths: Sequence[tuple[tuple[int, ...], ...]]) -> Placed:
    ends = _Ends(len(model.servers), paths)
    steps = list(dict.fromkeys(step for own in paths for path in own for step in pairwise(path)))
    for one, other in steps:
        ends.join(2 * one + 1, 2 * other)
    names = _names(model, ends)
    servers = list(model.servers)
    found = [(names[ends.node(2 * one)], names[ends.node(2 * one + 1)]) for one in range(len(servers))]
    joints: dict[tuple[str, str], list[int]] = {}
    taken = set(found)
    for one, other in steps:
        pair = (found[one][1], found[other][0])
        if pair[0] == pair[1] or pair in joints:
            continue
        # Where a server already leads from one to the other, a node is between them.
        between = [f"{pair[0]}.to.{pair[1]}"] if pair in taken else []
        joints[pair] = []
        for ends_of in pairwise([pair[0], *between, pair[1]]):
            joints[pair].append(len(servers))
            servers.append(Server(" -> ".join(ends_of), servers[other].where, None, Fraction(0), None))
            found.append(ends_of)
    if joints:
        model.decided.add(
            "servers joined by links of 1 Tbit/s, as they cannot be ports of one node",
            f"{len(joints)}, the first from {shown(' to '.join(next(iter(joints))))}",
        )
    return Placed(servers, found, [tuple(_with_joints(path, found, joints) for path in own) for own in paths])


def _with_joints(
    path: Sequence[int], ends: Sequence[tuple[str, str]], joints: dict[tuple[str, str], list[int]]
) -> tuple[int, ...]:
    passed = [path[0]]
    for one, other in pairwise(path):
        if ends[one][1] != ends[other][0]:
            passed += joints[ends[one][1], ends[other][0]]
        passed.append(other)
    return tuple(passed)


def _names(model: Model, ends: _Ends) -> dict[int, str]:
    """A name for every node: of the first server that begins there, else of the first that ends there."""
    beginning: dict[int, str] = {}
    behind: dict[int, str] = {}
    for number, server in enumerate(model.servers):
        own, far = _proposed(server.name)
        beginning.setdefault(ends.node(2 * number), own)
        behind.setdefault(ends.node(2 * number + 1), far)
    found: dict[int, str] = {}
    taken: defaultdict[str, int] = defaultdict(int)
    for node, name in _each(beginning, behind):
        taken[name] += 1
        found[node] = name if taken[name] == 1 else f"{name}.{taken[name]}"
    return found


def _each(beginning: dict[int, str], behind: dict[int, str]) -> Iterator[tuple[int, str]]:
    yield from beginning.items()
    yield from ((node, name) for node, name in behind.items() if node not in beginning)


def _proposed(server: str) -> tuple[str, str]:
    """Names for the nodes before and behind a server."""
    if found := _ENDS.fullmatch(server):
        return found[1], found[2]
    port = _PORT.fullmatch(server)
    return port[1] if port else server, f"end-{server}"
