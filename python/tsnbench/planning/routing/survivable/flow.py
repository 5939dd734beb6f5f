"""Flows of least cost through a network whose links and nodes may fail.

One unit of flow more than there are failures reaches the listener, and each part that may fail carries one
unit. By the theorem of Menger, this is possible if and only if one path is left whichever of these parts
fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

Vertex = tuple[int, bool]
"""The input (False) or output (True) side of a node; nodes that do not fail have the input side alone."""


class Link(NamedTuple):
    """One direction of a link."""

    port: int
    peer: int
    node: int
    to: int


class Arc(NamedTuple):
    """``part``: the part whose failure removes this arc, or None. ``link``: its index, or None within a
    node."""

    begin: int
    end: int
    part: str | None
    link: int | None


@dataclass
class Flow:
    """A flow of least cost; ``units`` and ``potentials`` by arc and by vertex."""

    units: list[int]
    potentials: list[int]


@dataclass
class Demand:
    """One listener, and failures that leave it a path.

    Args:
        links: all links that paths may take, from ``talker`` to ``listener``.
        failures: the number of parts that fail at once.
        failing_links: the names of links that may fail, by their lower port.
        failing_nodes: the names of nodes that may fail; neither the talker nor the listener.
    """

    links: Sequence[Link]
    talker: int
    listener: int
    failures: int
    failing_links: dict[int, str]
    failing_nodes: dict[int, str]
    arcs: list[Arc] = field(init=False)

    def __post_init__(self) -> None:
        self.arcs = []
        numbers: dict[Vertex, int] = {}

        def number(node: int, out: bool) -> int:
            return numbers.setdefault((node, out and node in self.failing_nodes), len(numbers))

        self.source, self.sink = number(self.talker, True), number(self.listener, False)
        for place, link in enumerate(self.links):
            if link.to == self.talker or link.node == self.listener:
                continue
            part = self.failing_links.get(min(link.port, link.peer))
            self.arcs.append(Arc(number(link.node, True), number(link.to, False), part, place))
        for node, name in self.failing_nodes.items():
            if (node, True) in numbers and (node, False) in numbers:
                self.arcs.append(Arc(numbers[node, False], numbers[node, True], name, None))
        self.vertices = len(numbers)

    @property
    def units(self) -> int:
        """The units of flow that leave a path after all failures."""
        return self.failures + 1

    @cached_property
    def leaving(self) -> list[list[int]]:
        """By vertex: its arcs, n forwards and -1 - n backwards."""
        found: list[list[int]] = [[] for _ in range(self.vertices)]
        for number, arc in enumerate(self.arcs):
            found[arc.begin].append(number)
            found[arc.end].append(-1 - number)
        return found

    def room(self, arc: Arc) -> int:
        """Most units of an arc."""
        return self.units if arc.part is None else 1

    def cheapest(self, costs: Sequence[int], without: Set[int]) -> Flow | None:
        """The flow of least cost without some links; None if there is none.

        Args:
            costs: the cost of a unit by arc, not negative.
            without: the links that it must not take.
        """
        flow = self._nothing()
        for _ in range(self.units):
            if not self._augment(flow, costs, without):
                return None
        return flow

    def cut(self, without: Iterable[int] = ()) -> list[str] | None:
        """The parts without which no path is left, those nearest to the talker; None if one always is."""
        flow, avoided = self._nothing(), set(without)
        costs = [0] * len(self.arcs)
        while sum(flow.units[number] for number in self.leaving[self.source] if number >= 0) < self.units:
            distances = self._distances(flow, costs, avoided)[0]
            if distances[self.sink] is None:
                crossed = [
                    arc.part
                    for arc in self.arcs
                    if arc.link not in avoided
                    and distances[arc.begin] is not None
                    and distances[arc.end] is None
                ]
                return [part for part in dict.fromkeys(crossed) if part is not None]
            self._augment(flow, costs, avoided)
        return None

    def _nothing(self) -> Flow:
        return Flow([0] * len(self.arcs), [0] * self.vertices)

    def _augment(self, flow: Flow, costs: Sequence[int], without: Set[int]) -> bool:
        """Adds a unit by the path of least cost in the residual network, if there is one."""
        distances, came = self._distances(flow, costs, without)
        last = distances[self.sink]
        if last is None:
            return False
        for vertex, distance in enumerate(distances):
            flow.potentials[vertex] += last if distance is None else min(distance, last)
        at = self.sink
        while at != self.source:
            step = came[at]
            number = step if step >= 0 else -1 - step
            arc = self.arcs[number]
            flow.units[number] += 1 if step >= 0 else -1
            at = arc.begin if step >= 0 else arc.end
        return True

    def _distances(
        self, flow: Flow, costs: Sequence[int], without: Set[int]
    ) -> tuple[list[int | None], list[int]]:
        """The reduced cost to each vertex (Dijkstra), and the arc by which it is reached."""
        distances: list[int | None] = [None] * self.vertices
        came = [0] * self.vertices
        left = [(0, self.source, 0)]
        while left:
            distance, vertex, step = heappop(left)
            if distances[vertex] is not None:
                continue
            distances[vertex], came[vertex] = distance, step
            for number in self.leaving[vertex]:
                arc = self.arcs[number if number >= 0 else -1 - number]
                if number >= 0:
                    if arc.link in without or flow.units[number] >= self.room(arc):
                        continue
                    to, price = arc.end, costs[number]
                else:
                    if flow.units[-1 - number] == 0:
                        continue
                    to, price = arc.begin, -costs[-1 - number]
                if distances[to] is None:
                    reduced = price + flow.potentials[vertex] - flow.potentials[to]
                    heappush(left, (distance + reduced, to, number))
        return distances, came

    def paths(self, flow: Flow) -> list[list[int]]:
        """The links of paths that make up a flow without circles, each path once."""
        units = [*flow.units]
        found = []
        for _ in range(self.units):
            path: list[int] = []
            at = self.source
            while at != self.sink:
                number = next(number for number in self.leaving[at] if number >= 0 and units[number])
                units[number] -= 1
                link = self.arcs[number].link
                if link is not None:
                    path.append(link)
                at = self.arcs[number].end
            if path not in found:
                found.append(path)
        return found
