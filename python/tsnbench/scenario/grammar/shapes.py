"""Lists and mappings: each shape reads its part of the tree and gives its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from typing import Any

from tsnbench.scenario.grammar.values import NAME_HINT, OBJECT, PARAMETER, Kind, Schema
from tsnbench.scenario.reading import BAD, NAME, Bad, Named, Reading, meant
from tsnbench.scenario.source import Mapping, Place, Scalar, Sequence, Value, describe, shown


@dataclass(frozen=True)
class ListOf:
    """A list; a single value counts as a list of one. ``least`` and ``most`` bound its length.

    ``partial``: what could be read is returned, although something could not.
    """

    item: Kind
    what: str
    least: int = 1
    most: int = 100_000
    partial: bool = False

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> list[Any] | Bad:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if not isinstance(found, Sequence):
            alone = self.item.read(reading, found, path)
            return BAD if isinstance(alone, Bad) else [alone]
        if not self.least <= len(found.items) <= self.most:
            found_here = f"{len(found.items)} of them" if found.items else "an empty list"
            return reading.problem(found.place, path, self.what, found_here)
        items = [self.read_item(reading, item, f"{path}[{n}]") for n, item in enumerate(found.items)]
        good = [item for item in items if not isinstance(item, Bad)]
        return good if self.partial or len(good) == len(items) else BAD

    def read_item(self, reading: Reading, item: Value, path: str) -> Any:
        """One item; a list within the list is not taken for a sweep, which it is hardly meant to be."""
        if isinstance(item, Sequence) and not isinstance(self.item, ListOf):
            hint = "to sweep over lists, name them under parameters: and write ${name} for the whole list"
            return reading.problem(item.place, path, self.item.expected, "a list within a list", hint)
        return self.item.read(reading, item, path)

    def schema(self) -> Schema:
        item = self.item.schema()
        return {"anyOf": [{"type": "array", "items": item, "minItems": self.least}, item]}


class Fields(dict[str, Any]):
    """What a mapping held, without what could not be read; remembers every key's place."""

    def __init__(self, place: Place, path: str) -> None:
        super().__init__()
        self.place = place
        self.path = path
        self.places: dict[str, Place] = {}
        self.bad: set[str] = set()

    def at(self, key: str) -> Place:
        return self.places.get(key, self.place)

    def path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


@dataclass(frozen=True)
class Field:
    """One key of a record; ``doc`` is for the schema, ``example`` makes the key required and shows how."""

    kind: Kind
    doc: str = ""
    example: str = ""


@dataclass(frozen=True)
class KeyPattern:
    """Keys of one shape, as ``bridge dut``: ``example`` stands for them in hints."""

    pattern: str
    field: Field
    example: str


@dataclass(frozen=True)
class Record:
    """A mapping with known keys."""

    what: str
    fields: Map[str, Field]
    patterns: tuple[KeyPattern, ...] = ()
    empty: bool = False
    """Whether nothing at all counts as no keys."""
    slips: Map[str, str] = field(default_factory=dict)
    """Keys that people write by mistake -> a hint."""
    example: str = ""
    """The whole mapping in its shortest form, for hints."""

    @property
    def expected(self) -> str:
        return f"{self.what} as keys and values"

    def read(self, reading: Reading, value: Value, path: str) -> Fields | Bad:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if self.empty and isinstance(found, Scalar) and found.plain and not found.text.strip():
            return Fields(found.place, path)
        if not isinstance(found, Mapping):
            how = self.example or f"{{key: value, …}} with keys such as {', '.join(list(self.fields)[:6])}"
            hint = f"write {path.rsplit('.', 1)[-1]}: {how}"
            return reading.problem(found.place, path, self.expected, describe(found), hint)
        fields = Fields(found.place, path)
        for key, part in keys_of(reading, found, path):
            spec = self.fields.get(key) or self.by_pattern(key)
            if spec is None:
                known = [*self.fields, *(pattern.example for pattern in self.patterns)]
                hint = self.slips.get(key) or meant(key, known)
                reading.problem(key.place, key.path, f"a key of {self.what}", shown(key), hint)
                fields.bad.add(hint.removeprefix("did you mean ").removesuffix("?"))
                continue
            fields.places[key] = part.place
            content = spec.kind.read(reading, part, key.path)
            if isinstance(content, Bad):
                fields.bad.add(key)
            else:
                fields[key] = content
        for name, spec in self.fields.items():
            if spec.example and name not in fields.places and name not in fields.bad:
                hint = f"add {name}: {spec.example}"
                reading.problem(found.place, path, f"the key {name} in {self.what}", "none", hint)
                fields.bad.add(name)
        return fields

    def by_pattern(self, key: str) -> Field | None:
        return next((p.field for p in self.patterns if re.fullmatch(p.pattern, key)), None)

    def schema(self) -> Schema:
        schema: Schema = {
            **OBJECT,
            **({"type": ["object", "string", "null"]} if self.empty else {}),
            "properties": {name: described(spec) for name, spec in self.fields.items()},
            "additionalProperties": False,
        }
        if self.patterns:
            schema["patternProperties"] = {f"^({p.pattern})$": described(p.field) for p in self.patterns}
        required = [name for name, spec in self.fields.items() if spec.example]
        if required:
            schema["required"] = required
        return schema


def described(spec: Field) -> Schema:
    return {**spec.kind.schema(), "description": spec.doc} if spec.doc else spec.kind.schema()


@dataclass(frozen=True)
class MapOf:
    """A mapping whose keys the writer chooses."""

    what: str
    value: Kind
    key: re.Pattern[str] = field(default=NAME)
    key_what: str = "a name"
    key_hint: str = NAME_HINT

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> dict[Named, Any] | Bad:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if not isinstance(found, Mapping):
            hint = f"write {path.rsplit('.', 1)[-1]}: {{name: …, name: …}}"
            return reading.problem(found.place, path, self.expected, describe(found), hint)
        read: dict[Named, Any] = {}
        for key, part in keys_of(reading, found, path):
            if not self.key.fullmatch(key):
                reading.problem(key.place, key.path, self.key_what, shown(key), self.key_hint)
            else:
                read[key] = self.value.read(reading, part, key.path)
        return read

    def schema(self) -> Schema:
        pattern = rf"^({self.key.pattern})$|\$\{{"
        return {
            **OBJECT,
            "patternProperties": {pattern: self.value.schema()},
            "additionalProperties": False,
        }


def keys_of(reading: Reading, mapping: Mapping, path: str) -> Iterable[tuple[Named, Value]]:
    """Keys with parameters replaced, and their values; two that become the same are a mistake."""
    seen: set[str] = set()
    for key, value in mapping.entries:
        name = reading.resolve(key, path)
        if isinstance(name, Bad):
            continue
        if not isinstance(name, Scalar):
            reading.problem(key.place, path, "a plain parameter in a key", shown(key.text))
            continue
        text = " ".join(name.text.split())
        own = f"{path}.{shown(text)}" if path else shown(text)
        if text in seen:
            reading.problem(key.place, own, "each key once", f"{shown(text)} again")
            continue
        seen.add(text)
        yield Named.at(text, key.place, own), value


@dataclass(frozen=True)
class Either:
    """A value with several shapes, told apart by whether it is a text, a list or a mapping."""

    what: str
    text: Kind | None = None
    listing: Kind | None = None
    mapping: Kind | None = None

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if isinstance(found, Mapping) and self.mapping:
            return self.mapping.read(reading, found, path)
        if isinstance(found, Sequence) and self.listing:
            return self.listing.read(reading, found, path)
        if isinstance(found, Sequence) and self.text and self.mapping:
            return self.text.read(reading, found, path)
        if self.text is None or isinstance(found, Mapping):
            return reading.problem(found.place, path, self.expected, describe(found))
        return self.text.read(reading, found, path)

    def schema(self) -> Schema:
        shapes = [kind.schema() for kind in (self.text, self.listing, self.mapping) if kind is not None]
        return {"anyOf": [*shapes, PARAMETER], "description": self.what}
