"""Linux end stations: software latencies, sockets, queueing disciplines."""

from typing import Literal, NotRequired, TypedDict

from tsnbench.plan.types.gates import GateEntry


class ConstantDistribution(TypedDict):
    """Always the same time."""

    kind: Literal["constant"]
    ns: int


class UniformDistribution(TypedDict):
    """Every time between two limits is equally likely."""

    kind: Literal["uniform"]
    from_ns: int
    to_ns: int


class HistogramDistribution(TypedDict):
    """A measured table: where each bin begins, and how often it was met."""

    kind: Literal["histogram"]
    ns: list[int]
    counts: list[int]
    width_ns: NotRequired[int]


Distribution = ConstantDistribution | UniformDistribution | HistogramDistribution
"""A span of time that is drawn anew each time."""


class Host(TypedDict):
    """Latencies of a node's software, each named after the stage at its end."""

    wakeup: NotRequired[Distribution]
    send: NotRequired[Distribution]
    qdisc: NotRequired[Distribution]
    driver: NotRequired[Distribution]
    tx: NotRequired[Distribution]
    kernel_rx: NotRequired[Distribution]
    app_rx: NotRequired[Distribution]
    timer: NotRequired[Distribution]


class Socket(TypedDict):
    """A talker's thread and socket on a host."""

    advance_ns: int
    txtime: NotRequired[bool]
    deadline: NotRequired[bool]
    other_clock: NotRequired[bool]


TaprioMode = Literal["software", "txtime-assist"]
"""The mode of ``taprio``."""


class Taprio(TypedDict):
    """The root ``taprio``, which keeps the gates in software."""

    mode: TaprioMode
    txtime_delay_ns: NotRequired[int]
    base_time_ns: int
    cycle_ns: int
    entries: list[GateEntry]


class PfifoChildQdisc(TypedDict):
    """First in, first out."""

    kind: Literal["pfifo"]
    limit_frames: int


class EtfChildQdisc(TypedDict):
    """Earliest transmission time first."""

    kind: Literal["etf"]
    delta_ns: int
    deadline: NotRequired[bool]
    offload: NotRequired[bool]
    skip_sock_check: NotRequired[bool]


class CbsChildQdisc(TypedDict):
    """The credit-based shaper of the kernel, in the units of ``tc``."""

    kind: Literal["cbs"]
    idleslope: int
    sendslope: int
    hicredit: int
    locredit: int
    limit_frames: int


ChildQdisc = PfifoChildQdisc | EtfChildQdisc | CbsChildQdisc
"""The queueing discipline of one class."""


class Qdisc(TypedDict):
    """The queueing disciplines of a host's port: a root, and one child per class."""

    taprio: NotRequired[Taprio]
    children: list[ChildQdisc]
