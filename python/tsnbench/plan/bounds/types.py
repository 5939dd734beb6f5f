"""Worst-case bounds of a Plan (``tsnbench-bounds/1``) as ``crates/bounds`` and ``crates/verify`` write them.

:func:`tsnbench.plan.bounds.bounds_of` defines each value; a null bound has a ``reason``.
"""

from typing import NotRequired, TypedDict

HopBounds = TypedDict(
    "HopBounds",
    {
        "port": str,
        "class": int,
        "upper_ps": int | None,
        "lower_ps": int,
        "reason": str | None,
    },
)
"""One flow at one port."""


class Survival(TypedDict):
    """The failures that a flow has to survive, and why frames are lost; null if none is."""

    failures: int
    reason: str | None
    carried: bool


class FlowBounds(TypedDict):
    """One flow to one of its listeners."""

    stream: str
    group: str
    listener: str
    upper_ns: int | None
    lower_ns: int
    upper_ps: int | None
    lower_ps: int
    release_upper_ps: int | None
    release_lower_ps: int
    reason: str | None
    release_reason: str | None
    drop_reason: str | None
    loss_reason: str | None
    hops: list[HopBounds]
    most_arrivals: NotRequired[int]
    survives: NotRequired[list[Survival]]
    program_ps: NotRequired[int]
    source: NotRequired[str]
    jitter_ns: NotRequired[int | None]
    release_tick_ns: NotRequired[int]
    undrained: NotRequired[str]
    """With a schedule: the first port where one disturbed frame delays all later ones."""
    drops_late: NotRequired[bool]
    """With a schedule: whether a queue drops frames that miss their window."""


ClassBounds = TypedDict(
    "ClassBounds",
    {
        "class": int,
        "backlog_octets": int | None,
        "backlog_frames": int | None,
        "reason": str | None,
        "credit_bits": NotRequired[int],
        "exceeded": NotRequired[str],
    },
)
"""One queue."""


class PortBounds(TypedDict):
    """The queues of one port."""

    port: str
    classes: list[ClassBounds]


class Bounds(TypedDict):
    """The bounds of a whole Plan."""

    format: str
    plan: str | None
    flows: list[FlowBounds]
    ports: list[PortBounds]
    version: NotRequired[str]
    clocks_within_ns: NotRequired[int]


class ClockPromise(TypedDict):
    """The greatest difference of clocks that a scenario promises, and that of a run, between which clocks and
    when (true time)."""

    within_ns: int
    apart_ns: int
    at_ns: int
    ahead: str
    behind: str
    kept: bool


class Proven(TypedDict):
    """The delays of one scheduled flow, from the proof of its schedule."""

    stream: int
    node: int
    upper_ns: int
    lower_ns: int
    upper_ps: int
    lower_ps: int
    release_upper_ps: int
    release_lower_ps: int
    full: int | None
    undrained: int | None
    drops_late: bool


class Passing(TypedDict):
    """The delays of one flow that passes windows of its class."""

    stream: int
    node: int
    upper_ns: int
    upper_ps: int
    release_upper_ps: int
    varies_ps: int
    met: bool
    lossless: bool


class Open(TypedDict):
    """A port and stream for which a window was proved."""

    stream: int
    port: int


class Windows(TypedDict):
    """The results of the proof of windows."""

    flows: list[Passing]
    open: list[Open]


class ProvenDelays(TypedDict):
    """The delays of the proof of a schedule."""

    delays: list[Proven]
    margins_assumed: bool
