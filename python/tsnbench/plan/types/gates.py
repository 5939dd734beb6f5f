"""Gate control lists of a port: the first one, and those that replace it."""

from typing import Literal, NotRequired, TypedDict, final

IdleSlope = TypedDict(
    "IdleSlope",
    {
        "class": int,
        "bps": int,
    },
)
"""The idle slope of one class while a list is in force."""


MacOperation = Literal["hold", "release"]
"""The MAC operation of a gate entry. IEEE 802.3-2022, 99.4."""


class GateEntry(TypedDict):
    """One entry of a gate control list; bit n of ``open`` set: the gate of class n is open."""

    open: int
    interval_ns: int
    mac: NotRequired[MacOperation]


@final
class GateChange(TypedDict):
    """A gate control list that replaces the one before it."""

    at_ns: int
    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]
    cycle_extension_ns: NotRequired[int]
    idle_slopes: NotRequired[list[IdleSlope]]


@final
class Gates(TypedDict):
    """The gates of one port: the first list, and the lists that replace it. IEEE 802.1Q-2022, 8.6.8.4."""

    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]
    initial: NotRequired[int]
    cycle_extension_ns: NotRequired[int]
    unguarded: NotRequired[bool]
    changes: NotRequired[list[GateChange]]


class GateCycle(TypedDict):
    """The fields of every gate control list: of a port, of a change of its list, or of ``taprio``."""

    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]


GateList = Gates | GateChange
"""One of the lists of a port; a change has ``at_ns``."""
