"""The keys of what nodes do with frames as they come in, and of the shapers that live there (ATS, CQF)."""

from __future__ import annotations

import re

from tsnbench.scenario.grammar.common import LINK_RATE, NODE, SELECTOR, SPAN, STREAM_RATE, TIME
from tsnbench.scenario.grammar.planned import OrPlan
from tsnbench.scenario.grammar.shapes import Field, ListOf, MapOf, Record
from tsnbench.scenario.grammar.values import YES_NO, Choice, Count, Quantity
from tsnbench.scenario.units import DURATION, SIZE

PRIORITY = Count(0, 7, "a priority")
BURST = Quantity(SIZE, 1, 1 << 32)
PCPS = ListOf(Count(0, 7, "a PCP"), "PCPs", most=8)

STREAM_GATE = Record(
    "a stream gate",
    {
        "entries": Field(
            ListOf(
                Record(
                    "a stream gate's entry",
                    {
                        "open": Field(YES_NO, "whether frames pass; true unless given"),
                        "ipv": Field(PRIORITY, "chooses the queue in place of the frame's priority"),
                        "for": Field(SPAN, "how long", "50 us"),
                        "octets": Field(
                            Quantity(SIZE, 0, 1 << 40), "most that passes in one interval (IntervalOctetMax)"
                        ),
                    },
                ),
                "stream gate entries",
                most=4096,
            ),
            "the list, by the node's clock",
            "[{for: 50 us}, {open: false, for: 50 us}]",
        ),
        "base-time": Field(TIME, "when a cycle begins"),
        "cycle": Field(SPAN, "the sum of the entries, to check them against"),
        "close-on-invalid": Field(YES_NO, "a frame at the closed gate closes it for good"),
        "close-on-octets": Field(YES_NO, "a frame beyond an interval's octets closes it for good"),
    },
)
METER = Record(
    "a flow meter",
    {
        "cir": Field(STREAM_RATE, "committed information rate, of frames", "10 Mbit/s"),
        "cbs": Field(BURST, "committed burst size", "3000 B"),
        "eir": Field(STREAM_RATE, "excess information rate; 0 unless given"),
        "ebs": Field(BURST, "excess burst size; 0 unless given"),
        "coupling": Field(YES_NO, "committed tokens that find no room go to the excess bucket"),
        "color-aware": Field(YES_NO, "frames marked yellow before take no committed tokens"),
        "drop-yellow": Field(YES_NO, "yellow frames are dropped, not marked"),
        "mark-all-red": Field(YES_NO, "after a red frame, all are red"),
    },
    slips={"rate": "did you mean cir?", "burst": "did you mean cbs?"},
)
POLICING = ListOf(
    Record(
        "a filter",
        {
            "at": Field(SELECTOR, "the links by which the frames come", "cam -> sw1"),
            "streams": Field(ListOf(NODE, "the names of streams"), "whose frames; all unless given"),
            "priority": Field(PRIORITY, "frames of this priority only, as regenerated"),
            "max-sdu": Field(
                Quantity(SIZE, 1, 65_535), "longest service data unit: what is between type and FCS"
            ),
            "block-oversize": Field(YES_NO, "one that is longer blocks all that come after it"),
            "gate": Field(STREAM_GATE, "a stream gate: {entries: [{for: 50 us}, {open: false, for: 50 us}]}"),
            "meter": Field(METER, "a flow meter: {cir: 10 Mbit/s, cbs: 3000 B}"),
            "per": Field(
                Choice({"node": "node", "stream": "stream"}, "what has a filter of its own"),
                "node (default): one for all its streams; or stream",
            ),
            "regenerate": Field(
                MapOf(
                    "a map of PCP to PCP",
                    PRIORITY,
                    re.compile("[0-7]"),
                    "a priority code point from 0 to 7",
                    "write {3: 5}; PCPs that are not listed stay",
                ),
                "priorities that frames have from here on: {3: 5}; alone with at",
            ),
        },
        slips={
            "on": "did you mean at?",
            "port": "did you mean at?",
            "stream": "did you mean streams?",
            "pcp": "did you mean priority?",
        },
        example="[{at: cam -> sw1, max-sdu: 1000 B}]",
    ),
    "filters",
    least=0,
)
ATS = Record(
    "asynchronous traffic shaping",
    {
        "pcp": Field(PCPS, "the PCPs whose streams are shaped before they are queued here", "[6, 5]"),
        "rate": Field(LINK_RATE, "committed information rate of each stream; from its pattern unless given"),
        "burst": Field(BURST, "committed burst size of each stream; from its pattern unless given"),
        "residence": Field(
            Quantity(DURATION, 1, (1 << 32) - 1), "a frame that would wait longer is dropped; 4.29 s"
        ),
    },
    slips={"pcps": "did you mean pcp?", "cir": "did you mean rate?", "cbs": "did you mean burst?"},
    example="{pcp: [6]}",
)
CQF = Record(
    "cyclic queuing and forwarding",
    {
        "cycle": Field(OrPlan(SPAN), "how long each queue sends, or plan", "125 us"),
        "pcp": Field(PCPS, "the PCPs whose streams are queued cyclically", "[6]"),
        "classes": Field(
            ListOf(Count(0, 7, "a traffic class"), "two to eight traffic classes: [7, 6]", least=2, most=8),
            "the queues that take turns: two, or more where links and bridges are slow",
            "[7, 6]",
        ),
        "octets": Field(
            Quantity(SIZE, 1, 1 << 40), "most that one link may bring in a cycle; more is dropped"
        ),
    },
    slips={"pcps": "did you mean pcp?", "queues": "did you mean classes?"},
    example="{cycle: 125 us, pcp: [6], classes: [7, 6]}",
)
