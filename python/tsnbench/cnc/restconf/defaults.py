"""Leaves with default values: answers have those that a client wrote, all of them, or none.

RFC 8040, 4.8.9; RFC 6243. The basic mode is ``explicit``: what was written is told.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsnbench.foreign import Json

DEFAULTS: dict[str, Json] = {
    "user-to-network-requirements": {"num-seamless-trees": 1, "max-latency": 0},
    "interface-capabilities": {"vlan-tag-capable": False},
}
"""Of each talker and listener: those of the module ``ieee802-dot1q-tsn-types``."""


class Mode(Enum):
    """What is told of a leaf that has its default value."""

    EXPLICIT = "explicit"
    REPORT_ALL = "report-all"
    TRIM = "trim"


def with_defaults(data: Any, mode: Mode) -> Any:
    """Streams, or data with streams in it, as a mode tells them."""
    if mode is Mode.EXPLICIT:
        return data
    if isinstance(data, list):
        return [with_defaults(one, mode) for one in data]
    if not isinstance(data, dict):
        return data
    made = {name: with_defaults(value, mode) for name, value in data.items()}
    for name in {"talker", "listener"} & data.keys():
        ends = data[name]
        made[name] = _end(ends, mode) if isinstance(ends, dict) else [_end(one, mode) for one in ends]
    return made


def _end(end: Json, mode: Mode) -> Json:
    """A talker or a listener."""
    made = dict(end)
    for name, defaults in DEFAULTS.items():
        own = made.pop(name, {})
        if mode is Mode.REPORT_ALL:
            own = {**defaults, **own}
        else:
            own = {key: value for key, value in own.items() if key not in defaults or value != defaults[key]}
        if own:
            made[name] = own
    return made
