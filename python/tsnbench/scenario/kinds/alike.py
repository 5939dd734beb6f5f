"""Streams that are written alike: a stream that differs from an earlier one only in its ends is read from it.

Large scenarios have thousands of lines or rows with the same keys and values. Each of these is then read and
checked once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsnbench.scenario.kinds.combinators import Fields, Record
from tsnbench.scenario.text.reading import Bad, Reading, Written
from tsnbench.scenario.text.source import Mapping, Scalar, Value

ENDS = ("from", "to")
"""Keys whose values may differ."""
SHARED = frozenset({"period", "offset", "frame", "phy", "payload", "pcp", "vlan", "scheduled", "requires"})
"""Keys whose values have to be equal. A stream with another key is read alone."""


@dataclass(frozen=True)
class Alike:
    """The mapping of a record that may be alike an earlier one."""

    record: Record

    @property
    def expected(self) -> str:
        return self.record.expected

    def schema(self) -> dict[str, Any]:
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

    def _another(self, reading: Reading, value: Mapping, path: str, first: Fields) -> Fields:
        fields = Fields(value.place, path, self.record)
        fields.update(first)
        fields.places = {key.text: part.place for key, part in value.entries}
        fields.first, fields.written = first, value
        counted = reading.values + first.cost
        for key, part in value.entries:
            if key.text in ENDS:
                fields[key.text] = self.record.fields[key.text].kind.read(reading, part, f"{path}.{key.text}")
        reading.values = counted
        return fields


def written_as(value: Value) -> Written | None:
    """The keys and texts of a mapping, without the texts of its ends; None if it is read alone."""
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
