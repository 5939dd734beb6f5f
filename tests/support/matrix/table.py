"""The rows of the matrix, and the scenarios that combinations of them make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from support import mechanisms

TABLE = Path(__file__).parents[2] / "matrix/mechanisms.yaml"
JOINED = {"network.stations", "network.links", "faults", "policing"}
"""Lists that every row continues."""
THIRDS = ("free-clocks", "gptp", "frer", "gates")
"""The rows that triples have."""
TIMES = re.compile(r"(\d+) (s|ms|us)")
US = {"s": 1_000_000, "ms": 1_000, "us": 1}


class ConflictError(Exception):
    """Two rows give one key different values."""


@dataclass(frozen=True)
class Row:
    """A part of a scenario, and what it explains."""

    name: str
    mechanisms: tuple[str, ...]
    adds: dict[str, Any]
    later: str
    reasons: frozenset[str]
    """Names of reasons for no bound that it may cause."""
    warnings: frozenset[str]
    like: str
    """The row whose known findings it has, too; empty if there is none."""


@cache
def document() -> dict[str, Any]:
    """The table as it is written."""
    loader = YAML(typ="safe", pure=True)
    # In YAML 1.2 no key such as `on` is a truth value.
    table: dict[str, Any] = loader.load(TABLE.read_text(encoding="utf-8"))
    return table


@cache
def rows() -> dict[str, Row]:
    known = {one.name: one for one in mechanisms.mechanisms()}
    found = {}
    for name, row in document()["rows"].items():
        told = {tag for one in row["of"] for cell in known[one].cells("bounds") for tag in cell.tags}
        reasons = frozenset(told | set(row.get("why", ())))
        warns = frozenset(row.get("warns", ()))
        words = row.get("later", ""), reasons, warns, row.get("like", "")
        found[name] = Row(name, tuple(row["of"]), row["adds"], *words)
    return found


def combined(names: Sequence[str]) -> dict[str, Any]:
    """The scenario with the base and these rows.

    Raises:
        ConflictError: two rows give one key different values.
    """
    whole = deepcopy(document()["base"])
    written: dict[str, str] = {}
    for name in names:
        _add(whole, rows()[name].adds, name, written)
    whole["name"] = "--".join(names) or "base"
    shapers = whole.get("shapers", {})
    # Later keys override earlier ones: ports by name come after `all`.
    whole["shapers"] = dict(sorted(shapers.items(), key=lambda item: item[0] != "all"))
    later = max((_us(rows()[name].later) for name in names if rows()[name].later), default=0)
    return _moved(whole, later) if later else whole


def _add(
    whole: dict[str, Any], more: dict[str, Any], name: str, written: dict[str, str], at: str = ""
) -> None:
    for key, value in more.items():
        path = f"{at}.{key}".lstrip(".")
        if isinstance(value, dict) and isinstance(whole.get(key, {}), dict):
            _add(whole.setdefault(key, {}), value, name, written, path)
        elif path in JOINED:
            whole[key] = [*whole.get(key, []), *deepcopy(value)]
        elif (other := _writer(path, written)) not in ("", name) and whole.get(key) != value:
            raise ConflictError(f"{other} and {name} both write {path}")
        else:
            whole[key] = deepcopy(value)
            written[path] = name


def _writer(path: str, written: dict[str, str]) -> str:
    """The row that wrote a key, or a key below it."""
    return next((name for one, name in written.items() if one == path or one.startswith(f"{path}.")), "")


def _us(text: str) -> int:
    ((number, unit),) = TIMES.findall(text)
    return int(number) * US[unit]


def _moved(whole: dict[str, Any], later: int) -> dict[str, Any]:
    """All streams and faults so much later."""
    whole["duration"] = f"{_us(whole['duration']) + later} us"
    for stream in whole["streams"].values():
        if "answers" not in stream:
            stream["start"] = f"{later} us"
    for one in [*whole.get("faults", []), *_changes(whole)]:
        if "at" in one:
            one["at"] = f"{_us(one['at']) + later} us"
    return whole


def _changes(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for shaper in whole["shapers"].values():
        if isinstance(gates := shaper.get("gates"), dict):
            yield from gates.get("changes", ())


def pairs() -> list[tuple[str, ...]]:
    """Each row alone, and every pair of rows that make a scenario."""
    return [(), *((name,) for name in rows()), *_possible(combinations(rows(), 2))]


def triples(thirds: Sequence[str]) -> list[tuple[str, ...]]:
    """Every pair with each of these rows."""
    found = {tuple(sorted((*pair, third))) for pair in combinations(rows(), 2) for third in thirds}
    order = {name: number for number, name in enumerate(rows())}
    tried = (tuple(sorted(set(one), key=order.__getitem__)) for one in sorted(found))
    return list(_possible(one for one in tried if len(one) == 3))


def _possible(many: Iterator[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for names in many:
        try:
            combined(names)
        except ConflictError:
            continue
        yield names
