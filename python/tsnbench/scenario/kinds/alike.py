"""Streams that are written alike: a stream that differs from an earlier one only in its ends is read from it.

Large scenarios have thousands of lines or rows with the same keys and values. Each of these is then read and
checked once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tsnbench.scenario.kinds.combinators import Fields, Record
from tsnbench.scenario.text.fields import Placed
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import Bad, Reading, Written
from tsnbench.scenario.text.tree import ENDS, SHARED, Mapping, Repeated, Scalar, Value
from tsnbench.scenario.units import Schema


@dataclass(frozen=True)
class Alike:
    """The mapping of a record that may be alike an earlier one."""

    record: Record

    @property
    def expected(self) -> str:
        return self.record.expected

    def schema(self) -> Schema:
        return self.record.schema()

    def read(self, reading: Reading, value: Value, path: str) -> Fields | Bad:
        """The record's values. ``Fields.first`` is the earlier mapping, if there is one."""
        text = written_as(value)
        if text is None:
            return self.record.read(reading, value, path)
        first = reading.alike.get(text)
        if first is not None and reading.values + first.cost <= reading.most_values:
            assert isinstance(value, Mapping)
            return self._another(reading, value, path, first)
        before = reading.values, len(reading.problems), len(reading.doubts), len(reading.axes)
        fields = self.record.read(reading, value, path)
        if isinstance(fields, Fields) and not fields.bad:
            fields.cost = reading.values - before[0]
            if (len(reading.problems), len(reading.doubts), len(reading.axes)) == before[1:]:
                reading.alike[text] = fields
        return fields

    def _another(self, reading: Reading, value: Mapping, path: str, first: Placed) -> Fields:
        fields = _Again(value.place, path, self.record)
        fields.update(first)
        fields.first, fields.written = first, value
        counted = reading.values + first.cost
        if type(value) is Repeated:
            ends = value.ends()
        else:
            ends = [(key.text, part) for key, part in value.entries if type(part) is Scalar]
        for word, part in ends:
            if word in ENDS:
                fields[word] = self.record.fields[word].kind.read(reading, part, f"{path}.{word}")
        reading.values = counted
        return fields


class _Again(Fields):
    """The values of a mapping that was read from an earlier one."""

    def __init__(self, place: Place, path: str, record: Record) -> None:
        super().__init__(place, path, record)
        # They are rarely asked for, and found when they are.
        del self.places

    @cached_property
    def places(self) -> dict[str, Place]:  # type: ignore[override]
        assert self.written is not None
        return {key.text: part.place for key, part in self.written.entries}


def written_as(value: Value) -> Written | None:
    """The keys and texts of a mapping, without the texts of its ends; None if it is read alone."""
    if type(value) is Repeated:
        return value.rows, value.shape
    if type(value) is not Mapping:
        return None
    found: list[Any] = []
    for key, part in value.entries:
        word = key.text
        if type(part) is Scalar:
            text = part.text
            if "${" in text:
                return None
            if word in SHARED:
                found.append((word, text, part.plain))
            elif word in ENDS and text.strip():
                found.append(word)
            else:
                return None
        elif word == "requires" and type(part) is Mapping:
            within = [(name.text, one.text, one.plain) for name, one in part.entries if type(one) is Scalar]
            words = "".join([name + text for name, text, _ in within])
            if len(within) < len(part.entries) or "${" in words or "class" in words:
                return None
            found.append((word, *within))
        else:
            return None
    return tuple(found)
