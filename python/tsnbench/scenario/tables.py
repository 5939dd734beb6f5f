"""Streams from a table beside the scenario: ``streams: {table: streams.csv}``."""

from __future__ import annotations

from tsnbench.scenario.grammar.streams import LIMITS, STREAM
from tsnbench.scenario.kinds.combinators import Record
from tsnbench.scenario.text.reading import meant
from tsnbench.scenario.text.source import Mapping, Scalar, Value

TABLE = "table"


def joined(tree: Mapping, file: str) -> tuple[Mapping, str]:
    """The tree with the streams of its table, and the table's file; as it is without a table.

    Raises:
        ScenarioErrors: the table cannot be read.
    """
    streams = tree.get("streams")
    written = streams.get(TABLE) if isinstance(streams, Mapping) else None
    # A stream may be called table, too: that is a mapping.
    if not isinstance(streams, Mapping) or not isinstance(written, Scalar):
        return tree, ""
    from tsnbench.scenario.text.table import TableReader

    reader = TableReader(file, written, _wrong)
    others = [(key, value) for key, value in streams.entries if key.text != TABLE]
    entries = tuple(others + reader.entries())
    made: Value = Mapping(streams.place, entries, streams.weight + sum([one.weight for _, one in entries]))
    top = tuple((key, made if key.text == "streams" else value) for key, value in tree.entries)
    return Mapping(tree.place, top, tree.weight), reader.file


def _wrong(key: str) -> str:
    """A hint where no stream has this key; empty where one has."""
    outer, _, inner = key.partition(".")
    if outer not in STREAM.fields:
        return _meant(STREAM, outer, "name")
    if outer == "requires" and inner and inner not in LIMITS.fields and LIMITS.by_pattern(inner) is None:
        return _meant(LIMITS, inner)
    return ""


def _meant(record: Record, word: str, *more: str) -> str:
    return record.common_mistakes.get(word) or meant(word, [*more, *record.fields])
