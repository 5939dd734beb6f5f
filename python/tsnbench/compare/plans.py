"""The differences of two Plans, in words that name the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

MOST = 12
"""Differences that are named; the others are counted."""
NO_DIFFERENCE = {"hash", "format", "bounds"}


def differences(one: PlanDocument, other: PlanDocument) -> list[str]:
    """One line per difference, at most :data:`MOST`, and a last line that counts the others."""
    found = list(dict.fromkeys(_differ("", one, other)))
    more = len(found) - MOST
    return found[:MOST] + ([f"and {more} more differences"] if more > 0 else [])


def _differ(where: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys([*one, *other]):
            if key not in NO_DIFFERENCE:
                yield from _differ(_at(where, key), one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list):
        yield from _lists(where, one, other)
    elif isinstance(one, Mapping | list) and other is None:
        yield f"{where}: in the first only"
    elif isinstance(other, Mapping | list) and one is None:
        yield f"{where}: in the second only"
    elif one != other:
        yield f"{where}: {_said(one)} against {_said(other)}"


def _lists(where: str, one: list[Any], other: list[Any]) -> Iterator[str]:
    """Objects with equal names are compared with each other, also if their places in a list differ."""
    if all(isinstance(part, Mapping) and "name" in part for part in [*one, *other]):
        here, there = ({part["name"]: part for part in parts} for parts in (one, other))
        for name in dict.fromkeys([*here, *there]):
            if name not in there:
                yield f"{where} {name}: in the first only"
            elif name not in here:
                yield f"{where} {name}: in the second only"
            else:
                yield from _differ(f"{where} {name}", here[name], there[name])
    elif len(one) != len(other):
        yield f"{where}: {len(one)} against {len(other)} entries"
    else:
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differ(f"{where} {place}", left, right)


def _at(where: str, key: str) -> str:
    return f"{where}, {key}" if where else key


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
