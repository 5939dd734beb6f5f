"""Completions at a place of a scenario: keys and words of the grammar, names of nodes, ports and streams."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from tsnbench.editing.context import context
from tsnbench.foreign import Json
from tsnbench.scenario.kinds.values import OF
from tsnbench.scenario.model import Scenario
from tsnbench.scenario.reference.schema import whole_schema


@dataclass(frozen=True)
class Names:
    """The names that a scenario makes."""

    nodes: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()

    @classmethod
    def of(cls, scenarios: Iterable[Scenario]) -> Names:
        """The names of all runs of a file; generated nodes are among them."""
        nodes: dict[str, None] = {}
        ports: dict[str, None] = {}
        streams: dict[str, None] = {}
        for one in scenarios:
            nodes |= dict.fromkeys(map(str, one.network.nodes))
            for link in one.network.links:
                ports |= dict.fromkeys((f"{link.a} -> {link.b}", f"{link.b} -> {link.a}"))
            streams |= dict.fromkeys(map(str, one.streams))
        return cls(tuple(nodes), tuple(ports), tuple(streams))


@dataclass(frozen=True)
class Candidate:
    """One completion at a place."""

    text: str
    kind: str
    """``key``, ``value`` or ``name``."""
    about: str = ""


@dataclass
class _Found:
    """Candidates without repetitions."""

    by_text: dict[str, Candidate] = field(default_factory=dict)

    def add(self, one: Candidate) -> None:
        self.by_text.setdefault(one.text, one)


def complete(text: str, line: int, column: int, names: Names) -> list[Candidate]:
    """Completions at a place; ``line`` and ``column`` count from 0. Editors filter by the written text."""
    where = context(text, line, column)
    found = _Found()
    schemas = at(where.path)
    if not where.value:
        for schema in schemas:
            for key, own in schema.get("properties", {}).items():
                found.add(Candidate(key, "key", own.get("description", "")))
        if where.path and where.path[-1] == "shapers":
            found.add(Candidate("all", "name", "every port"))
            found.add(Candidate("bridges", "name", "every port of a bridge"))
            for port in names.ports:
                found.add(Candidate(port, "name", "a port"))
        return list(found.by_text.values())
    for schema in schemas:
        _values(schema, names, found)
    return list(found.by_text.values())


def meaning(text: str, line: int, column: int) -> str:
    """The meaning of the key at a place, or of the key whose value is there; empty if it is unknown."""
    rest = re.match(r"[^\s:,{}\[\]]*", text.split("\n")[line][column:])
    where = context(text, line, column + (rest.end() if rest else 0))
    path = where.path if where.value else (*where.path, where.word.strip("\"'"))
    own = [schema.get("description", "") for schema in at(path[:-1], path[-1:])] if path else []
    return next(filter(None, own), "")


def at(path: tuple[str, ...], last: tuple[str, ...] = ()) -> list[Json]:
    """The schemas that apply at a path of keys; those of ``last`` are not searched."""
    found = [*_flat(_schema())]
    for key in path:
        found = [one for schema in found for own in _below(schema, key) for one in _flat(own)]
    return [own for schema in found for key in last for own in _below(schema, key)] if last else found


@cache
def _schema() -> Json:
    return whole_schema()


def _flat(schema: Json) -> Iterator[Json]:
    """A schema and its alternatives; for a list, the schemas of its items."""
    yield schema
    for one in schema.get("anyOf", ()):
        yield from _flat(one)
    if isinstance(schema.get("items"), dict):
        yield from _flat(schema["items"])


def _below(schema: Json, key: str) -> Iterator[Json]:
    if key in schema.get("properties", {}):
        yield schema["properties"][key]
        return
    for pattern, own in schema.get("patternProperties", {}).items():
        if re.search(pattern, key):
            yield own


def _values(schema: Json, names: Names, found: _Found) -> None:
    about = schema.get("description", "")
    for word in (*schema.get("enum", ()), *schema.get("examples", ())):
        text = {True: "true", False: "false"}.get(word, str(word)) if isinstance(word, bool) else str(word)
        found.add(Candidate(text, "value", about))
    for name in {"node": names.nodes, "port": names.ports, "stream": names.streams}.get(
        schema.get(OF, ""), ()
    ):
        found.add(Candidate(name, "name", f"a {schema[OF]}"))
