"""A stream: its talker and listeners, its traffic, its path, and its requirements."""

from __future__ import annotations

from typing import Literal

from tsnbench.scenario.kinds.combinators import Either, Fields, ListOf, record_of
from tsnbench.scenario.kinds.common import IPV4, RUN_SPAN, RUN_TIME, SPAN, STREAM_RATE, TIME
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Quantity, Text
from tsnbench.scenario.model.names import Name, Pcp
from tsnbench.scenario.model.redundancy import Failover, Frer
from tsnbench.scenario.model.traffic import (
    Answer,
    FixedSize,
    Periodic,
    Poisson,
    RecordedSizes,
    Replay,
    Saturating,
    TokenBucket,
    UnitSizes,
)
from tsnbench.scenario.part import Part, Values, key
from tsnbench.scenario.text.reading import BAD, Bad, Reading
from tsnbench.scenario.units import DURATION, SHARE, SIZE, BitRate, Duration, Size


class JitterLimit(Part):
    kind: Literal["delay-step-abs", "deviation", "spread", "interval"]
    limit: Duration


FAILURES = Count(1, 4, "a number of failures")


class Survives(Part):
    """Links and nodes of which any few may fail at once without the loss of a frame."""

    failures: int = key(FAILURES, "so many of them fail at once; 1 by default", written="any", default=1)
    of: tuple[str, ...] = key(
        ListOf(Text("a link or a node", swept=False), "links and nodes"),
        "what may fail: [b1 -- b2, b3], [links], [bridge-links] or [nodes]; links and nodes by default",
        sample="[bridge-links]",
        default=("links", "nodes"),
    )


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
    age: Duration | None = key(
        SPAN,
        "oldest that a listener's last value may become: from its sending to the arrival of a newer one",
        default=None,
    )
    time_out: Duration | None = key(
        SPAN,
        "longest time from one arrival to the next: no subscriber with this time-out times out",
        default=None,
    )
    round_trip: Duration | None = key(
        SPAN,
        "with answers: longest time from first request to answer",
        default=None,
    )
    survives: tuple[Survives, ...] = key(
        ListOf(
            Either(
                "a number of failures, or {any: 1, of: …}",
                text=FAILURES,
                mapping=record_of(Survives, "failures to survive"),
                short="any",
            ),
            "a number of failures, {any: 1, of: …}, or a list of these",
            most=4,
        ),
        "failures of links and nodes that lose no frame, at any time: 1",
        default=(),
    )
    worst_case: bool = key(
        YES_NO, "true: the worst-case bounds also have to keep these limits", default=False
    )
    """The worst case also has to keep these limits: one run is not enough."""

    @property
    def least_delay(self) -> int | None:
        """The lowest limit of every frame's delay from the release; None without one."""
        return min((ns for ns in (self.delay, self.release_delay) if ns is not None), default=None)


class Send(Part):
    """A talker's timer is set ``advance`` before the intended sending time of a frame."""

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

    earliest: Duration = key(TIME, "earliest release in a period; 0 us by default", default=0)
    latest: Duration | None = key(TIME, "latest release; may lie behind the period's end", default=None)


_NUMBER = Count(0, 2**32 - 1, "a number of 32 bits")
_MICROSECONDS = Quantity(DURATION, 1_000, (2**32 - 1) * 1_000)
"""Time-outs in a telegram: whole microseconds of 32 bits."""


MESSAGES = ("notify", "request", "reply", "confirm", "error")
"""The patterns of message data."""
_ONLY_WITH = {
    "header": ("tsn",),
    "time-out": ("push", "pull", "tsn"),
    "service-id": ("push", "pull", "tsn"),
    "reply-time-out": ("request",),
    "confirm-time-out": ("reply",),
}
"""Keys that belong to some patterns only."""
_HINTS = {
    "header": "pattern: tsn has a header of 20 or 16 octets",
    "time-out": "message data has reply-time-out in a request and confirm-time-out in a reply",
    "reply-time-out": "only pattern: request waits for a reply",
    "confirm-time-out": "only pattern: reply waits for a confirmation",
}


class Trdp(Part):
    """TRDP process data or message data. IEC 61375-2-3, Annex A."""

    com_id: int = key(
        _NUMBER,
        "communication identifier; required, but for confirm and error",
        written="com-id",
        default=0,
        sample="1000",
    )
    data_set: Size = key(
        Quantity(SIZE, 14, 1458),
        "octets of the data set; required, but for confirm and error",
        sample="64 B",
        default=0,
    )
    pattern: Literal["push", "pull", "tsn", "notify", "request", "reply", "confirm", "error"] = key(
        Choice({name: name for name in ("push", "pull", "tsn", *MESSAGES)}, "a pattern"),
        "push, pull, tsn (version 2); message data: notify, request, and as answers reply, error, confirm",
        sample="notify",
        default="push",
    )
    qos: int = key(
        Count(0, 7, "a quality of service"),
        "PCP and type of service; 5, for message data 3, by default",
        default=5,
    )
    header: int = key(
        Choice({"16": 16, "20": 20}, "octets of a header"),
        "with tsn: 20 or 16",
        default=20,
    )
    time_out: Duration = key(SPAN, "time-out of the subscribers", default=100_000_000)
    reply_time_out: Duration = key(_MICROSECONDS, "wait for the reply; 5 s by default", default=5_000_000_000)
    confirm_time_out: Duration = key(
        _MICROSECONDS,
        "wait for the confirmation; 1 s by default",
        default=1_000_000_000,
    )
    etb_topo_count: int = key(_NUMBER, "topography counter of the train backbone; 0", default=0)
    op_trn_topo_count: int = key(_NUMBER, "topography of the operational train; 0", default=0)
    service_id: int = key(_NUMBER, "service identifier; 0: none", default=0)

    @property
    def reply_status(self) -> int:
        """-3 in an error: there is no replier."""
        return -3 if self.pattern == "error" else 0

    @property
    def is_message(self) -> bool:
        """Whether the telegram is message data."""
        return self.pattern in MESSAGES

    @property
    def header_octets(self) -> int:
        """The octets of the telegram's header."""
        return self.header if self.pattern == "tsn" else 116 if self.is_message else 40

    @property
    def payload_octets(self) -> int:
        """The octets of the UDP payload: the header, and the data set padded to a multiple of four octets."""
        return self.header_octets + -(-self.data_set // 4) * 4

    @property
    def longest(self) -> int:
        """Octets of the longest data set; of message data, in one frame."""
        return 1458 if self.pattern == "tsn" else 1356 if self.is_message else 1432


def _telegram_keys(reading: Reading, fields: Fields, given: Values) -> Bad | None:
    """The keys that the pattern needs, and those that it does not have."""
    if "pattern" in fields.bad:
        return None
    pattern = given.get("pattern", "push")
    wrong: Bad | None = None
    needed = {"com-id": "1000", "data-set": "64 B"}
    hints = {name: _HINTS.get(name, "") for name, patterns in _ONLY_WITH.items() if pattern not in patterns}
    if pattern in ("confirm", "error"):
        hints |= {name: f"leave it out: pattern: {pattern} has no {name}" for name in needed}
    for name, hint in hints.items():
        if not fields.none_of(reading, [name], f"no {{key}} with {pattern}", "one", hint):
            wrong = BAD
    for name, example in needed.items():
        if name not in hints and name not in fields.places and name not in fields.bad:
            expected = f"the key {name} in a TRDP telegram"
            wrong = reading.problem(fields.place, fields.path, expected, "none", f"add {name}: {example}")
    if pattern in MESSAGES:
        given.setdefault("qos", 3)
    return wrong


class Stream(Part):
    talker: Name
    listeners: tuple[Name, ...]
    pcp: Pcp
    sr_class: Literal["A", "B", "C", "D"] | None = None
    """The SR class whose CBS reservation counts this stream."""
    vid: int | None = 100
    pattern: Periodic | Poisson | TokenBucket | Saturating | Replay | Answer
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
    trdp: Trdp | None = key(
        record_of(
            Trdp,
            "a TRDP telegram",
            common_mistakes={
                "comid": "did you mean com-id?",
                "timeout": "did you mean time-out?",
                "reply-timeout": "did you mean reply-time-out?",
                "confirm-timeout": "did you mean confirm-time-out?",
            },
            rule=_telegram_keys,
        ),
        "each frame carries a TRDP telegram: {com-id: 1000, data-set: 64 B}",
        sample="{com-id: 1000, data-set: 64 B}",
        default=None,
        clause="IEC 61375-2-3, Annex A",
    )
    udp_port: int | None = key(
        Count(1, 65_535, "a UDP port"),
        "UDP source and destination port; its own by default",
        default=None,
        clause="RFC 768",
    )
    address: str | None = key(
        IPV4,
        "IPv4 destination address; the listener's, or a group's, by default",
        default=None,
        sample="239.0.0.1",
        clause="RFC 791, 3.1",
    )
    tos: int | None = key(
        Count(0, 255, "a type of service"),
        "type of service; 0 by default",
        default=None,
        clause="RFC 791, 3.1",
    )
    scheduled: bool = key(YES_NO, "true: its releases, and gates on its way, are planned", default=False)
    release: Release | None = key(
        record_of(Release, "a window of release", example="{earliest: 100 us, latest: 200 us}"),
        "when in the period a scheduled stream is released: {earliest: 100 us, latest: 200 us}",
        default=None,
    )
    start: Duration = key(RUN_TIME, "no release before this", default=0)
    stop: Duration | None = key(RUN_SPAN, "no release at or after this", default=None)
    requires: Requirements = Requirements()

    @property
    def replies_to(self) -> str | None:
        """The stream whose telegrams of TRDP its own ones answer: a request, or a reply that they confirm."""
        if self.trdp is None or not isinstance(self.pattern, Answer):
            return None
        return self.pattern.answers if self.trdp.pattern in ("pull", "reply", "error", "confirm") else None
