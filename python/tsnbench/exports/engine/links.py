"""The cables between interfaces, and the paths of flows over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tsnbench.errors import ContentError
from tsnbench.exports.engine.files import NETWORK
from tsnbench.foreign import shown

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

End = tuple[str, str]
"""A node, and the number of its interface."""


@dataclass
class Links:
    """The cables between interfaces, as the flows name them."""

    cables: dict[tuple[End, End], str] = field(default_factory=dict)
    """Each cable, and its number ``#k`` among those of its two nodes."""
    _between: dict[frozenset[str], int] = field(default_factory=dict)

    def add(self, a: End, b: End) -> None:
        if (a, b) in self.cables or (b, a) in self.cables:
            return
        nodes = frozenset((a[0], b[0]))
        self._between[nodes] = self._between.get(nodes, 0) + 1
        self.cables[a, b] = f"#{self._between[nodes]}"

    def number(self, a: End, b: End) -> str:
        """``#k`` for the k-th of several links between two nodes, else nothing."""
        if self._between[frozenset((a[0], b[0]))] < 2:
            return ""
        return self.cables.get((a, b)) or self.cables[b, a]

    def ports(self) -> Iterator[tuple[End, str]]:
        """Every interface, and its port's name in the scenario."""
        for a, b in self.cables:
            for one, other in ((a, b), (b, a)):
                number = self.number(a, b)
                yield one, f"{one[0]} -> {other[0]}{' ' + number if number else ''}"


def read_path(flow: str, text: Any) -> list[tuple[End, End]]:
    """The links of a flow: ``:node-1:4,1:node-3:`` leaves node-1 by interface 4 and reaches node-3 by 1."""
    parts = str(text).strip().strip(":").split(":")
    nodes, between = parts[::2], [part.split(",") for part in parts[1::2]]
    good = len(nodes) == len(between) + 1 >= 2 and all(len(pair) == 2 for pair in between)
    if not good or not all(_NAME.fullmatch(node) for node in nodes) or len(set(nodes)) < len(nodes):
        example = "':node-1:4,1:node-3:'"
        raise ContentError(
            f"{NETWORK}: expected a path such as {example} in flow {shown(flow)}, found {shown(text)}"
        )
    return [
        ((one, leaves.strip()), (other, enters.strip()))
        for (one, other), (leaves, enters) in zip(pairwise(nodes), between, strict=True)
    ]
