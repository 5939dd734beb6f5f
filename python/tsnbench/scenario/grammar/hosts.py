"""The keys of hosts: latencies of software by stage, sockets, queueing disciplines."""

from __future__ import annotations

import re

from tsnbench.scenario.grammar.planned import OrPlan
from tsnbench.scenario.grammar.shapes import Either, Field, KeyPattern, ListOf, MapOf, Record
from tsnbench.scenario.grammar.values import YES_NO, Choice, Count, Quantity, Text
from tsnbench.scenario.units import DURATION

STAGES = ("interval-start", "wakeup", "send", "qdisc", "driver", "tx", "rx", "kernel-rx", "app-rx")
"""In the order in which a frame passes. OCORA Fig. 9."""
LATENCIES = {
    "wakeup": "from the instant for which a talker's timer is set until its thread runs",
    "send": "from there to the call of send",
    "qdisc": "from there to the queueing discipline; of forwarded frames, from the kernel to it",
    "driver": "from the queueing discipline's decision to the driver",
    "tx": "from the driver to the hardware's queue",
    "kernel-rx": "from the hardware's reception to the kernel",
    "app-rx": "from the kernel to the listener's program",
    "timer": "how late a queueing discipline's timer is; as wakeup unless given",
}
_SPAN = Quantity(DURATION, 0, 10**9)
LATENCY = Either(
    "a duration, {from: …, to: …}, {values: …, counts: …} or {cyclictest: …}",
    text=_SPAN,
    mapping=Record(
        "a latency",
        {
            "from": Field(_SPAN, "uniform: the least"),
            "to": Field(_SPAN, "uniform: the greatest"),
            "values": Field(ListOf(_SPAN, "durations"), "a histogram: where each bin begins, ascending"),
            "counts": Field(ListOf(Count(0, 1 << 40, "a count"), "counts"), "how often each bin was met"),
            "width": Field(_SPAN, "how wide a bin is; 0 us unless given: single values"),
            "cyclictest": Field(
                Text("a file that cyclictest -h has written", swept=False),
                "a measured histogram: a file that cyclictest -h or --histfile has written",
            ),
            "thread": Field(Count(0, 1023, "a thread"), "which column of it, from 0; all unless given"),
        },
    ),
)
HOST = Record(
    "a host",
    {
        "profile": Field(Text("the name of a profile"), "standard, low-latency, preempt-rt, …"),
        "load": Field(
            Choice({"none": "none", "same-cpu": "same-cpu"}, "a load"),
            "same-cpu: other work on the same processor cores; none unless given",
        ),
        **{name: Field(LATENCY, doc) for name, doc in LATENCIES.items()},
    },
    empty=True,
)
ONE_HOST = Either("a profile, or a host", text=Text("the name of a profile"), mapping=HOST)
HOSTS = Record(
    "hosts",
    {"default": Field(ONE_HOST, "the software of every station and host that has no entry of its own")},
    patterns=(
        KeyPattern(
            r"(?!default$)[A-Za-z][A-Za-z0-9_.+-]*",
            Field(ONE_HOST, "one node's software, key by key; none: takes no time"),
            "node1",
        ),
    ),
    example="{default: low-latency}",
)
SEND = Record(
    "how a talker sends",
    {
        "advance": Field(
            Quantity(DURATION, 0, 10**9),
            "its timer is set so long before the instant for which a frame is meant (Farzaneh's Delta)",
        ),
        "txtime": Field(YES_NO, "true: the frame carries that instant (SO_TXTIME)"),
        "deadline": Field(YES_NO, "true: as a deadline (SOF_TXTIME_DEADLINE_MODE)"),
        "clock": Field(
            Choice({"tai": "tai", "monotonic": "monotonic"}, "a clock"), "clock of the socket: tai (default)"
        ),
        "window": Field(
            Quantity(DURATION, 1, 10**9),
            "how long from that instant on frames may leave: advance and window fit into the period",
        ),
    },
    example="{advance: 500 us, txtime: true}",
)
_ETF = Record(
    "an etf",
    {
        "delta": Field(
            OrPlan(Quantity(DURATION, 0, 10**9)),
            "handed on so long before the transmission time; plan: what the host's timer needs",
            "175 us",
        ),
        "deadline": Field(YES_NO, "true: handed on as soon as possible"),
        "offload": Field(YES_NO, "true: the hardware holds the frame until its transmission time"),
        "skip-sock-check": Field(YES_NO, "true: takes frames of sockets without SO_TXTIME, too"),
    },
)
QDISC = Record(
    "queueing disciplines",
    {
        "taprio": Field(
            Choice(
                {"software": "software", "txtime-assist": "txtime-assist", "full-offload": "full-offload"},
                "who keeps the gates",
            ),
            "who keeps the port's gates: software, txtime-assist, full-offload (the hardware)",
        ),
        "txtime-delay": Field(
            OrPlan(Quantity(DURATION, 0, 10**9)),
            "txtime-assist: no launch sooner than this; plan: the next microsecond above delta",
        ),
        "etf": Field(
            MapOf(
                "etf by class",
                _ETF,
                re.compile("(sr/)?[ABCD]|[0-7]"),
                "an SR class (A, B, C, D) or a PCP from 0 to 7",
                "write {A: {delta: 175 us}} or {6: {delta: 175 us}}",
            ),
            "earliest transmission time first, by class: {A: {delta: 175 us, offload: true}}",
        ),
        "cbs": Field(
            Choice({"software": "software", "full-offload": "full-offload"}, "who shapes"),
            "who keeps the port's credit-based shapers: software or full-offload (default, the hardware)",
        ),
        "limit-frames": Field(Count(1, 1 << 24, "a number of frames"), "most frames in one queue; 1000"),
    },
    empty=True,
    example="{taprio: software}, or {etf: {6: {delta: 175 us}}}",
)
STAGE_NAMES = ListOf(
    Choice({name: name for name in STAGES if name not in ("tx", "rx")}, "a stage"), "stages", least=0
)
