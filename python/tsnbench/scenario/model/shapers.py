"""Shaping of ports: credit, gates, pre-emption, ATS, CQF, queueing disciplines of hosts."""

from __future__ import annotations

import re
from typing import Literal

from tsnbench.scenario.kinds.combinators import Fields, ListOf, MapOf, record_of
from tsnbench.scenario.kinds.common import LINK_RATE, SPAN, STREAM_RATE, TIME
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Negative, OrPlan, Quantity
from tsnbench.scenario.model.gates import Follow, Gates, Planned, pcps
from tsnbench.scenario.model.names import Pcp
from tsnbench.scenario.model.network import QUEUES, Queues
from tsnbench.scenario.model.policing import BURST
from tsnbench.scenario.part import Part, Values, key
from tsnbench.scenario.text.reading import Bad, Reading
from tsnbench.scenario.units import CREDIT, DURATION, RATE, SIZE, BitRate, Duration, Size

CLASS_NAME = re.compile("(sr/)?[ABCD]|[0-7]")
"""An SR class or a PCP."""
_PCPS = ListOf(Count(0, 7, "a PCP"), "PCPs", most=8, once=True)
_SECOND = Quantity(DURATION, 0, 10**9)


class CbsClass(Part):
    """One class under credit-based shaping. The bandwidth follows from the streams at the port by default.

    The other slope and the credits follow from the bandwidth; they can be those of ``tc`` or of a device.
    """

    pcp: Pcp
    bandwidth: BitRate | None = key(STREAM_RATE, "idle slope; from the streams by default", default=None)
    most_frame: Size | None = key(
        Quantity(SIZE, 84), "largest PHY frame; from the streams by default", written="phy", default=None
    )
    """``MFS_X``."""
    send_slope: int | None = key(
        Negative(RATE, 10**12, usual="kbit/s"),
        "send slope, negative; idle slope less the port's rate by default",
        default=None,
    )
    """bit/s."""
    hi_credit: int | None = key(
        Quantity(CREDIT, 0, 1 << 40), "highest credit; from the frames in the way by default", default=None
    )
    """bit."""
    lo_credit: int | None = key(
        Negative(CREDIT, 1 << 40, zero=True),
        "lowest credit, negative; from the class's largest frame by default",
        default=None,
    )
    """bit."""


class Preemption(Part):
    """Frames with one of the PCPs in ``express`` interrupt all others of a port."""

    express: tuple[Pcp, ...] = key(
        pcps("PCPs that interrupt the others"), "PCPs that interrupt the others", "[7]"
    )
    hold_advance: Duration | None = key(
        TIME, "how long before an entry the MAC is held; what cannot be cut by default", default=None
    )
    release_advance: Duration = key(
        TIME, "how long before an entry the MAC is released; 0 by default", default=0
    )


def _some_frames_are_preemptable(reading: Reading, fields: Fields, given: Values) -> None:
    """Warns where pre-emption has no effect."""
    if len(set(given.get("express", ()))) == 8:
        text, hint = "all PCPs are express, so no frame is interrupted", "leave some PCPs out, or preemption"
        reading.doubt("all-express", *fields.where("express"), text, hint)


class Ats(Part):
    """Streams of these PCPs are shaped before they are queued at a port. IEEE 802.1Q-2022, 8.6.11."""

    pcps: tuple[Pcp, ...] = key(
        _PCPS, "the PCPs whose streams are shaped before they are queued here", "[6, 5]", written="pcp"
    )
    rate: BitRate | None = key(
        LINK_RATE, "committed information rate of each stream; from its pattern by default", default=None
    )
    """The rate, counted on the wire."""
    burst: Size | None = key(
        BURST, "committed burst size of each stream; from its pattern by default", default=None
    )
    residence: Duration = key(
        Quantity(DURATION, 1, (1 << 32) - 1),
        "a frame that would wait longer is dropped; 4294967295 ns by default",
        default=(1 << 32) - 1,
    )


class Server(Part):
    """A port with one queue that is served at a rate, after a latency, whatever the priorities of its frames.

    Le Boudec & Thiran, Network Calculus, 1.3.1.
    """

    rate: BitRate = key(
        Quantity(RATE, 1_000, 10**12),
        "rate of service, with preamble and inter-frame gap; at most that of the link",
        "4 Mbit/s",
    )
    latency: Duration = key(_SECOND, "longest time until an idle server begins; 0 us by default", default=0)


class Cqf(Part):
    """Streams of these PCPs are queued in ``classes`` by turns. IEEE 802.1Q-2022, annex T."""

    cycle: Duration = key(OrPlan(SPAN, 0), "how long each queue sends, or plan", "125 us")
    """The cycle; 0: the planner chooses it."""
    pcps: tuple[Pcp, ...] = key(_PCPS, "the PCPs whose streams are queued cyclically", "[6]", written="pcp")
    classes: tuple[Pcp, ...] = key(
        ListOf(Count(0, 7, "a traffic class"), "two to eight traffic classes: [7, 6]", least=2, most=8),
        "the queues that take turns: two, or more where links and bridges are slow",
        "[7, 6]",
    )
    octets: Size | None = key(
        Quantity(SIZE, 1, 1 << 40), "most that one link may bring in a cycle; more is dropped", default=None
    )


def _each_class_once(reading: Reading, fields: Fields, given: Values) -> Bad | None:
    classes = given.get("classes", ())
    if len(set(classes)) == len(classes):
        return None
    return fields.wrong(reading, "classes", "each class once", ", ".join(map(str, classes)))


class Etf(Part):
    """Earliest transmission time first. tc-etf(8)."""

    delta: Duration | None = key(
        OrPlan(_SECOND),
        "handed on so long before the transmission time; plan: what the host's timer needs",
        "175 us",
    )
    """None: to plan."""
    deadline: bool = key(YES_NO, "true: handed on as soon as possible", default=False)
    offload: bool = key(
        YES_NO, "true: the hardware holds the frame until its transmission time", default=False
    )
    skip_sock_check: bool = key(
        YES_NO, "true: also accepts frames of sockets without SO_TXTIME", default=False
    )


class Qdisc(Part):
    """The queueing disciplines of a host's port. ``etf``: by PCP."""

    taprio: Literal["software", "txtime-assist", "full-offload"] | None = key(
        Choice({word: word for word in ("software", "txtime-assist", "full-offload")}, "who keeps the gates"),
        "who keeps the port's gates: software, txtime-assist, full-offload (the hardware)",
        default=None,
        clause="tc-taprio(8)",
    )
    txtime_delay: Duration | None = key(
        OrPlan(_SECOND),
        "txtime-assist: no launch sooner than this; plan: the next microsecond above delta",
        default=0,
    )
    """None: to plan."""
    etf: dict[int, Etf] = key(
        MapOf(
            "etf by class",
            record_of(Etf, "an etf"),
            CLASS_NAME,
            "an SR class (A, B, C, D) or a PCP from 0 to 7",
            "write {A: {delta: 175 us}} or {6: {delta: 175 us}}",
        ),
        "earliest transmission time first, by class: {A: {delta: 175 us, offload: true}}",
        default={},
        clause="tc-etf(8)",
    )
    cbs: Literal["software", "full-offload"] = key(
        Choice({"software": "software", "full-offload": "full-offload"}, "who shapes"),
        "who keeps the port's credit-based shapers: software or full-offload (default, the hardware)",
        default="full-offload",
        clause="tc-cbs(8)",
    )
    overhead: Size = key(
        Quantity(SIZE, 0, 32_767),
        "octets that cbs in software counts for each frame besides those from address to data",
        sample="24 B",
        default=0,
        clause="tc-stab(8)",
        since="0.1",
    )
    limit_frames: int = key(
        Count(1, 1 << 24, "a number of frames"), "most frames in one queue; 1000 by default", default=1000
    )


class Shaper(Part):
    """The shaping of the ports of one selector; nearer selectors override others, key by key."""

    queues: Queues | None = key(QUEUES, "queues of these ports", default=None)
    cbs: tuple[CbsClass, ...] | None = None
    """Highest class first; a class with no stream through a port and no bandwidth gets no shaper there."""
    gates: Gates | Follow | Planned | None = None
    preemption: Preemption | None = key(
        record_of(
            Preemption,
            "frame pre-emption",
            example="{express: [7]}",
            rule=_some_frames_are_preemptable,
            common_mistakes=dict.fromkeys(
                ("preemptable", "preemptible", "preempted", "pmac"),
                "write express: [7]; all other PCPs are preemptable",
            ),
        ),
        "frame pre-emption: {express: [7]}; all other PCPs are preemptable",
        default=None,
        clause="IEEE 802.1Q-2022, 6.7.2",
    )
    planned_rate: BitRate | None = key(
        LINK_RATE,
        "rate for which credit-based shapers are computed, where it is not the real one",
        default=None,
    )
    ats: Ats | None = key(
        record_of(
            Ats,
            "asynchronous traffic shaping",
            common_mistakes={
                "pcps": "did you mean pcp?",
                "cir": "did you mean rate?",
                "cbs": "did you mean burst?",
            },
            example="{pcp: [6]}",
        ),
        "asynchronous traffic shaping: {pcp: [6]}",
        default=None,
        clause="IEEE 802.1Q-2022, 8.6.11",
    )
    cqf: Cqf | None = key(
        record_of(
            Cqf,
            "cyclic queuing and forwarding",
            common_mistakes={"pcps": "did you mean pcp?", "queues": "did you mean classes?"},
            example="{cycle: 125 us, pcp: [6], classes: [7, 6]}",
            rule=_each_class_once,
        ),
        "cyclic queuing: {cycle: 125 us, pcp: [6], classes: [7, 6]}",
        default=None,
        clause="IEEE 802.1Q-2022, annex T",
    )
    qdisc: Qdisc | None = key(
        record_of(
            Qdisc,
            "queueing disciplines",
            empty=True,
            example="{taprio: software}, or {etf: {6: {delta: 175 us}}}",
        ),
        "what the kernel of a host does: {taprio: txtime-assist, etf: {A: {delta: 175 us}}}",
        default=None,
    )
    server: Server | None = key(
        record_of(Server, "a rate-latency server", example="{rate: 4 Mbit/s, latency: 10 us}"),
        "one queue with a rate-latency server, as in published analyses: {rate: 4 Mbit/s, latency: 10 us}",
        default=None,
    )
    real_rate: BitRate | None = key(
        LINK_RATE, "egress rate, where it differs from the link's nominal rate", default=None
    )
    """The X552 of the COTS lessons has one that differs."""
