"""Nodes and ports, with the shapers of ports."""

from typing import Literal, NotRequired, TypedDict

from tsnbench.plan.types.gates import Gates
from tsnbench.plan.types.hosts import Host, Qdisc


class UniformFurther(TypedDict):
    """Uniform from 0 to a limit."""

    kind: Literal["uniform"]
    up_to_ns: int


class ListFurther(TypedDict):
    """One of a list of values; ``counts``: how often each was measured."""

    kind: Literal["list"]
    values_ns: list[int]
    counts: NotRequired[list[int]]


Further = UniformFurther | ListFurther
"""The processing time of a node beyond ``processing_ns``."""


class Buffer(TypedDict):
    """Memory that the ports of a node share."""

    octets: int
    alpha_permille: NotRequired[int]


class Learning(TypedDict):
    """Learning of addresses. IEEE 802.1Q-2022, 8.7."""

    ageing_ns: int


NodeKind = Literal["station", "bridge", "host"]
"""The kind of a node: it talks and listens, forwards, or both."""


class Node(TypedDict):
    """A node of the network."""

    name: str
    kind: NodeKind
    processing_ns: int
    ipv4: str
    cut_through_octets: NotRequired[int]
    further: NotRequired[Further]
    buffer: NotRequired[Buffer]
    learning: NotRequired[Learning]
    host: NotRequired[Host]


class Preemption(TypedDict):
    """Frame preemption; bit n of ``express`` set: class n is express. IEEE 802.1Q-2022, 6.7.2."""

    express: int
    hold_advance_ns: NotRequired[int]
    release_advance_ns: NotRequired[int]


class CbsLinux(TypedDict):
    """A credit-based shaper in the units of ``tc``: kbit/s and octets."""

    idleslope: int
    sendslope: int
    hicredit: int
    locredit: int


class Cbs(TypedDict):
    """A credit-based shaper in the units of the standard. IEEE 802.1Q-2022, 8.6.8.2."""

    idle_slope_bps: int
    send_slope_bps: int
    hi_credit_bits: int
    lo_credit_bits: int
    linux: CbsLinux
    runs_while_closed: NotRequired[bool]


class Class(TypedDict):
    """One traffic class of a port: its queue and its transmission selection."""

    limit_frames: NotRequired[int]
    limit_octets: NotRequired[int]
    cbs: NotRequired[Cbs]
    max_sdu_octets: NotRequired[int]


class Port(TypedDict):
    """One port: the egress of a node towards its peer, and the ingress back."""

    name: str
    node: int
    peer: int
    mac: str
    rate_bps: int
    propagation_ps: int
    pcp_to_class: list[int]
    classes: list[Class]
    gates: NotRequired[Gates]
    preemption: NotRequired[Preemption]
    qdisc: NotRequired[Qdisc]
