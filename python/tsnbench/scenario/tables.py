"""Parts of a scenario in tables beside it: ``{table: streams.csv}`` under streams, nodes and links."""

from __future__ import annotations

import re
from collections.abc import Sequence as Sequence_
from typing import TYPE_CHECKING

from tsnbench.libraries import Lazy
from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.grammar.network import KIND, LINK_GROUP, NODE_OPTIONS
from tsnbench.scenario.grammar.streams import LIMITS, STREAM
from tsnbench.scenario.kinds.combinators import Record
from tsnbench.scenario.text.reading import meant
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value

if TYPE_CHECKING:
    from tsnbench.scenario.text import table
else:
    table = Lazy("tsnbench.scenario.text.table")

TABLE = "table"
MOST_TABLES = 100
_BETWEEN = "between"
_KIND = "kind"
_UNIT = re.compile(r"write [0-9.]+ ?([^0-9., ]+)(?: or .*)?")
"""The hint of a value without a unit."""


def joined(tree: Mapping, file: str) -> tuple[Mapping, tuple[str, ...]]:
    """The tree with the content of its tables, and the tables' files; as it is without a table.

    Raises:
        ScenarioErrors: a table cannot be read.
    """
    if _named(tree.get("streams")) is None and not _of_network(tree.get("network")):
        return tree, ()
    reader = _Tables(file)
    top = tuple((key, reader.part(key.text, value)) for key, value in tree.entries)
    if reader.problems:
        raise ScenarioErrors(reader.problems)
    return Mapping(tree.place, top, tree.weight), tuple(reader.files)


def _named(value: Value | None) -> Scalar | None:
    """The file of ``{table: file}``; None without one. What is called table may be a mapping, too."""
    written = value.get(TABLE) if isinstance(value, Mapping) else None
    return written if isinstance(written, Scalar) else None


def _of_network(network: Value | None) -> bool:
    if not isinstance(network, Mapping):
        return False
    nodes, links = network.get("nodes"), network.get("links")
    several = links.items if isinstance(links, Sequence) else (links,)
    return _named(nodes) is not None or any(_named(one) is not None for one in several)


def without_units(problems: Sequence_[Problem], files: Sequence_[str]) -> list[Problem]:
    """The problems, with one for each column of a table without units, in place of each cell's."""
    bare: dict[tuple[str, int, str], list[Problem]] = {}
    for one in problems:
        if (
            one.file in files
            and one.expected.endswith(" with a unit")
            and (hint := _UNIT.fullmatch(one.hint))
        ):
            bare.setdefault((one.file, one.column, hint[1]), []).append(one)
    found = list(problems)
    for (file, column, unit), cells in bare.items():
        if len(cells) < 2:
            continue
        found = [one for one in found if one not in cells]
        key = cells[0].path.split(".", 2)[-1]
        what = f"{len(cells)} numbers without one, such as {cells[0].found}"
        found.append(Problem(file, 1, column, key, "a unit in the header", what, f"write {key} ({unit})"))
    return found


class _Tables:
    """Replaces the tables of one scenario by their content."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.files: list[str] = []
        self.problems: list[Problem] = []

    def part(self, key: str, value: Value) -> Value:
        """A part of the scenario with the content of its tables."""
        if key == "streams" and isinstance(value, Mapping) and (written := _named(value)):
            others = [(name, one) for name, one in value.entries if name.text != TABLE]
            return _mapping(value, [*others, *self._rows(written, "streams")])
        if key == "network" and isinstance(value, Mapping) and _of_network(value):
            entries: list[tuple[Scalar, Value]] = []
            for name, one in value.entries:
                if name.text == "nodes" and (written := _named(one)):
                    entries += self._nodes(written)
                elif name.text == "links":
                    entries.append((name, self._links(one)))
                else:
                    entries.append((name, one))
            return _mapping(value, entries)
        return value

    def _rows(self, written: Scalar, part: str) -> list[tuple[Scalar, Value]]:
        if len(self.files) == MOST_TABLES:
            raise failure(self.file, f"at most {MOST_TABLES} tables", "more", place=written.place)
        reader = table.TableReader(self.file, written, _spec(part), len(self.files))
        self.files.append(reader.file)
        try:
            return reader.entries()
        except ScenarioErrors as error:
            self.problems += error.problems
            return []

    def _nodes(self, written: Scalar) -> list[tuple[Scalar, Value]]:
        """Each row as ``station a: {…}``."""
        found: list[tuple[Scalar, Value]] = []
        for name, options in self._rows(written, "network.nodes"):
            assert isinstance(options, Mapping)
            kind = options.get(_KIND)
            others = [(key, one) for key, one in options.entries if key.text != _KIND]
            word = kind.text if isinstance(kind, Scalar) else ""
            found.append((Scalar(name.place, f"{word} {name.text}"), _mapping(options, others)))
        return found

    def _links(self, links: Value) -> Value:
        """Tables of links as lists of groups, among the links that are written."""
        several = links.items if isinstance(links, Sequence) else (links,)
        items: list[Value] = []
        for one in several:
            written = _named(one)
            if written is None:
                items.append(one)
                continue
            for pair, options in self._rows(written, "network.links"):
                assert isinstance(options, Mapping)
                between = (Scalar(pair.place, _BETWEEN), Scalar(pair.place, pair.text))
                items.append(_mapping(options, [between, *options.entries]))
        return Sequence(links.place, tuple(items), 1 + sum(one.weight for one in items))


def _mapping(before: Mapping, entries: list[tuple[Scalar, Value]]) -> Mapping:
    return Mapping(before.place, tuple(entries), 1 + sum(1 + one.weight for _, one in entries))


def _spec(part: str) -> table.Rows:
    """What the rows of a table are."""
    if part == "streams":
        return table.Rows(part, "name", "a stream", _wrong_of_streams)
    if part == "network.nodes":
        return table.Rows(part, "name", "a node", _wrong_of_nodes, {_KIND: tuple(KIND.words)})
    return table.Rows(part, _BETWEEN, "a link", _wrong_of_links)


def _wrong_of_streams(key: str) -> str:
    """A hint where no stream has this key; empty where one has."""
    outer, _, inner = key.partition(".")
    if outer not in STREAM.fields:
        return _meant(STREAM, outer, "name")
    if outer == "requires" and inner and inner not in LIMITS.fields and LIMITS.by_pattern(inner) is None:
        return _meant(LIMITS, inner)
    return ""


def _wrong_of_nodes(key: str) -> str:
    outer = key.partition(".")[0]
    return "" if outer in (_KIND, *NODE_OPTIONS.fields) else _meant(NODE_OPTIONS, outer, "name", _KIND)


def _wrong_of_links(key: str) -> str:
    outer = key.partition(".")[0]
    return "" if outer in LINK_GROUP.fields else _meant(LINK_GROUP, outer)


def _meant(record: Record, word: str, *more: str) -> str:
    return record.common_mistakes.get(word) or meant(word, [*more, *record.fields])
