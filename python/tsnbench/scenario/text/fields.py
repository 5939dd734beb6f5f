"""The values of a mapping that was read, each with its place."""

from __future__ import annotations

from typing import Any

from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import Mapping


class Placed(dict[str, Any]):
    """The values of a mapping, without unreadable ones; with every key's place."""

    def __init__(self, place: Place, path: str) -> None:
        super().__init__()
        self.place = place
        self.path = path
        self.places: dict[str, Place] = {}
        self.bad: set[str] = set()
        self.cost = 0
        """Number of values that were read for it, if another mapping may be read from it."""
        self.first: Placed | None = None
        """An earlier mapping with the same texts, from which it was read (``kinds.alike``)."""
        self.written: Mapping | None = None
        """Its own text, if ``first`` is one."""

    def at(self, key: str) -> Place:
        return self.places.get(key, self.place)

    def path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key
