"""A scheduling problem and its result, in the JSON of ``crates/schedule``.

Streams, links and nodes are identified by their indices in the problem's lists.
"""

from typing import NotRequired, TypedDict


class Node(TypedDict):
    """A node."""

    processing_ps: int
    forwards: bool


class Limits(TypedDict):
    """The limits of a port's hardware. IEEE 802.1Q-2022, 12.29.1."""

    entries: NotRequired[int]
    shortest_interval_ns: NotRequired[int]
    granularity_ns: NotRequired[int]
    longest_cycle_ns: NotRequired[int]
    longest_frame: NotRequired[int]
    waiting: NotRequired[bool]


Link = TypedDict(
    "Link",
    {
        "from": int,
        "to": int,
        "rate_bps": int,
        "propagation_ps": int,
        "margin_ps": int,
        "queues": int,
        "limits": NotRequired[Limits],
    },
)
"""One direction of a link."""


class TreeEntry(TypedDict):
    """One link of a path; ``parent``: the previous entry, absent at the talker."""

    link: int
    parent: NotRequired[int]


class Stream(TypedDict):
    """One time-triggered stream."""

    talker: int
    listeners: list[int]
    period_ns: int
    frames: list[int]
    deadline_ns: int
    earliest_ns: int
    latest_ns: int
    tree: NotRequired[list[TreeEntry] | list[int]]
    """The path; a list of numbers is a chain of links."""
    copies: NotRequired[int]
    more_octets: NotRequired[list[int]]
    jitter_ns: NotRequired[int]
    queue: NotRequired[int]


class Network(TypedDict):
    """Nodes and links."""

    nodes: list[Node]
    links: list[Link]


class Problem(Network):
    """A network and its streams."""

    streams: list[Stream]
    granularity_ns: int


class Placed(TypedDict):
    """The decision for one stream."""

    offset_ns: int
    tree: list[TreeEntry]
    starts_ps: list[int]
    queue: int
    behind: NotRequired[list[int]]
    delay_ps: NotRequired[int]


class Refusal(TypedDict):
    """Why a stream was not placed, or a link has no list; only the kind is read."""

    kind: str


class Outcome(TypedDict):
    """The results for all streams."""

    placed: list[Placed | None]
    refused: list[tuple[int, Refusal]]
    moved: NotRequired[list[int]]
    ejections: NotRequired[int]


class GateColumns(TypedDict):
    """The gate control list of one link, with a value for each entry in the last three lists."""

    link: int
    base_ns: int
    cycle_ns: int
    joined: int
    queues: list[int]
    """Bit n: queue n of the time-triggered streams is open."""
    others: list[bool]
    """All other queues are open."""
    intervals_ns: list[int]


class Hop(TypedDict):
    """The times of one hop."""

    link: int
    wire_ps: int
    propagation_ps: int
    before_ps: int


class Share(TypedDict):
    """A stream's share of a link, in parts per million."""

    stream: int
    ppm: int


class PathHop(TypedDict):
    """The times of one entry of a path."""

    processing_ps: int
    wire_ps: list[int]
    arrives_ps: list[int]
    listens: bool


class CandidatePath(TypedDict):
    """One path of a stream."""

    tree: list[TreeEntry]
    steps: list[PathHop]


class Reason(TypedDict):
    """Why there is no schedule: ``kind`` determines the other keys."""

    kind: str
    stream: NotRequired[int]
    listener: NotRequired[int]
    streams: NotRequired[list[int] | list[Share]]
    copies: NotRequired[int]
    link: NotRequired[int]
    octets: NotRequired[int]
    most: NotRequired[int]
    needs_ps: NotRequired[int]
    period_ns: NotRequired[int]
    deadline_ns: NotRequired[int]
    smallest_ps: NotRequired[int]
    margin_ps: NotRequired[int]
    hops: NotRequired[list[Hop]]
    rate_bps: NotRequired[int | None]
    limit_ns: NotRequired[int]
    spread_ps: NotRequired[int]
    margins_ps: NotRequired[int]
    common_ps: NotRequired[int]
    ppm: NotRequired[int]
    refusal: NotRequired[Refusal]
    minimal: NotRequired[bool]


class FoundBeside(TypedDict):
    """The places of streams that joined others, and the gates of the links that were asked for."""

    placed: list[Placed]
    gates: list[GateColumns]


class Found(TypedDict):
    """The answer of an engine: a schedule with its gates, or the reasons why there is none, also in words."""

    outcome: Outcome
    gates: list[GateColumns]
    reasons: list[Reason]
    sentences: list[str]
