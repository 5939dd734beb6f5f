"""The keys of hosts: latencies of software by stage."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Either, Field, KeyPattern, ListOf, Record
from tsnbench.scenario.kinds.values import Choice, Count, Quantity, Text
from tsnbench.scenario.units import DURATION

LATENCIES = {
    "wakeup": "from the instant for which a talker's timer is set until its thread runs",
    "send": "from there to the call of send",
    "qdisc": "from there to the queueing discipline; of forwarded frames, from the kernel to it",
    "driver": "from the queueing discipline's decision to the driver",
    "tx": "from the driver to the hardware's queue",
    "kernel-rx": "from the hardware's reception to the kernel",
    "app-rx": "from the kernel to the listener's program",
    "timer": "how late a queueing discipline's timer is; as wakeup by default",
}
OF_PROGRAMS = {
    "prepare": "from qdisc until a talker's next frame is ready; then its thread sleeps, or sends again",
    "turn": "with processor: from the end of another node's thread until a talker's thread runs",
    "finish": "with processor: from the driver's reception of a frame until other work goes on",
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
            "width": Field(_SPAN, "how wide a bin is; 0 us by default: single values"),
            "cyclictest": Field(
                Text("a file that cyclictest -h has written", swept=False),
                "a measured histogram: a file that cyclictest -h or --histfile has written",
                sample="host.txt",
            ),
            "thread": Field(Count(0, 1023, "a thread"), "which column of it, from 0; all by default"),
        },
    ),
)
HOST = Record(
    "a host",
    {
        "profile": Field(
            Text("the name of a profile"), "standard, low-latency, preempt-rt, …", sample="low-latency"
        ),
        "load": Field(
            Choice({"none": "none", "same-cpu": "same-cpu"}, "a load"),
            "same-cpu: other work on the same processor cores; none by default",
        ),
        **{name: Field(LATENCY, doc) for name, doc in LATENCIES.items()},
        **{name: Field(LATENCY, doc, since="0.1") for name, doc in OF_PROGRAMS.items()},
        "processor": Field(
            Text("the name of a processor", named=True),
            "the software of all hosts that name the same processor shares it: one thing after the other",
            sample="guest",
            since="0.1",
        ),
    },
    empty=True,
    common_mistakes={
        **dict.fromkeys(("latency", "delay", "stack-delay"), "did you mean send?"),
        **dict.fromkeys(("kernel", "type"), "did you mean profile?"),
    },
)
ONE_HOST = Either("a profile, or a host", text=Text("the name of a profile"), mapping=HOST)
HOSTS = Record(
    "hosts",
    {
        "default": Field(
            ONE_HOST,
            "the software of every station and host that has no entry of its own",
            sample="low-latency",
        )
    },
    patterns=(
        KeyPattern(
            r"(?!default$)[A-Za-z][A-Za-z0-9_.+-]*",
            Field(ONE_HOST, "one node's software, key by key; none: takes no time", sample="preempt-rt"),
            "node1",
        ),
    ),
    example="{default: low-latency}",
)
