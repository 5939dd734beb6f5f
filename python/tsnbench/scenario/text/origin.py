"""The place of each part of a scenario in its file, for mistakes that are found after reading."""

from __future__ import annotations

import re
from collections.abc import Mapping as Map
from dataclasses import dataclass, field

from tsnbench.scenario.text.place import Place, is_in_table, located
from tsnbench.scenario.text.tree import Mapping, Sequence, Value


@dataclass(frozen=True, eq=False)
class Origin:
    """The file's tree. Two scenarios with equal content are equal, wherever their parts are in the file."""

    file: str
    tree: Mapping
    tables: tuple[str, ...] = ()
    """The files of the tables beside it."""
    choices: Map[str, int] = field(default_factory=dict)
    """For each list of the file's sweep, by its path, the place of this run's value."""
    swept: Map[str, str] = field(default_factory=dict)
    """The path of each parameter of the file's sweep, by its name."""
    text: str = field(default="", repr=False)
    """What was read; empty if only a part of it was read."""

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0

    def where(self, path: str) -> str:
        """``file:line:column`` of the deepest part of ``path`` (``streams.cam.via[2]``) that is written."""
        node: Value = self.tree
        place: Place | None = None
        rest = path
        while rest:
            step = _step(node, rest)
            if step is None:
                break
            place, node, rest = step
        if place is None:
            return self.file
        file, line, column = located(self.file, self.tables, place)
        return f"{file}:{line}:{column}"


def _step(node: Value, path: str) -> tuple[Place, Value, str] | None:
    """One key or index further: its place, its value, and the rest of the path."""
    if isinstance(node, Mapping):
        fitting = (
            (key, value, text)
            for key, value in node.entries
            for text in (key.text, _spelled(key.text))
            if path.startswith(text) and (len(path) == len(text) or path[len(text)] in ".[:")
        )
        # Keys may contain dots and spaces; the longest one that fits is used.
        if found := max(fitting, key=lambda one: len(one[0].text), default=None):
            key, value, text = found
            # The keys of a table are in its header, so the place of the cell is more useful.
            place = value.place if is_in_table(key.place) else key.place
            return place, value, path.removeprefix(text).removeprefix(".")
    if isinstance(node, Sequence) and path.startswith("["):
        number, _, after = path[1:].partition("]")
        if number.isdecimal() and int(number) < len(node.items):
            item = node.items[int(number)]
            return item.place, item, after.removeprefix(".")
    return None


def _spelled(key: str) -> str:
    """A selector of ports as messages name it: ``*`` is ``all``, ``a->b #2`` is ``a -> b#2``, and ``#1`` is
    left out."""
    if "->" not in key and key.strip() != "*":
        return key
    arrow = re.sub(r"\s*->\s*", " -> ", key.strip())
    return re.sub(r"\s*#\s*", "#", arrow).removesuffix("#1").replace("*", "all")
