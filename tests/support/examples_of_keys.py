"""Scenarios around one key: a small scenario in which a key of the language is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.kinds.alike import Alike
from tsnbench.scenario.kinds.combinators import Either, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import Kind
from tsnbench.scenario.reference.keys import Key, Step, path_text
from tsnbench.scenario.reference.values import example_of_key
from tsnbench.scenario.text.source import parse
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value

BASE = """
name: example
duration: 1 s
network:
  stations: [node1, node2, cam]
  bridges: [dut, sw1, sw2]
  hosts: [zgw1]
  rate: 1 Gbit/s
  links: [node1 -- node2, node1 -- dut, dut -- node2, cam -- sw1, sw1 -- dut, sw1 -- sw2, zgw1 -- dut,
    zgw1 -- node2]
streams:
  s: {from: zgw1, to: cam, period: 1 ms, frame: 500 B}
"""
STREAM = "{from: cam, to: zgw1, period: 1 ms, frame: 500 B}"
AWAY = "~"
_LINES = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8").splitlines()
_BESIDE = [tuple(line.split(": {", 1)) for line in _LINES if not line.startswith("#")]


def _tree(value: Value) -> Any:
    """A value as dictionaries, lists and texts."""
    if isinstance(value, Mapping):
        return {key.text: _tree(one) for key, one in value.entries}
    if isinstance(value, Sequence):
        return [_tree(one) for one in value.items]
    assert isinstance(value, Scalar)
    return value.text


def _read(text: str) -> Any:
    return _tree(parse(f"value: {text}", "example").entries[0][1])


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_written(one)}" for key, one in value.items()) + "}"
    return "[" + ", ".join(map(_written, value)) + "]" if isinstance(value, list) else str(value)


def path_of(key: Key) -> tuple[Step, ...]:
    """The path of a key that is used for its example: that of a bridge for options of nodes."""
    return next((one for one in key.paths if path_text(one).startswith("network.bridges.")), key.paths[0])


def scenario_with(key: Key, value: str | None) -> str:
    """A scenario in which a key has a value, written as YAML; None: the same one without the key."""
    path = path_of(key)
    root = _tree(parse(BASE, "base"))
    _put(root, _placed(SCENARIO, path, None if value is None else _read(value)))
    for pattern, beside in _BESIDE:
        if re.fullmatch(pattern, path_text(path)):
            _fill(root, _read("{" + beside))
    return "".join(f"{name}: {_written(one)}\n" for name, one in root.items())


def _put(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Adds keys; they count more than those that are there."""
    for name, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _put(into[name], value)
        else:
            into[name] = value


def _fill(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Adds keys that are absent, and takes keys away."""
    for name, value in other.items():
        here = into.get(name)
        if value == AWAY:
            into.pop(name, None)
        elif isinstance(value, dict) and isinstance(here, dict):
            _fill(here, value)
        elif isinstance(value, list) and isinstance(here, list) and here and isinstance(here[0], dict):
            _fill(here[0], value[0])
        else:
            into.setdefault(name, value)


def _placed(kind: Kind, path: tuple[Step, ...], value: Any) -> Any:
    """A value of a kind that has the value at the end of the path."""
    if not path:
        return value
    if isinstance(kind, Alike):
        return _placed(kind.record, path, value)
    if isinstance(kind, Record):
        return _in_record(kind, path, value)
    if isinstance(kind, ListOf):
        return [_placed(kind.item, path, value)]
    if isinstance(kind, MapOf):
        name = "t" if isinstance(kind.value, Alike) else example_of_key(kind)
        name = "dut" if isinstance(kind.value, Record) and kind.value.what == "a node's options" else name
        return {name: _placed(kind.value, path[1:], value)}
    assert isinstance(kind, Either)
    shapes = (kind.mapping, kind.listing, kind.text)
    return next(_placed(one, path, value) for one in shapes if one is not None and _has(one, path[0]))


def _has(kind: Kind, step: Step) -> bool:
    if isinstance(kind, Record):
        return (
            step.text in kind.fields
            or step.text == "*"
            or any(step.text == one.example for one in kind.patterns)
        )
    inner = [getattr(kind, name, None) for name in ("item", "mapping", "listing", "text")]
    return isinstance(kind, MapOf) or any(one is not None and _has(one, step) for one in inner)


def _in_record(record: Record, path: tuple[Step, ...], value: Any) -> dict[str, Any]:
    name = path[0].text
    field = record.fields.get(name) or next(
        one.field for one in record.patterns if name in (one.example, "*" if " " not in one.example else "")
    )
    needed = {} if record is SCENARIO else record.fields
    out = {key: _read(one.example) for key, one in needed.items() if one.example}
    if record.what == "a stream":
        out = _read(STREAM)
    inner = _placed(field.kind, path[1:], value)
    if inner is not None:
        _put(out, {"node1" if name == "*" else name: inner})
    return out
