"""The grammar of a scenario: every key that can be written, with its kind and a sentence about it."""

from __future__ import annotations

import re

from tsnbench.scenario.kinds import (
    YES_NO,
    Average,
    Choice,
    Count,
    Either,
    Field,
    KeyPattern,
    ListOf,
    MapOf,
    Quantity,
    Record,
    Text,
)
from tsnbench.scenario.units import DURATION, LENGTH, RATE, SHARE, SIZE

LONGEST = 10 * 86_400 * 10**9
"""Ten days, in ns: the longest time that a Plan may name."""

TIME = Quantity(DURATION, 0, LONGEST)
SPAN = Quantity(DURATION, 1, LONGEST)
LINK_RATE = Quantity(RATE, 10**6, 10**12)
STREAM_RATE = Quantity(RATE, 1, 10**12)
CABLE = Quantity(LENGTH, 0, 1_000_000_000)
UNIT = Quantity(SIZE, 1, 1 << 30)
FRAME = Quantity(SIZE, 64)
NODE = Text("the name of a node")
NODES = ListOf(Text("the name of a node", swept=False), "the names of nodes", partial=True)
SELECTOR = Text("a port such as node1 -> node2", swept=False)
PCP = Count(0, 7, "a priority code point")
CLASS_NAME = Text("an SR class: sr/A, sr/B, sr/C, sr/D or sr/BE")

CLASSES = Either(
    "a map of PCP to traffic class, or 802.1Q/4 or 802.1Q/8",
    text=Text("a map of PCP to traffic class, or 802.1Q/4 or 802.1Q/8"),
    mapping=MapOf(
        "a map of PCP to traffic class",
        Count(0, 7, "a traffic class"),
        re.compile("[0-7]"),
        "a priority code point from 0 to 7",
        "write {6: 3, 5: 2, 0: 0}; PCPs that are not listed go to class 0",
    ),
)
QUEUES = Record(
    "queue settings",
    {
        "classes": Field(
            CLASSES, "PCP to traffic class, higher classes first: {6: 3, 5: 2, 0: 0} or 802.1Q/4"
        ),
        "limit-frames": Field(Count(1, 1 << 24, "a number of frames"), "most frames that wait in one class"),
        "limit-octets": Field(Quantity(SIZE, 1, 1 << 40), "most octets that wait in one class"),
    },
)

# Network ------------------------------------------------------------------------------------------

FORWARDING = Either(
    "store-and-forward",
    text=Choice(
        {"store-and-forward": "store-and-forward", "cut-through": "cut-through"}, "a way of forwarding"
    ),
    mapping=Record(
        "forwarding",
        {
            "mode": Field(
                Choice(
                    {"store-and-forward": "store-and-forward", "cut-through": "cut-through"},
                    "a way of forwarding",
                ),
                "store-and-forward",
                "store-and-forward",
            ),
            "after": Field(Quantity(SIZE), "octets that arrive before forwarding starts (cut-through)"),
        },
    ),
)
NODE_OPTIONS = Record(
    "a node's options",
    {
        "processing": Field(TIME, "from a frame's last bit in to its place in the egress queue"),
        "forwarding": Field(FORWARDING, "store-and-forward"),
        "classes": Field(CLASSES, "PCP to traffic class at all ports of this node"),
        "queues": Field(QUEUES, "queues of all ports of this node"),
    },
    empty=True,
)
NODE_LIST = Either(
    "names of nodes, or a mapping of names to options",
    text=Text("the name of a node", named=True, swept=False),
    listing=ListOf(Text("the name of a node", named=True, swept=False), "names of nodes", partial=True),
    mapping=MapOf("a mapping of names to options", NODE_OPTIONS),
)
BACK = Record(
    "the way back",
    {
        "rate": Field(LINK_RATE, "rate from the second node to the first"),
        "cable": Field(CABLE, "length from the second node to the first"),
    },
)
PAIR = Text("two nodes such as node1 -- node2", swept=False)
WIRE = {
    "rate": Field(LINK_RATE, "1 Gbit/s"),
    "cable": Field(CABLE, "length; 5 ns per metre; 0 m unless given"),
}
LINK_GROUP = Record(
    "links",
    {
        "between": Field(
            ListOf(PAIR, "pairs of nodes", partial=True),
            "[node1 -- node2, node2 -- node3]",
            "[node1 -- node2]",
        ),
        **WIRE,
        "back": Field(BACK, "what differs from the second node to the first"),
    },
)
LINKS = Either(
    "links: a list of pairs, or {rate: …, between: […]}",
    text=PAIR,
    listing=ListOf(Either("a link", text=PAIR, mapping=LINK_GROUP), "links", partial=True),
    mapping=LINK_GROUP,
)
KIND = Choice({"station": "station", "bridge": "bridge", "host": "host"}, "a kind of node")
NUMBER = Count(1, 10_000, "a number")
GENERATED = {
    "kind": Field(KIND, "bridge (default), station, or host: a node that is both"),
    "prefix": Field(
        Text("a name", named=True), "names are prefix and number: zgw1, zgw2; default is the kind"
    ),
    "processing": Field(TIME, "processing time of each node"),
    **WIRE,
    "stations": Field(Count(0, 1000, "a number of stations"), "stations attached to each node"),
    "station-prefix": Field(Text("a name", named=True), "names of attached stations; default station"),
}
GENERATORS = {
    "line": Record(
        "a line",
        {
            "nodes": Field(Count(2, 10_000, "a number of nodes"), "nodes in the line"),
            "hops": Field(NUMBER, "links in the line, instead of nodes"),
            "ends": Field(KIND, "kind of the first and the last node, where it differs"),
            **GENERATED,
        },
    ),
    "ring": Record(
        "a ring", {"nodes": Field(Count(3, 10_000, "a number of nodes"), "number of nodes", "8"), **GENERATED}
    ),
    "mesh": Record(
        "a full mesh",
        {"nodes": Field(Count(2, 200, "a number of nodes"), "number of nodes", "4"), **GENERATED},
    ),
    "star": Record(
        "a star",
        {
            "centre": Field(
                Text("a name", named=True), "the name of the bridge in the middle; default bridge"
            ),
            "nodes": Field(NUMBER, "nodes around the centre", "5"),
            **{key: spec for key, spec in GENERATED.items() if key not in ("stations", "station-prefix")},
        },
    ),
    "grid": Record(
        "a grid",
        {
            "rows": Field(Count(1, 1000, "a number of rows"), "number of rows", "4"),
            "columns": Field(Count(1, 1000, "a number of columns"), "number of columns", "5"),
            **GENERATED,
        },
    ),
    "tree": Record(
        "a tree",
        {
            "depth": Field(Count(1, 13, "a number of levels"), "levels below the root", "3"),
            "fanout": Field(Count(1, 100, "a number of branches"), "nodes below each node", "2"),
            "leaves": Field(KIND, "kind of the lowest level, where it differs"),
            **GENERATED,
        },
    ),
}
_NODE_KEYS = tuple(
    KeyPattern(
        rf"{kind} {part}", Field(NODE_OPTIONS, f"one {kind}: {kind} {example}: {{…}}"), f"{kind} {example}"
    )
    for kind, part, example in (
        ("station", "[A-Za-z].*", "node1"),
        ("bridge", "[A-Za-z].*", "dut"),
        ("host", "[A-Za-z].*", "zgw1"),
    )
)
NETWORK = Record(
    "the network",
    {
        "stations": Field(NODE_LIST, "end stations: [node1, node2] or {node1: {…}}"),
        "bridges": Field(NODE_LIST, "bridges: [dut] or {dut: {processing: 1 us}}"),
        "hosts": Field(NODE_LIST, "nodes that are end station and bridge"),
        "links": Field(LINKS, "links: {rate: 1 Gbit/s, cable: 1 m, between: [node1-dut, node2-dut]}"),
        "rate": Field(LINK_RATE, "rate of links and generators that do not say their own"),
        "cable": Field(CABLE, "cable of links and generators that do not say their own"),
        "queues": Field(QUEUES, "queues of all ports"),
        **{
            name: Field(
                Either(record.what, listing=ListOf(record, f"several of {record.what}"), mapping=record),
                f"makes {record.what}",
            )
            for name, record in GENERATORS.items()
        },
    },
    patterns=_NODE_KEYS,
)

# Streams ------------------------------------------------------------------------------------------

JITTER_KINDS = ("delay-step-abs", "deviation", "spread", "interval")
LIMITS = Record(
    "requirements",
    {
        "class": Field(CLASS_NAME, "the limits of an SR class; other keys override"),
        "delay": Field(SPAN, "highest delay"),
        "jitter": Field(SPAN, "highest jitter, as delay-step-abs: |delay(i) - delay(i-1)|"),
        "loss": Field(Quantity(SHARE, 0, 10**6, zero=True), "most frames lost on the way: 0, 0.1 %, 100 ppm"),
        "rate": Field(STREAM_RATE, "least rate received, frames from destination address to FCS"),
    },
    patterns=(
        KeyPattern(
            r"delay p[0-9]{1,2}(\.[0-9]{1,4})?",
            Field(SPAN, "delay that this share of the frames keeps: delay p99.9"),
            "delay p99.9",
        ),
        KeyPattern(
            f"jitter ({'|'.join(JITTER_KINDS)})",
            Field(SPAN, f"highest jitter of a named kind: {', '.join(JITTER_KINDS)}"),
            "jitter deviation",
        ),
    ),
)
UNITS = Either(
    "sizes of data units: a list, or {mean: …, deviation: …}",
    listing=ListOf(UNIT, "sizes of data units"),
    mapping=Record(
        "sizes of data units",
        {
            "sizes": Field(ListOf(UNIT, "sizes"), "equally likely application sizes: [100 B, 1400 B]"),
            "mean": Field(Average(SIZE), "mean application size of a lognormal distribution"),
            "deviation": Field(Average(SIZE), "standard deviation of the application sizes"),
            "most-per-frame": Field(
                Quantity(SIZE, 1, 65_000), "most application octets in one frame; 1472 B"
            ),
        },
    ),
)
TRAFFIC = {
    "pcp": Field(PCP, "priority code point; 0 unless the class or pattern says"),
    "class": Field(CLASS_NAME, "SR class: gives the PCP, and counts for that class's CBS reservation"),
    "vlan": Field(
        Either("a VLAN identifier or none", text=Text("a VLAN identifier from 1 to 4094, or none")),
        "VLAN identifier, 100 unless given; none: untagged",
    ),
    "period": Field(SPAN, "one data unit every period"),
    "offset": Field(TIME, "when in the period; 0 us unless given"),
    "jitter": Field(TIME, "release jitter: each release is late by up to this, uniformly"),
    "poisson": Field(
        Either(
            "a mean rate",
            text=STREAM_RATE,
            mapping=Record(
                "a Poisson source", {"rate": Field(STREAM_RATE, "mean rate of frames", "100 Mbit/s")}
            ),
        ),
        "independent exponential gaps, at this mean rate of frames (destination address to FCS)",
    ),
    "saturating": Field(YES_NO, "true: as fast as the port takes frames"),
    "backlog": Field(Count(1, 1000, "a number of frames"), "frames that a saturating talker keeps queued; 2"),
    "frame": Field(FRAME, "frame size from destination address to FCS, VLAN tag included"),
    "phy": Field(Quantity(SIZE, 84), "the frame with preamble, SFD and inter-frame gap: frame + 20 B"),
    "payload": Field(Quantity(SIZE), "UDP payload: frame - 46 B, - 50 B with VLAN tag"),
    "units": Field(UNITS, "application data units, cut into frames sent back to back"),
    "count": Field(Count(1, 10_000, "a number of flows"), "so many flows, each with its own sequence"),
}
STREAM = Record(
    "a stream",
    {
        "from": Field(NODE, "the name of the talker"),
        "to": Field(NODES, "the name of the listener, or a list of them (multicast)"),
        "via": Field(
            NODES, "hops, where the shortest path is not meant; dut#2 takes the second parallel link"
        ),
        "pattern": Field(Text("the name of a catalogue pattern"), "engine/cc-1ms, flextest/theta-high, …"),
        **TRAFFIC,
        "start": Field(TIME, "no release before this"),
        "stop": Field(SPAN, "no release at or after this"),
        "requires": Field(
            Either("requirements, or the name of an SR class", text=CLASS_NAME, mapping=LIMITS),
            "sr/A, or {delay: 2 ms, jitter: 125 us, loss: 0}",
        ),
    },
    slips={
        "rate": "write poisson: 10 Mbit/s for random gaps, or period and a size",
        **dict.fromkeys(("size", "length", "bytes"), "write frame, phy or payload: which size is meant?"),
        **dict.fromkeys(("priority", "prio"), "did you mean pcp?"),
        **dict.fromkeys(("talker", "source", "src", "sender"), "did you mean from?"),
        **dict.fromkeys(("listener", "listeners", "destination", "dst", "sink"), "did you mean to?"),
        **dict.fromkeys(("interval", "cycle", "every"), "did you mean period?"),
        **dict.fromkeys(("route", "path", "hops"), "did you mean via?"),
        **dict.fromkeys(("vid", "vlan-id"), "did you mean vlan?"),
        **dict.fromkeys(("flows", "number"), "did you mean count?"),
        **dict.fromkeys(("delay", "latency", "deadline", "loss"), "write requires: {delay: 2 ms, loss: 0}"),
    },
)

# Shapers, taps ------------------------------------------------------------------------------------

OPEN = Either(
    "PCPs (or classes) whose gates are open",
    text=Text("PCPs whose gates are open: [6, 5], all or none", pattern="^([0-7]|all|none)$"),
    listing=ListOf(Count(0, 7, "a PCP or class"), "open gates", least=0, most=8),
)
GATE_LIST = Record(
    "a gate control list",
    {
        "cycle": Field(SPAN, "the sum of the entries, to check them against"),
        "base-time": Field(TIME, "when a cycle begins"),
        "by": Field(Choice({"pcp": "pcp", "class": "class"}, "what open counts"), "pcp (default) or class"),
        "entries": Field(
            ListOf(
                Record(
                    "a gate entry",
                    {
                        "open": Field(OPEN, "PCPs or classes whose gates are open", "[6, 5]"),
                        "for": Field(SPAN, "how long", "45 us"),
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
            Either("a gate control list", text=Text("the name of a catalogue gate list"), mapping=GATE_LIST),
            "gate control list: {cycle: …, entries: […]} or {pattern: flextest/gcl-2, slot: 45 us}",
        ),
        "real-rate": Field(LINK_RATE, "egress rate, where it differs from the link's nominal rate"),
    },
)
POINT = Choice({"start": "start", "end": "end"}, "a point of the frame")
TAPS = Either(
    "ports, or {ports: […], send: …}",
    text=SELECTOR,
    listing=ListOf(SELECTOR, "ports"),
    mapping=Record(
        "taps",
        {
            "ends": Field(YES_NO, "tap every talker's and every listener's port; true unless given"),
            "ports": Field(ListOf(SELECTOR, "ports"), "further ports: [node1 -> dut, dut -> node0]"),
            "send": Field(YES_NO, "also sight when a talker hands a frame to its queue"),
            "tx-point": Field(POINT, "start (default) or end: what a tx timestamp means"),
            "rx-point": Field(POINT, "start or end (default): what an rx timestamp means"),
            "granularity": Field(Quantity(DURATION, 1, 10**9), "ticks of the timestamps: 1 ns, 8 ns"),
        },
    ),
)

# The whole ----------------------------------------------------------------------------------------

PROSE = Text("a text", swept=False)
SCENARIO = Record(
    "a scenario",
    {
        "name": Field(Text("a name", named=True, swept=False), "a short name", "my-first-network"),
        "title": Field(PROSE, "one line for reports"),
        "source": Field(PROSE, "where the scenario is from: a paper and its table"),
        "duration": Field(Quantity(DURATION, 1, LONGEST, usual="ms"), "how long talkers talk", "100 ms"),
        "drain": Field(TIME, "how long frames under way may still arrive; 100 ms unless given"),
        "seed": Field(Count(0, 2**53, "a seed"), "seed of all randomness; 1 unless given"),
        "network": Field(NETWORK, "nodes and links", "{line: {hops: 3, kind: host, rate: 1 Gbit/s}}"),
        "streams": Field(
            MapOf("streams by name", STREAM),
            "who sends what to whom",
            "{s: {from: host1, to: host4, period: 1 ms, frame: 500 B}}",
        ),
        "shapers": Field(
            MapOf(
                "ports and what shapes them",
                SHAPER,
                re.compile(r".+"),
                "a port such as node1 -> node2",
            ),
            "what shapes the ports: {dut -> node0: {…}, all: {…}}; later ones override, key by key",
        ),
        "taps": Field(TAPS, "where frames are sighted, beyond the ends: [node1 -> dut]"),
    },
)
