"""The records of a grammar."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Record


def records(kind: object) -> list[Record]:
    """Every record in a kind, once."""
    seen: dict[int, Record] = {}
    _records(kind, seen)
    return list(seen.values())


def _records(kind: object, seen: dict[int, Record]) -> None:
    if isinstance(kind, Record) and id(kind) not in seen:
        seen[id(kind)] = kind
        for field in [*kind.fields.values(), *(pattern.field for pattern in kind.patterns)]:
            _records(field.kind, seen)
    for part in ("item", "value", "text", "listing", "mapping", "record"):
        if not isinstance(kind, Record) and hasattr(kind, part):
            _records(getattr(kind, part), seen)
