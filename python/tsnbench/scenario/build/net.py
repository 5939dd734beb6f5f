"""Nodes and links while a scenario is read, and selectors of ports: ``a -> b``, ``a -> all``, ``a -> b#2``.

``*`` means the same as ``all`` but needs quotes in YAML; ``#`` must touch its node, otherwise YAML reads a
comment.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.catalogue.processing import processing as times_of
from tsnbench.scenario.kinds.values import in_a_row
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import Named, Reading, meant

_EVERY = ("all", "*")
_EVERYBODY = (*_EVERY, "any", "broadcast", "everyone")
"""What people write for all listeners."""
_NUMBERED = re.compile(r"(.*?)\s*#\s*([0-9]{1,5})")


class Net:
    """Nodes and links while a scenario is read.

    ``whole``: the network has no mistakes, so that other parts may rely on it; ``named``: all nodes are
    known.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.nodes: dict[str, model.Node] = {}
        self.links: list[model.Link] = []
        self.between: dict[tuple[str, str], list[int]] = {}
        self.neighbours: dict[str, list[str]] = {}
        self.aliases: dict[str, str] = {}
        self.shapers: list[tuple[str, model.Shaper]] = []
        self.queues = model.Queues()
        self.generated = 0
        self.alone: set[str] = set()
        """Nodes without a link that a mistake already names."""
        self.named = True
        self.whole = True

    def read_by(self, reading: Reading) -> Net:
        """The same network for another reading."""
        again = object.__new__(Net)
        again.__dict__.update(self.__dict__, reading=reading)
        return again

    def forwards(self, node: str) -> bool:
        return self.nodes[node].kind != "station"

    def node(self, name: Named, what: str = "a node of the network") -> str | None:
        """The node's name, aliases resolved; reports a mistake if there is none."""
        known = self.aliases.get(name, str(name)) if name not in self.nodes else str(name)
        if known in self.nodes:
            return known
        if self.named:
            row = re.sub("->|--", " ", name)
            hint = in_a_row(row) if all(part in self.nodes for part in re.split(r"[\s,;]+", row)) else ""
            if name.lower() in _EVERYBODY and name.path.rpartition(".")[2] == "to":
                stations = [one for one, node in self.nodes.items() if node.kind != "bridge"]
                hint = f"write the listeners: to: [{', '.join(stations[:8])}] without the talker"
            self.reading.problem(name.place, name.path, what, name, hint or meant(name, self.nodes))
        return None

    def ports(self, text: Named, bridges: bool = False) -> str | None:
        """The selector in the model's form; reports a mistake if it selects no port, or is ambiguous.

        ``bridges``: whether the selector may be ``bridges``, for every port of a bridge.
        """
        if text in _EVERY:
            return "*"
        if bridges and text == "bridges":
            return "bridges"
        sides = [side.strip() for side in text.split("->")]
        if len(sides) != 2 or not all(sides):
            every = ", all or bridges" if bridges else " or all"
            expected = f"a port: node1 -> node2, node1 -> all, all -> node2{every}"
            hint = "write node1 -> node2"
            if text in self.nodes:
                hint = f"write {text} -> all for every port of {text}"
            elif len(two := re.split(r"\s+-\s+|\s*(?:=>|→|/)\s*", text)) == 2 and all(
                one in self.nodes for one in two
            ):
                hint = f"write {two[0]} -> {two[1]}: a port is one end of a link"
            elif "--" in text:
                hint = f"write {text.replace('--', '->')}: a port is one end of a link"
            self.reading.problem(text.place, text.path, expected, text, hint)
            return None
        (a, first), (b, second) = (numbered(side) for side in sides)
        ends: list[str] = []
        for end in (a, b):
            found = "*" if end in _EVERY else self.node(Named.at(end, text.place, text.path))
            if found is None:
                return None
            ends.append(found)
        left, right = ends
        number = first if second is None else second
        if "*" in ends:
            if number is not None:
                self.reading.problem(text.place, text.path, "a number only between two named nodes", text)
                return None
            return "*" if left == right else f"{left} -> {right}"
        return self._one_port(text, left, right, number) if self.whole else None

    def _one_port(self, text: Named, left: str, right: str, number: int | None) -> str | None:
        """A port between two nodes, with its number where there are parallel links."""
        parallel = self.parallel(left, right)
        expected = hint = ""
        if parallel == 0:
            if not self.alone.isdisjoint((left, right)):
                return None  # a node without a link is a mistake that is already reported
            near = ", ".join(self.neighbours[left][:8]) or "nothing"
            expected, hint = "a port of the network", f"{left} is linked to {near}"
        elif number is None and parallel > 1:
            choices = " or ".join(f"{left} -> {right}#{n}" for n in range(1, min(parallel, 3) + 1))
            expected = f"the number of one of {parallel} parallel links"
            hint = f"write {choices} (no space before #: it would begin a comment)"
        elif number is not None and not 1 <= number <= parallel:
            several = parallel > 1
            expected = f"a link number from 1 to {parallel}" if several else "no number, there is one link"
        if expected:
            self.reading.problem(text.place, text.path, expected, text, hint)
            return None
        return f"{left} -> {right} #{number}" if parallel > 1 else f"{left} -> {right}"

    def parallel(self, a: str, b: str) -> int:
        """The number of links between two nodes."""
        return len(self.between.get((a, b), ()))

    def add_node(
        self,
        name: str,
        kind: Any,
        processing: Any,
        place: Place,
        path: str,
        cut_through: int | None = None,
        buffer: Any = None,
        learning: int | None = None,
        device: model.Device | None = None,
    ) -> None:
        if name == "all":
            hint = "in selectors of ports, all means every node"
            self.reading.problem(place, path, "another name than all", name, hint)
        if name in self.nodes:
            hint = f"{name} is a {self.nodes[name].kind} already; give the other one another name"
            self.reading.problem(place, path, "a name of its own for each node", f"{name} again", hint)
            return
        least, jitter = times_of(self.reading, processing or 0)
        if device is not None and processing is None and kind != "station":
            least, jitter = device.processing or 0, device.processing_jitter
        own = None if buffer is None else buffer.part(self)
        self.nodes[name] = model.Node(
            kind=kind,
            processing=least,
            cut_through=cut_through,
            processing_jitter=jitter,
            buffer=own,
            learning=learning,
            device=device,
        )
        self.neighbours[name] = []

    def add_link(self, link: model.Link) -> None:
        number = len(self.links)
        self.links.append(link)
        for a, b in ((link.a, link.b), (link.b, link.a)):
            if (a, b) not in self.between:
                self.neighbours[a].append(b)
            self.between.setdefault((a, b), []).append(number)

    def near(self, node: str, partner: str) -> str:
        """A possible peer for a node without a link: the first bridge that reaches its partner."""
        forwarding = [other for other in self.nodes if other != node and self.forwards(other)]
        return next((other for other in forwarding if self.reaches(partner, other)), partner)

    def bridge_between(self, talker: str, listener: str) -> tuple[str, str] | None:
        """Two nodes between which a link would connect both; None if there are none."""
        forwarding = [
            next((near for near in [node, *self.neighbours[node]] if self.forwards(near)), None)
            for node in (talker, listener)
        ]
        a, b = forwarding
        return None if a is None or b is None else (a, b)

    def ready(self) -> Net:
        """The network with what every stream asks for: copies of it do not look for that again."""
        vars(self).update(ends=self.ends, islands=self.islands, _near=self._near)
        return self

    def reaches(self, talker: str, listener: str) -> bool:
        """Whether there is a path; only bridges and hosts forward."""
        return listener in self.neighbours[talker] or not self._islands(talker).isdisjoint(
            self._islands(listener)
        )

    def _islands(self, node: str) -> set[str]:
        """The islands of forwarding nodes that a node belongs to or touches, each by its first node."""
        found = self._near.get(node)
        if found is None:
            near = [node] if self.forwards(node) else self.neighbours[node]
            found = self._near[node] = {self.islands[other] for other in near if self.forwards(other)}
        return found

    @cached_property
    def ends(self) -> dict[str, str]:
        """The names of linked stations and hosts, once the network is built."""
        kinds = self.nodes.items()
        return {name: name for name, node in kinds if node.kind != "bridge" and self.neighbours[name]}

    @cached_property
    def _near(self) -> dict[str, set[str]]:
        """The stored result of :meth:`_islands`, which every stream needs."""
        return {}

    @cached_property
    def islands(self) -> dict[str, str]:
        """Forwarding nodes that are linked with each other, by the first node of each group."""
        islands: dict[str, str] = {}
        for first in self.nodes:
            queue = [first] if self.forwards(first) and first not in islands else []
            while queue:
                node = queue.pop()
                if node not in islands:
                    islands[node] = first
                    queue += [n for n in self.neighbours[node] if self.forwards(n) and n not in islands]
        return islands


def numbered(text: str) -> tuple[str, int | None]:
    """``dut#2`` -> (``dut``, 2); ``dut`` -> (``dut``, None)."""
    found = _NUMBERED.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, None)
