"""Lists and mappings: each shape reads its part of the tree and gives its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from tsnbench.scenario.kinds.values import OBJECT, PARAMETER, Choice, Kind, name_hint
from tsnbench.scenario.part import MISSING, Part, Values
from tsnbench.scenario.text.fields import Placed
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import BAD, NAME, Bad, Named, Reading, meant
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value, describe, shown
from tsnbench.scenario.units import Schema


@dataclass(frozen=True)
class ListOf:
    """A list; a single value counts as a list of one. ``least`` and ``most`` bound its length.

    ``partial``: the readable items are returned, although others were not readable.
    """

    item: Kind
    what: str
    least: int = 1
    most: int = 100_000
    partial: bool = False
    once: bool = False
    """Whether a repeated item is ignored."""

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> list[Any] | Bad:
        items = self.read_all(reading, value, path)
        return _Once(items) if self.once and not isinstance(items, Bad) else items

    def read_all(self, reading: Reading, value: Value, path: str) -> list[Any] | Bad:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if not isinstance(found, Sequence):
            alone = self.item.read(reading, found, path)
            return BAD if isinstance(alone, Bad) else [alone]
        if not self.least <= len(found.items) <= self.most:
            found_here = f"{len(found.items)} of them" if found.items else "an empty list"
            hint = "" if found.items else "write at least one, or leave the key out"
            return reading.problem(found.place, path, self.what, found_here, hint)
        texts = [item for item in found.items if isinstance(item, Scalar) and "${" not in item.text]
        if isinstance(self.item, Record) and len(texts) == len(found.items) > 1:
            # One mistake: names where mappings belong.
            self.item.read(reading, texts[0], f"{path}[0]")
            return BAD
        items = [self.read_item(reading, item, f"{path}[{n}]") for n, item in enumerate(found.items)]
        good = [item for item in items if not isinstance(item, Bad)]
        return good if self.partial or len(good) == len(items) else BAD

    def read_item(self, reading: Reading, item: Value, path: str) -> Any:
        """One item; a list within the list is not read as a sweep, which is hardly intended."""
        if isinstance(item, Sequence) and not isinstance(self.item, ListOf):
            hint = "to sweep over lists, name them under parameters: and write ${name} for the whole list"
            if len(item.items) == 2 and self.item.expected.startswith(("two nodes", "a link")):
                hint = f"write {' -- '.join(describe(end) for end in item.items)}"
            elif isinstance(self.item, Record):
                hint = f"write {{{', '.join(f'{key}: …' for key in list(self.item.fields)[:2])}}}"
            return reading.problem(item.place, path, self.item.expected, "a list within a list", hint)
        return self.item.read(reading, item, path)

    def schema(self) -> Schema:
        item = self.item.schema()
        return {"anyOf": [{"type": "array", "items": item, "minItems": self.least}, item]}


class _Once(list[Any]):
    """A list of which each item counts once."""


class Names(Protocol):
    """The known names of a scenario; an unknown name is reported as a mistake."""

    @property
    def reading(self) -> Reading: ...

    def node(self, name: Named) -> str | None: ...

    def ports(self, selector: Named) -> str | None: ...


class Fields(Placed):
    """The values of a mapping that is read as a record."""

    def __init__(self, place: Place, path: str, record: Record | None = None) -> None:
        super().__init__(place, path)
        self.record = record

    def where(self, key: str) -> tuple[Place, str]:
        """The place and the path of a key."""
        return self.at(key), self.path_of(key)

    def wrong(self, reading: Reading, key: str, expected: str, found: str, hint: str = "") -> Bad:
        """Notes a mistake of a key; returns :data:`BAD`."""
        return reading.problem(*self.where(key), expected, found, hint)

    def written_of(self, keys: Iterable[str]) -> list[str]:
        """Those of some keys that are written."""
        return [key for key in keys if key in self.places]

    def none_of(
        self, reading: Reading, keys: Iterable[str], expected: str, found: str = "{key}", hint: str = ""
    ) -> bool:
        """Whether none of these keys is written; reports the first one that is, as ``{key}`` in the texts."""
        for key in self.written_of(keys):
            self.wrong(reading, key, *(text.replace("{key}", key) for text in (expected, found, hint)))
            return False
        return True

    def given(self, names: Names, part: type[Part]) -> Values:
        """The written values of a part by their names in the part; :data:`BAD` for a wrong value."""
        return {name: made(names, self[key]) for name, key in part._written if key in self}

    def part(self, names: Names, **more: Any) -> Any:
        """The record's part, with additional values; :data:`BAD` after a mistake."""
        assert self.record is not None
        assert self.record.makes is not None
        given = self.given(names, self.record.makes) | more
        good = {name: value for name, value in given.items() if value is not BAD}
        broken = self.record.rule(names.reading, self, good) if self.record.rule else None
        return BAD if self.bad or broken is BAD or len(good) < len(given) else self.record.makes(**good)


def made(names: Names, value: Any) -> Any:
    """A value in the form of a part: names resolved, lists as tuples, mappings as parts."""
    if isinstance(value, Named):
        if value.of == "node":
            return names.node(value) or BAD
        if value.of == "port":
            return names.ports(value) or BAD
        return str(value)
    if isinstance(value, Fields):
        return value.part(names)
    if isinstance(value, list):
        every = tuple(made(names, one) for one in value)
        if any(one is BAD for one in every):
            return BAD
        return tuple(dict.fromkeys(every)) if isinstance(value, _Once) else every
    return value


@dataclass(frozen=True)
class Field:
    """One key of a record; ``doc`` is for the schema, ``example`` makes the key required and shows how."""

    kind: Kind
    doc: str = ""
    example: str = ""
    sample: str = ""
    """An example of a key that is not required, where the kind's own example does not fit."""
    range: str = ""
    """The permitted values, where the kind does not say all of it."""
    clause: str = ""
    """The clause that defines the key and the keys below it; that of the mapping's own key by default."""
    since: str = ""
    """The version of tsnbench that has the key first; see ``tsnbench.scenario.reference.keys``."""
    default: Any = None
    """The value where the key is not written; None where there is none, or where the doc says it."""


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
    """Whether an empty value counts as a mapping without keys."""
    common_mistakes: Map[str, str] = field(default_factory=dict)
    """Keys that people write by mistake -> a hint."""
    example: str = ""
    """The whole mapping in its shortest form, for hints."""
    makes: type[Part] | None = None
    """The part whose values the keys are; see :func:`record_of`."""
    rule: Callable[[Reading, Fields, Values], Bad | None] | None = None
    """Reports contradictions between keys, from the mapping and the part's readable values; adds values that
    depend on several keys."""

    @property
    def expected(self) -> str:
        return f"{self.what} as keys and values"

    def read(self, reading: Reading, value: Value, path: str) -> Fields | Bad:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if self.empty and isinstance(found, Scalar) and found.plain and not found.text.strip():
            return Fields(found.place, path, self)
        if not isinstance(found, Mapping):
            return reading.problem(found.place, path, self.expected, describe(found), self.hint(path))
        unknown_first = found.entries and found.entries[0][0].text not in self.fields
        if unknown_first and self._by_name(reading, found, path):
            return BAD
        fields = Fields(found.place, path, self)
        unknown: set[str] = set()
        hints: set[str] = set()
        for key, part in found.entries:
            name: str = key.text
            spec = self.fields.get(name)
            if spec is not None and name not in fields.places:
                # Almost all keys of large files are of this kind; the result of `key_of` is known for them.
                reading.resolve(key, path)
                own = f"{path}.{name}" if path else name
            else:
                named = key_of(reading, key, path, fields.places.keys() | unknown)
                if named is None:
                    continue
                name, own = named, named.path
                spec = self.fields.get(name) or self.by_pattern(name)
                if spec is None or (isinstance(part, Scalar) and name in self.common_mistakes):
                    unknown.add(name)
                    self._unknown(reading, named, part, fields, hints)
                    continue
            fields.places[name] = part.place
            content = spec.kind.read(reading, part, own)
            if isinstance(content, Bad):
                fields.bad.add(name)
            else:
                fields[name] = content
        for name, spec in self.fields.items():
            if spec.example and name not in fields.places and name not in fields.bad:
                hint = f"add {name}: {spec.example}"
                reading.problem(found.place, path, f"the key {name} in {self.what}", "none", hint)
                fields.bad.add(name)
        return fields

    def hint(self, path: str) -> str:
        """How to write the mapping."""
        how = self.example or f"{{key: value, …}} with keys such as {', '.join(list(self.fields)[:6])}"
        return f"write {'' if path.endswith(']') else path.rsplit('.', 1)[-1] + ': '}{how}"

    def _by_name(self, reading: Reading, written: Mapping, path: str) -> bool:
        """Reports a mapping that has names of several such mappings in place of required keys."""
        needed = [f"{name}: {one.example}" for name, one in self.fields.items() if one.example]
        if not needed or not written.entries or not path:
            return False
        for key, _ in written.entries:
            name = key.text
            if name in self.fields or self.by_pattern(name):
                return False
            if _hyphened(name) in self.common_mistakes and not name.isdecimal():
                return False
            if meant(name, self.fields).startswith("did") or not NAME.fullmatch(f"n{name}"):
                return False
        key_, names = path.rsplit(".", 1)[-1], ", ".join(key.text for key, _ in written.entries[:3])
        hint = f"write {key_}: [{{{', '.join(needed)}}}], without names"
        reading.problem(written.place, path, f"{self.what}, or a list", f"names: {shown(names)}", hint)
        return True

    def first_of(self, written: Mapping) -> str:
        """The first key of a mapping that has nothing but keys of this record, in the spelling of any
        program; empty for other mappings."""
        own = {key.replace("-", ""): key for key in self.fields}
        first = ""
        for key, _ in written.entries:
            name = own.get(_hyphened(key.text).replace("-", ""), "")
            if not name:
                return ""
            first = first or name
        return first

    def _unknown(self, reading: Reading, name: Named, part: Value, fields: Fields, hints: set[str]) -> None:
        """Reports a key that the mapping does not have; ``hints``: those that were given before."""
        hint = self.common_mistakes.get(name, "") or self.common_mistakes.get(_hyphened(name), "")
        if (hint and hint in hints) or (fields.bad and re.fullmatch(r"[^(){}]*[)}]", name)):
            # One mistake: the keys of another program's section, or the rest of a value such as f(a, b).
            return
        hints.add(hint)
        if isinstance(part, Scalar) and part.text:
            hint = hint.replace("…", shown(part.text, 40), 1)
        known = [*self.fields, *(pattern.example for pattern in self.patterns)]
        hint = (
            hint or _colon(name, self.fields) or _comma(name, fields, part) or meant(_hyphened(name), known)
        )
        reading.problem(name.place, name.path, f"a key of {self.what}", shown(name), hint)
        intended = re.match(r"(?:did you mean|write) ([a-z-]+)[?:]", hint)
        # A key that was intended is not missing, too.
        fields.bad.add(intended[1] if intended else str(name))

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


def _hyphened(name: str) -> str:
    """A key as it is spelt here: ``maxLatency``, ``max_latency`` and ``Max Latency`` are ``max-latency``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[\s_]+", "-", name).lower()


def _colon(name: str, known: Iterable[str]) -> str:
    """A hint for a key with its value and no space between them: ``pcp:6``; empty for other keys."""
    key, colon, value = name.partition(":")
    if colon and key in known:
        return f"write {key}: {value}, with a space after the colon"
    key, equals, value = (part.strip() for part in name.partition("="))
    return f"write {key}: {value}, with a colon in place of the =" if equals and key in known else ""


def _comma(name: str, before: Fields, part: Value) -> str:
    """A hint for a second value that a comma parts from the first: ``{to: b, c}``; empty for other keys."""
    last = next(reversed(before.places), "") if before.places else ""
    if not last or not isinstance(part, Scalar) or part.text or part.place.line != before.places[last].line:
        return ""
    values = before.get(last)
    listed = values if isinstance(values, list) else [values]
    texts = all(isinstance(one, str) for one in listed)
    return f"write {last}: [{', '.join([*listed, name])}]" if texts else ""


def fields_of(part: type[Part], *names: str) -> dict[str, Field]:
    """The keys of a part's values: of all that are written as one key, or of those with these names."""
    keys = (one for name, one in part._keys.items() if not names or name in names)
    return {
        one.written: Field(
            one.kind,
            one.doc,
            one.example,
            one.sample,
            one.range,
            clause=one.clause,
            since=one.since,
            default=None if one.default is MISSING else one.default,
        )
        for one in keys
    }


def record_of(part: type[Part], what: str, more: Map[str, Field] | None = None, **options: Any) -> Record:
    """The record whose keys are the values of a part, in the part's order; ``more``: keys that are none."""
    return Record(what, {**fields_of(part), **(more or {})}, makes=part, **options)


def described(spec: Field) -> Schema:
    return {**spec.kind.schema(), "description": spec.doc} if spec.doc else spec.kind.schema()


@dataclass(frozen=True)
class MapOf:
    """A mapping whose keys the writer chooses."""

    what: str
    value: Kind
    key: re.Pattern[str] = field(default=NAME)
    key_what: str = "a name"
    key_hint: str = ""
    """A hint for a wrong key; the nearest name by default."""
    sample: str = "name"
    """A key, for hints."""
    one: Record | None = None
    """The mapping of each key, if its keys alone are a mistake that people make."""

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> dict[Named, Any] | Bad:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        key = path.rsplit(".", 1)[-1]
        if not isinstance(found, Mapping):
            hint = f"write {key}: {{name: …, name: …}}"
            if (
                key == "streams"
                and isinstance(found, Scalar)
                and re.search(r"\.(csv|tsv|xlsx?|ods)$", found.text)
            ):
                hint = f"write streams: {{table: {shown(found.text, 40)}}}"
            if isinstance(found, Sequence) and (first := _named(found)):
                hint = f"write {first}: {{…}} for each of them, without the dash"
            return reading.problem(found.place, path, self.expected, describe(found), hint)
        # A name may be any key of what it names; then it has a mapping.
        named = self.key is NAME and all(isinstance(part, Mapping) for _, part in found.entries)
        if self.one is not None and not named and (first := self.one.first_of(found)):
            part = found.entries[0][1]
            text = shown(part.text, 40) if isinstance(part, Scalar) else "…"
            hint = f"write {key}: {{{self.sample}: {{{first}: {text}}}}}"
            return reading.problem(found.place, path, self.expected, f"the keys of {self.one.what}", hint)
        if self.one is not None and not named and self._not_indented(reading, found, path, self.one):
            return BAD
        read: dict[Named, Any] = {}
        for key, part in keys_of(reading, found, path):
            if not self.key.fullmatch(key):
                reading.problem(
                    key.place, key.path, self.key_what, shown(key), self.key_hint or name_hint(key)
                )
            else:
                read[key] = self.value.read(reading, part, key.path)
        return read

    def _not_indented(self, reading: Reading, found: Mapping, path: str, one: Record) -> bool:
        """Reports keys that belong below the key before them, whose value is empty."""
        for (name, value), (key, part) in pairwise(found.entries):
            empty = isinstance(value, Scalar) and not value.text.strip() and name.text not in one.fields
            if empty and key.text in one.fields and not isinstance(part, Mapping):
                where = f"{path}.{shown(name.text)}"
                hint = f"begin {key.text} and the keys after it further to the right than {shown(name.text)}"
                reading.problem(key.place, where, f"{one.what} below its name", f"{key.text} beside it", hint)
                return True
        return False

    def schema(self) -> Schema:
        pattern = rf"^({self.key.pattern})$|\$\{{"
        return {**OBJECT, "patternProperties": {pattern: self.value.schema()}, "additionalProperties": False}


def _named(found: Sequence) -> str:
    """The name of the first mapping in a list: its value of ``name``, or its only key; empty without one."""
    first = found.items[0] if found.items else None
    if not isinstance(first, Mapping):
        return ""
    name = first.get("name")
    if isinstance(name, Scalar):
        return shown(name.text, 40)
    return shown(first.entries[0][0].text, 40) if len(first.entries) == 1 else ""


def keys_of(reading: Reading, mapping: Mapping, path: str) -> Iterable[tuple[Named, Value]]:
    """Keys with parameters replaced, and their values; two keys that become equal are a mistake."""
    seen: dict[str, Place] = {}
    for key, value in mapping.entries:
        named = key_of(reading, key, path, seen)
        if named is not None:
            seen[named] = named.place
            yield named, value


def key_of(reading: Reading, key: Scalar, path: str, seen: Set[str] | Map[str, Place]) -> Named | None:
    """A key with its parameters replaced; None after a mistake, such as a key that was ``seen`` before."""
    name = reading.resolve(key, path)
    if isinstance(name, Bad):
        return None
    if not isinstance(name, Scalar):
        reading.problem(key.place, path, "a plain parameter in a key", shown(key.text))
        return None
    # Most keys are plain words; large files have hundreds of thousands of them.
    text = name.text if name.text.isidentifier() else " ".join(name.text.split())
    own = f"{path}.{shown(text)}" if path else shown(text)
    if text in seen:
        first = seen.get(text) if isinstance(seen, Map) else None
        hint = "" if first is None else f"{shown(text)} is already in {reading.line_of(first)}"
        reading.problem(key.place, own, "each key once", f"{shown(text)} again", hint)
        return None
    return Named.at(text, key.place, own)


@dataclass(frozen=True)
class Either:
    """A value with several shapes, distinguished by its form: text, list or mapping."""

    what: str
    text: Kind | None = None
    listing: Kind | None = None
    mapping: Kind | None = None
    short: str = ""
    """The key of the mapping that a text or a list alone sets."""

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        found = reading.resolve(value, path)
        if isinstance(found, Bad):
            return BAD
        if isinstance(found, Mapping) and self.mapping:
            return self.mapping.read(reading, found, path)
        kind = self.listing if isinstance(found, Sequence) and self.listing else self.text
        if kind is None or isinstance(found, Mapping):
            hint = self.mapping.hint(path) if isinstance(self.mapping, Record) else ""
            return reading.problem(found.place, path, self.expected, describe(found), hint)
        if (
            isinstance(kind, Choice)
            and isinstance(found, Scalar)
            and found.text not in (*kind.words, *kind.common_mistakes)
            and isinstance(self.mapping, MapOf)
        ):
            return reading.problem(found.place, path, self.what, describe(found), self.mapping.key_hint)
        read = kind.read(reading, found, path)
        if not self.short or isinstance(read, Bad):
            return read
        assert isinstance(self.mapping, Record)
        fields = Fields(found.place, path, self.mapping)
        fields[self.short], fields.places[self.short] = read, found.place
        return fields

    def schema(self) -> Schema:
        shapes = [kind.schema() for kind in (self.text, self.listing, self.mapping) if kind is not None]
        return {"anyOf": [*shapes, PARAMETER], "description": self.what}
