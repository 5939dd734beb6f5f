"""The keys of shapers, gate control lists and taps."""

from __future__ import annotations

import re

from tsnbench.scenario.grammar.common import (
    LINK_RATE,
    QUEUES,
    SELECTOR,
    SPAN,
    STREAM_RATE,
    TIME,
)
from tsnbench.scenario.grammar.hosts import QDISC, STAGE_NAMES
from tsnbench.scenario.grammar.policing import ATS, CQF
from tsnbench.scenario.grammar.shapes import Either, Field, ListOf, MapOf, Record
from tsnbench.scenario.grammar.values import YES_NO, Choice, Count, Quantity, Text
from tsnbench.scenario.units import DURATION, SIZE

OPEN = Either(
    "PCPs (or classes) whose gates are open",
    text=Text("PCPs whose gates are open: [6, 5], all or none", pattern="^([0-7]|all|none)$"),
    listing=ListOf(Count(0, 7, "a PCP or class"), "open gates", least=0, most=8),
)
BEFORE = Either(
    "cycles, open, closed or a list of PCPs",
    text=Text("cycles, open, closed or a list of PCPs", pattern="^([0-7]|cycles|open|closed)$"),
    listing=ListOf(Count(0, 7, "a PCP or class"), "open gates", least=0, most=8),
)
MAC = Choice({"hold": "hold", "release": "release"}, "what becomes of preemptable frames")
ONE_LIST = {
    "cycle": Field(SPAN, "the sum of the entries, to check them against"),
    "fit-entries": Field(
        YES_NO, "whether entries are cut at the end of the cycle, or the last one goes on until it"
    ),
    "base-time": Field(TIME, "when a cycle begins"),
    "extension": Field(TIME, "by how much the last cycle before a change may be made longer; 0 unless given"),
    "by": Field(Choice({"pcp": "pcp", "class": "class"}, "what open counts"), "pcp (default) or class"),
    "entries": Field(
        ListOf(
            Record(
                "a gate entry",
                {
                    "open": Field(OPEN, "PCPs or classes whose gates are open", "[6, 5]"),
                    "for": Field(SPAN, "how long", "45 us"),
                    "mac": Field(MAC, "hold or release: preemptable frames, from here on"),
                },
            ),
            "gate entries",
            most=4096,
        ),
        "[{open: [6], for: 45 us}, {open: [5, 0], for: 45 us}]",
    ),
    "pattern": Field(Text("the name of a catalogue gate list"), "flextest/gcl-1 to flextest/gcl-4"),
    "slot": Field(SPAN, "length of one slot of the pattern"),
    "guard-band": Field(YES_NO, "whether the pattern's guard band closes the cycle"),
}
GATE_CHANGE = Record(
    "a change of the gate control list",
    {"at": Field(TIME, "when it is asked for, on the node's clock", "5 ms"), **ONE_LIST},
)
GATE_LIST = Record(
    "a gate control list",
    {
        **ONE_LIST,
        "before": Field(BEFORE, "gates before the base time: cycles (default), open, closed or [6, 5]"),
        "guard": Field(
            Choice({"length-aware": True, "none": False}, "a guard"),
            "length-aware (default): a frame begins only where all of it fits; or none",
        ),
        "credit": Field(
            Choice({"frozen": False, "runs": True}, "what credit does while a gate is closed"),
            "frozen (default) or runs: credit of shapers while their gate is closed",
        ),
        "most-entries": Field(Count(1, 4096, "a number of entries"), "entries of a list; 1024 unless given"),
        "changes": Field(
            ListOf(GATE_CHANGE, "changes of the gate control list", most=1024),
            "lists that replace it: [{at: 5 ms, base-time: 6 ms, entries: […]}]",
        ),
        "follow": Field(SELECTOR, "the port whose list this one follows: dut -> node0"),
        "margin": Field(TIME, "with follow: how much later to open and earlier to close; 0 unless given"),
    },
)
CBS_CLASS = re.compile("(sr/)?[ABCD]|[0-7]")
SHAPER = Record(
    "a shaper",
    {
        "queues": Field(QUEUES, "queues of these ports"),
        "cbs": Field(
            Either(
                "from-streams, a list of SR classes, or a mapping of classes to bandwidth",
                text=Choice({"from-streams": "from-streams"}, "where bandwidths come from"),
                listing=ListOf(
                    Text("an SR class: A, B, C or D", swept=False, pattern=f"^({CBS_CLASS.pattern})$"),
                    "SR classes",
                ),
                mapping=MapOf(
                    "a mapping of classes to bandwidth",
                    Either(
                        "a bandwidth, or {bandwidth: …, phy: …}",
                        text=STREAM_RATE,
                        mapping=Record(
                            "a CBS class",
                            {
                                "bandwidth": Field(STREAM_RATE, "idle slope; from the streams unless given"),
                                "phy": Field(
                                    Quantity(SIZE, 84),
                                    "largest PHY frame; from the streams unless given",
                                ),
                            },
                            empty=True,
                        ),
                    ),
                    CBS_CLASS,
                    "an SR class (A, B, C, D) or a PCP from 0 to 7",
                    "write {A: 100 Mbit/s, B: 75 Mbit/s}, highest class first",
                ),
            ),
            "credit-based shapers: [A, B], from-streams, or {A: 100 Mbit/s}; highest class first",
        ),
        "gates": Field(
            Either(
                "a gate control list",
                text=Text("the name of a catalogue gate list, or plan"),
                mapping=GATE_LIST,
            ),
            "gate control list: {cycle: …, entries: […]}, {pattern: flextest/gcl-2, slot: 45 us}, or plan",
        ),
        "preemption": Field(
            Record(
                "frame pre-emption",
                {
                    "express": Field(OPEN, "PCPs that interrupt the others", "[7]"),
                    "hold-advance": Field(
                        TIME, "how long before an entry the MAC is held; what cannot be cut unless given"
                    ),
                    "release-advance": Field(
                        TIME, "how long before an entry the MAC is released; 0 unless given"
                    ),
                },
                example="{express: [7]}",
            ),
            "frame pre-emption: {express: [7]}; all other PCPs are preemptable",
        ),
        "planned-rate": Field(
            LINK_RATE, "rate for which credit-based shapers are computed, where it is not the real one"
        ),
        "ats": Field(ATS, "asynchronous traffic shaping: {pcp: [6]}"),
        "cqf": Field(CQF, "cyclic queuing: {cycle: 125 us, pcp: [6], classes: [7, 6]}"),
        "qdisc": Field(
            QDISC, "what the kernel of a host does: {taprio: txtime-assist, etf: {A: {delta: 175 us}}}"
        ),
        "real-rate": Field(LINK_RATE, "egress rate, where it differs from the link's nominal rate"),
    },
)
POINT = Choice({"start": "start", "end": "end"}, "a point of the frame")
TAPS = Either(
    "ports, or {ports: […], send: …}",
    text=SELECTOR,
    listing=ListOf(SELECTOR, "ports", least=0, partial=True),
    mapping=Record(
        "taps",
        {
            "ends": Field(YES_NO, "tap every talker's and every listener's port; true unless given"),
            "ports": Field(
                ListOf(SELECTOR, "ports", least=0, partial=True),
                "further ports: [node1 -> dut, dut -> node0]",
            ),
            "send": Field(YES_NO, "also sight when a talker hands a frame to its queue"),
            "stages": Field(STAGE_NAMES, "stages of hosts' software, too: [wakeup, driver, app-rx]"),
            "tx-point": Field(POINT, "start (default) or end: what a tx timestamp means"),
            "rx-point": Field(POINT, "start or end (default): what an rx timestamp means"),
            "granularity": Field(Quantity(DURATION, 1, 10**9), "ticks of the timestamps: 1 ns, 8 ns"),
        },
    ),
)
