"""Streams over more than one path: member streams (FRER) and standby paths."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from tsnbench.scenario.kinds.combinators import record_of
from tsnbench.scenario.kinds.common import NODES, PCP, RUN_TIME, SPAN
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Parsed, Quantity
from tsnbench.scenario.model.names import Name
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DURATION, Duration


class StreamPath(Part):
    """Hops from talker to listener, and per hop the parallel link (from 1) where one is named."""

    nodes: tuple[Name, ...]
    links: tuple[int | None, ...]


class LatentErrorDetection(Part):
    """Latent error detection: between tests, between resets, and how many frames may be missing."""

    period: Duration = key(
        Quantity(DURATION, 10**6, SPAN.most), "between tests; 2 s by default", default=2_000_000_000
    )
    reset: Duration = key(
        Quantity(DURATION, 10**6, SPAN.most), "between resets; 30 s by default", default=30_000_000_000
    )
    difference: int = key(Count(0, 10**9, "a number of frames"), "may be missing; 10 by default", default=10)


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text):
        raise ValueError
    return text.lower()


class ActiveIdentification(Part):
    """The fields of member streams that replace their stream's own; None: a generated address, the stream's
    VLAN, its PCP."""

    destination: str | None = key(
        Parsed("a MAC address such as 02:cb:00:00:00:01", parse=_mac),
        "of copies; a locally administered one by default",
        default=None,
    )
    vlan: int | None = key(
        Count(1, 4094, "a VLAN identifier"), "of copies; the stream's by default", default=None
    )
    pcp: int | None = key(PCP, "of copies; the stream's by default", default=None)


ACTIVE = record_of(
    ActiveIdentification,
    "active identification",
    common_mistakes={
        **dict.fromkeys(("mac", "address", "to"), "did you mean destination?"),
        **dict.fromkeys(("vid", "vlan-id"), "did you mean vlan?"),
        **dict.fromkeys(("priority", "prio"), "did you mean pcp?"),
    },
    empty=True,
)


class Frer(Part):
    """Member streams over several paths, and their elimination. IEEE 802.1CB-2017, 7."""

    paths: tuple[StreamPath, ...] = ()
    """None: as many disjoint paths as ``disjoint``, or those that ``from_failures`` finds."""
    from_failures: bool = False
    """The fewest links that leave a path after the failures that the stream has to survive."""
    disjoint: int = key(
        Count(2, 16, "a number of paths"),
        "so many paths that share no node or link; 2 by default",
        default=2,
    )
    at: tuple[Name, ...] = key(
        replace(NODES, what="a node, or a list of nodes"),
        "where copies meet: sw4, or [sw3, sw4]; the first node with the same path for all by default",
        default=(),
    )
    """The nodes where member streams merge; none: the first node from which all paths to a listener are
    equal.
    """
    recovery: Literal["vector", "match"] = key(
        Choice({"vector": "vector", "match": "match"}, "a recovery"),
        "vector or match",
        default="vector",
        clause="IEEE 802.1CB-2017, 7.4.3",
    )
    history: int = key(
        Count(1, 32_767, "a history length"),
        "numbers that vector recovery remembers; 32 by default",
        default=32,
        clause="IEEE 802.1CB-2017, 7.4.3.4",
    )
    reset: Duration = key(
        SPAN,
        "silence after which any number is taken; 2 s by default",
        default=2_000_000_000,
        clause="IEEE 802.1CB-2017, 7.4.3",
    )
    individual: bool = key(
        YES_NO, "true: each copy's path has a recovery function of its own as well", default=False
    )
    identification: Literal["null", "source-mac", "ip"] | ActiveIdentification | None = None
    """None: the first function that identifies the stream uniquely."""
    latent_errors: LatentErrorDetection | None = key(
        record_of(LatentErrorDetection, "latent error detection", empty=True),
        "an alarm when copies are missing: {period: 2 s, difference: 10}",
        default=None,
        clause="IEEE 802.1CB-2017, 7.4.4",
    )


class Failover(Part):
    """A standby path, taken ``after`` the first one fails, and left ``back`` after the first one's return."""

    path: StreamPath | None = None
    after: Duration = key(RUN_TIME, "from a link's failure until the other path forwards", "1 s")
    back: Duration = key(RUN_TIME, "from its return until the first path forwards again; as after by default")
