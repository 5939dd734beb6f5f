"""Streams: talker, listeners, traffic, path and requirements."""

from typing import Literal, NotRequired, TypedDict

from tsnbench.plan.types.hosts import Socket
from tsnbench.plan.types.redundancy import Redundancy


class Scheduled(TypedDict):
    """The times that were planned for a stream."""

    starts_ps: list[list[int]]
    margin_ps: NotRequired[int]
    behind: NotRequired[list[int]]


class Route(TypedDict):
    """One egress port of a stream's tree; ``parent``: the entry that leads here, absent at the talker."""

    port: int
    parent: NotRequired[int]


class Destination(TypedDict):
    """A listener, and the entry of the route by which its frames arrive."""

    node: int
    route: int


class PeriodicPattern(TypedDict):
    """A data unit every period, with uniform jitter."""

    kind: Literal["periodic"]
    period_ns: int
    offset_ns: int
    jitter_ns: int


class PoissonPattern(TypedDict):
    """Independent exponential gaps."""

    kind: Literal["poisson"]
    mean_interval_ps: int


class SaturatingPattern(TypedDict):
    """A talker that always has a frame ready."""

    kind: Literal["saturating"]
    backlog: int


class TracePattern(TypedDict):
    """Recorded releases, repeated."""

    kind: Literal["trace"]
    gaps_ns: list[int]
    cycle_ns: int
    passes: int


Pattern = PeriodicPattern | PoissonPattern | SaturatingPattern | TracePattern
"""The times at which a talker releases its data units."""


class FrameSize(TypedDict):
    """Every data unit is one frame of this size."""

    kind: Literal["frame"]
    octets: int


class UnitsSize(TypedDict):
    """Data units that are cut into frames."""

    kind: Literal["units"]
    octets: list[int]
    most_per_frame: int
    overhead: int


class ListSize(TypedDict):
    """Every data unit is one frame, with these sizes in turn."""

    kind: Literal["list"]
    octets: list[int]


Size = FrameSize | UnitsSize | ListSize
"""The sizes of data units."""


class Percentile(TypedDict):
    """A limit on delay that a share of the frames must keep."""

    share_ppm: int
    delay_ns: int


class Jitter(TypedDict):
    """A limit of one kind of jitter."""

    kind: str
    limit_ns: int


class Requirements(TypedDict):
    """The requirements of a stream at each of its listeners."""

    delay_ns: NotRequired[int]
    release_delay_ns: NotRequired[int]
    delay_percentiles: NotRequired[list[Percentile]]
    jitter: NotRequired[list[Jitter]]
    loss_ppm: NotRequired[int]
    rate_bps: NotRequired[int]
    age_ns: NotRequired[int]
    time_out_ns: NotRequired[int]
    round_trip_ns: NotRequired[int]
    worst_case: NotRequired[bool]


class Answers(TypedDict):
    """The stream whose frames release data units, ``after_ns`` after each has reached the talker."""

    stream: int
    after_ns: int


TelegramKind = Literal[
    "push", "request", "reply", "message-notify", "message-request", "message-reply", "message-reply-query",
    "message-confirm", "message-error",
]  # fmt: skip
"""The kinds of telegrams of process data and message data."""


class Trdp(TypedDict):
    """A TRDP telegram; ``header_octets``: 40 (version 1), 20 or 16 (version 2), 116 (message data).

    ``time_out_ns``: of subscribers, of a caller for its reply, or of a replier for a confirmation.
    """

    com_id: int
    kind: NotRequired[TelegramKind]
    reply_com_id: NotRequired[int]
    header_octets: int
    data_set_octets: int
    time_out_ns: int
    reply_status: NotRequired[int]
    etb_topo_count: NotRequired[int]
    op_trn_topo_count: NotRequired[int]
    service_id: NotRequired[int]


class Stream(TypedDict):
    """One stream: a talker's sequence of frames to one or more listeners."""

    name: str
    group: str
    talker: int
    pcp: int
    vid: NotRequired[int]
    destination_mac: str
    destination_ipv4: str
    udp_port: int
    type_of_service: NotRequired[int]
    trdp: NotRequired[Trdp]
    pattern: Pattern
    answers: NotRequired[Answers]
    size: Size
    start_ns: int
    stop_ns: int
    route: list[Route]
    redundancy: NotRequired[Redundancy]
    flood: NotRequired[list[Route]]
    socket: NotRequired[Socket]
    listeners: list[Destination]
    requirements: NotRequired[Requirements]
    scheduled: NotRequired[Scheduled]
