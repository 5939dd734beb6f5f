"""Streams with several paths: member streams and their elimination, or a standby path."""

from typing import Literal, NotRequired, TypedDict

Merge = TypedDict(
    "Merge",
    {
        "from": list[int],
    },
)
"""Several route entries that end at one node and continue as one."""


class Span(TypedDict):
    """A span from one instant until just before another."""

    from_ns: int
    until_ns: int


class Active(TypedDict):
    """The times at which a route entry forwards."""

    route: int
    spans: list[Span]


class Rewritten(TypedDict):
    """The fields of member streams that replace their stream's address, VLAN and priority."""

    destination_mac: str
    vid: int
    pcp: int


class ActiveIdentification(TypedDict):
    """Active stream identification. IEEE 802.1CB-2017, 6.6."""

    active: Rewritten


Identification = Literal["null", "source-mac", "ip"] | ActiveIdentification
"""A stream identification function. IEEE 802.1CB-2017, 6.4 to 6.7."""


class VectorAlgorithm(TypedDict):
    """The vector recovery algorithm. IEEE 802.1CB-2017, 7.4.3.4."""

    kind: Literal["vector"]
    history: int


class MatchAlgorithm(TypedDict):
    """The match recovery algorithm. IEEE 802.1CB-2017, 7.4.3.5."""

    kind: Literal["match"]


Algorithm = VectorAlgorithm | MatchAlgorithm
"""The algorithm that decides whether a sequence number was received before."""


class LatentErrors(TypedDict):
    """Latent error detection. IEEE 802.1CB-2017, 7.4.4."""

    period_ns: int
    reset_ns: int
    difference: int


class Recovery(TypedDict):
    """Sequence recovery. IEEE 802.1CB-2017, 7.4.2 and 7.4.3."""

    identification: Identification
    algorithm: Algorithm
    reset_ns: int
    individual: NotRequired[bool]
    latent: NotRequired[LatentErrors]


class Redundancy(TypedDict):
    """Redundancy of a stream, whose route is then more than a tree. IEEE 802.1CB-2017."""

    copies: NotRequired[list[int]]
    merges: NotRequired[list[Merge]]
    active: NotRequired[list[Active]]
    recovery: NotRequired[Recovery]
