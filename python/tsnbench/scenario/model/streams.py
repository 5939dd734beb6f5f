"""A stream: its talker and listeners, its traffic, its path, and what it requires."""

from __future__ import annotations

from typing import Literal

from tsnbench.scenario.kinds.combinators import record_of
from tsnbench.scenario.kinds.common import SPAN, STREAM_RATE, TIME
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Quantity
from tsnbench.scenario.model.names import Name, Pcp
from tsnbench.scenario.model.redundancy import Failover, Frer
from tsnbench.scenario.model.traffic import (
    FixedSize,
    Periodic,
    Poisson,
    RecordedSizes,
    Replay,
    Saturating,
    UnitSizes,
)
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DURATION, SHARE, BitRate, Duration


class JitterLimit(Part):
    kind: Literal["delay-step-abs", "deviation", "spread", "interval"]
    limit: Duration


class Requirements(Part):
    delay: Duration | None = key(SPAN, "highest delay", default=None)
    release_delay: Duration | None = key(
        SPAN,
        "highest delay from the release on: with the wait in the talker's own port",
        written="delay from release",
        default=None,
    )
    percentiles: dict[int, Duration] = {}
    """Share in parts per million -> delay."""
    jitter: tuple[JitterLimit, ...] = ()
    loss_ppm: int | None = key(
        Quantity(SHARE, 0, 10**6, zero=True),
        "most frames lost on the way: 0, 0.1 %, 100 ppm",
        written="loss",
        default=None,
    )
    rate: BitRate | None = key(
        STREAM_RATE, "least rate received, frames from destination address to FCS", default=None
    )
    worst_case: bool = key(
        YES_NO, "true: the worst-case bounds also have to keep these limits", default=False
    )
    """The worst case also has to keep these limits: one run is not enough."""

    @property
    def least_delay(self) -> int | None:
        """The lowest limit of every frame's delay, for who counts from the release; None without one."""
        return min((ns for ns in (self.delay, self.release_delay) if ns is not None), default=None)


class Send(Part):
    """A talker's timer is set ``advance`` before the instant for which a frame is meant."""

    advance: Duration = key(
        Quantity(DURATION, 0, 10**9),
        "its timer is set so long before the instant for which a frame is meant (Farzaneh's Delta)",
        default=0,
    )
    txtime: bool = key(YES_NO, "true: the frame carries that instant (SO_TXTIME)", default=False)
    deadline: bool = key(YES_NO, "true: as a deadline (SOF_TXTIME_DEADLINE_MODE)", default=False)
    clock: Literal["tai", "monotonic"] = key(
        Choice({"tai": "tai", "monotonic": "monotonic"}, "a clock"),
        "clock of the socket: tai (default)",
        default="tai",
    )
    window: Duration | None = key(
        Quantity(DURATION, 1, 10**9),
        "how long from that instant on frames may leave: advance and window fit into the period",
        default=None,
    )


class Release(Part):
    """A window of a period. ``latest``: None for its end."""

    earliest: Duration = key(TIME, "earliest release in a period; 0 us unless given", default=0)
    latest: Duration | None = key(TIME, "latest release; may lie behind the period's end", default=None)


class Stream(Part):
    talker: Name
    listeners: tuple[Name, ...]
    pcp: Pcp
    sr_class: Literal["A", "B", "C", "D"] | None = None
    """The SR class whose CBS reservation counts this stream."""
    vid: int | None = 100
    pattern: Periodic | Poisson | Saturating | Replay
    size: FixedSize | UnitSizes | RecordedSizes
    count: int = key(
        Count(1, 10_000, "a number of flows"), "so many flows, each with its own sequence", default=1
    )
    """Flows. Over n parallel links, flow k (from 0) takes link k mod n unless ``via_links`` chooses."""
    via: tuple[Name, ...] | None = None
    """Explicit hops, talker and listener included (one listener); None: shortest path."""
    via_links: tuple[int | None, ...] | None = None
    """With ``via``: the parallel link (from 1) of each hop, one fewer than names; None: not chosen."""
    frer: Frer | None = None
    failover: Failover | None = None
    send: Send | None = key(
        record_of(Send, "how a talker sends", example="{advance: 500 us, txtime: true}"),
        "timer and socket of a talker on a host: {advance: 250 us, txtime: true}",
        default=None,
    )
    scheduled: bool = key(YES_NO, "true: its releases, and gates on its way, are planned", default=False)
    release: Release | None = key(
        record_of(Release, "a window of release"),
        "when in the period a scheduled stream is released: {earliest: 100 us, latest: 200 us}",
        default=None,
    )
    start: Duration = key(TIME, "no release before this", default=0)
    stop: Duration | None = key(SPAN, "no release at or after this", default=None)
    requires: Requirements = Requirements()
