"""Resources of RESTCONF: paths with keys, and how much of a resource an answer has.

RFC 8040, 3.5.3 (paths), 4.8 (query parameters).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tsnbench.cnc.restconf.model import CNC

if TYPE_CHECKING:
    from tsnbench.foreign import Json

STATE = {
    "stream-status",
    "accumulated-latency",
    "interface-configuration",
    "status-info",
    "failed-interfaces",
}
"""Nodes of a stream that are state (``config false``)."""
KEYS = {"domain": "domain-id", "cuc": "cuc-id", "stream": "stream-id"}
"""Lists above the data of a stream, and their keys."""
MOST_DEPTH = 65535


class NoResourceError(LookupError):
    """There is no such resource."""


@dataclass(frozen=True)
class Path:
    """The keys of a path as far as it goes, and what follows within a stream."""

    domain: str | None = None
    cuc: str | None = None
    stream: str | None = None
    rest: tuple[str, ...] = ()


def path_of(raw: str) -> Path:
    """The path behind ``/restconf/data/``, before percent-decoding.

    Raises:
        NoResourceError: it is none of this module.
    """
    steps = [unquote(step, errors="replace") for step in raw.strip("/").split("/")]
    if steps[0].partition("=")[0] != f"{CNC}:cnc-config" or "=" in steps[0]:
        raise NoResourceError(raw)
    found: dict[str, str] = {}
    left = steps[1:]
    for name in KEYS:
        if not left or not left[0].startswith((f"{name}=", f"{CNC}:{name}=")):
            break
        found[name] = left.pop(0).partition("=")[2]
    return Path(**found, rest=tuple(left))


def below(data: Any, steps: tuple[str, ...]) -> tuple[str, Any]:
    """The name and the value of a node below data, by the rest of a path.

    Raises:
        NoResourceError: there is none.
    """
    name = ""
    for step in steps:
        name, equals, key = step.partition("=")
        name = name.removeprefix(f"{CNC}:")
        if not isinstance(data, Mapping) or name not in data:
            raise NoResourceError(step)
        data = data[name]
        if equals:
            if not isinstance(data, list):
                raise NoResourceError(step)
            keys = key.split(",")
            data = next((one for one in data if _has(one, keys)), None)
            if data is None:
                raise NoResourceError(step)
            data = [data]
    return name, data


def _has(entry: Json, keys: list[str]) -> bool:
    own = [entry[key] for key in ("index", "mac-address", "interface-name") if key in entry]
    return [str(value) for value in own[: len(keys)]] == keys


def content(data: Any, which: str) -> Any:
    """Only configuration (``config``), only state with its keys (``nonconfig``), or all."""
    if which == "config":
        return _without_state(data)
    return _only_state(data) if which == "nonconfig" else data


def _without_state(data: Any) -> Any:
    if isinstance(data, list):
        return [_without_state(one) for one in data]
    if isinstance(data, dict):
        return {key: _without_state(value) for key, value in data.items() if key not in STATE}
    return data


def _only_state(data: Any) -> Any:
    if isinstance(data, list):
        return [_only_state(one) for one in data]
    if not isinstance(data, dict):
        return data
    found = {}
    for key, value in data.items():
        if key in STATE or key in (*KEYS.values(), "index"):
            found[key] = value
        elif key in (*KEYS, "talker", "listener") and (inside := _only_state(value)):
            found[key] = inside
    return found


def shallow(data: Any, depth: int) -> Any:
    """The first levels of data; 1 is the node alone."""
    if isinstance(data, list):
        return [shallow(one, depth) for one in data]
    if isinstance(data, dict):
        inside = {key: shallow(value, depth - 1) for key, value in data.items()}
        return {
            key: value for key, value in inside.items() if depth > 1 or not isinstance(value, dict | list)
        }
    return data


def _inner(value: object) -> bool:
    return isinstance(value, dict | list)
