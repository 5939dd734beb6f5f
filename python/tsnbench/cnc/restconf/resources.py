"""Resources of RESTCONF: paths with keys, and how much of a resource an answer has.

RFC 8040, 3.5.3 (paths), 4.8 (query parameters).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tsnbench.cnc.restconf.model import CNC, IN_FORCE, REASON

if TYPE_CHECKING:
    from tsnbench.foreign import Json

STATE = {
    "stream-status",
    "accumulated-latency",
    "interface-configuration",
    "status-info",
    "failed-interfaces",
    IN_FORCE,
    REASON,
}
"""Nodes of a stream that are state (``config false``)."""
KEYS = {"domain": "domain-id", "cuc": "cuc-id", "stream": "stream-id"}
"""Lists above the data of a stream, and their keys."""
MOST_DEPTH = 65535
MOST_FIELDS = 1000
"""Characters of ``fields``."""
DEEPEST = 10
"""Brackets of ``fields`` within each other."""
_PLAIN = re.compile(r"[\w.:()/;-]+", re.ASCII)
_TOKEN = re.compile(r"([/();])")


class NoResourceError(LookupError):
    """There is no such resource."""


@dataclass(frozen=True)
class Path:
    """The keys of a path as far as it goes, and what follows within a stream."""

    domain: str | None = None
    cuc: str | None = None
    stream: str | None = None
    rest: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes from the top to this one."""
        keys = {"domain": self.domain, "cuc": self.cuc, "stream": self.stream}
        lists = (name for name, key in keys.items() if key is not None)
        return (*lists, *(step.partition("=")[0].removeprefix(f"{CNC}:") for step in self.rest))

    @property
    def methods(self) -> tuple[str, ...]:
        """What may be asked of the resource."""
        if self.stream is not None and self.cuc is not None and not self.rest:
            return ("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE")
        if self.rest == ("remove_streams",):
            return ("OPTIONS", "POST")
        return ("GET", "HEAD", "OPTIONS", *(("POST",) if self.cuc and not self.stream else ()))


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
    name = equals = ""
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
    # An entry of a list is told as a list with it alone (RFC 7951, 5.4).
    return name, [data] if equals else data


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
    """The first levels of data; 1 is the node alone (RFC 8040, 4.8.2)."""
    if isinstance(data, list):
        return [shallow(one, depth) for one in data]
    if not isinstance(data, dict):
        return data
    return {key: shallow(value, depth - 1) for key, value in data.items()} if depth > 1 else {}


Fields = dict[str, "Fields | None"]
"""Names of nodes, each with those below it; None: all of them."""


def fields_of(text: str) -> Fields:
    """The value of ``fields``, such as ``talker/stream-rank;listener(index)`` (RFC 8040, 4.8.3).

    Raises:
        ValueError: it is none.
    """
    if not _PLAIN.fullmatch(text) or len(text) > MOST_FIELDS:
        raise ValueError("names with / ( ) and ; between them")
    left = [one for one in _TOKEN.split(text) if one][::-1]
    found = _fields(left, 0)
    if left:
        raise ValueError(f"no end at {left[-1]}")
    return found


def _fields(left: list[str], levels: int) -> Fields:
    """Reads one expression; ``left``: the tokens, the next one last."""
    found: Fields = {}
    while True:
        path = [_name(left)]
        while left and left[-1] == "/":
            left.pop()
            path.append(_name(left))
        below: Fields | None = None
        if left and left[-1] == "(":
            left.pop()
            if levels >= DEEPEST:
                raise ValueError(f"at most {DEEPEST} levels")
            below = _fields(left, levels + 1)
            if not left or left.pop() != ")":
                raise ValueError("a ) for each (")
        for name in reversed(path):
            below = {name: below}
        assert below is not None
        _join(found, below)
        if not left or left[-1] != ";":
            return found
        left.pop()


def _name(left: list[str]) -> str:
    if not left or left[-1] in "/();":
        raise ValueError("a name between two of / ( ) ;")
    return left.pop().removeprefix(f"{CNC}:")


def _join(found: Fields, more: Fields) -> None:
    """Adds fields; a node that is wanted as a whole stays so."""
    for name, below in more.items():
        known = found.get(name, below)
        if known is None or below is None:
            found[name] = None
        elif name in found:
            _join(known, below)
        else:
            found[name] = below


def selected(data: Any, fields: Fields, depth: int) -> Any:
    """The nodes that ``fields`` names, each down to ``depth``, with nodes above them."""
    if isinstance(data, list):
        return [selected(one, fields, depth) for one in data]
    if not isinstance(data, dict):
        return data
    return {
        name: shallow(data[name], depth) if below is None else selected(data[name], below, depth)
        for name, below in fields.items()
        if name in data
    }


def paths(fields: Fields) -> list[tuple[str, ...]]:
    """The path of every node that fields name."""
    return [
        (name, *rest) for name, below in fields.items() for rest in ([()] if below is None else paths(below))
    ]
