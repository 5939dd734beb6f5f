"""The keys under ``network``: nodes, links, generators."""

from __future__ import annotations

from tsnbench.scenario.grammar.bridging import BUFFER, PROCESSING
from tsnbench.scenario.kinds.by_pcp import CLASSES
from tsnbench.scenario.kinds.combinators import Either, Field, KeyPattern, ListOf, MapOf, Record
from tsnbench.scenario.kinds.common import CABLE, LINK_RATE, SPAN
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Quantity, Text
from tsnbench.scenario.model.network import QUEUES
from tsnbench.scenario.text.reading import Bad, Named, Reading
from tsnbench.scenario.text.tree import Mapping, Value, describe
from tsnbench.scenario.units import SIZE

LEARNING = Either(
    "true, or {ageing: …}",
    text=YES_NO,
    mapping=Record("learning", {"ageing": Field(SPAN, "how long a bridge remembers; 300 s by default")}),
)
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
                "store-and-forward (default) or cut-through",
            ),
            "after": Field(
                Quantity(SIZE),
                "cut-through: longer frames go on after so many octets",
                range="18 B to 65535 B",
                clause="tsnbench",
            ),
            "learning": Field(
                LEARNING,
                "true, or {ageing: 300 s}: flood until it is learned where a station is",
                clause="IEEE 802.1Q-2022, 8.7",
            ),
        },
    ),
)
NODE_OPTIONS = Record(
    "a node's options",
    {
        "device": Field(
            Text("the name of a device"),
            "its hardware: a name of the catalogue, or a description beside the scenario: my-switch.yaml",
            sample="nxp/sja1105",
            clause="tsnbench",
            since="0.1",
        ),
        "processing": Field(PROCESSING, "from a frame's last bit in to its place in the egress queue"),
        "buffer": Field(BUFFER, "memory that frames share which wait at any port of this node"),
        "forwarding": Field(
            FORWARDING,
            "how frames go on; store-and-forward by default",
            sample="{mode: cut-through, after: 337 B}",
            clause="IEEE 802.1Q-2022, 8.6",
        ),
        "classes": Field(
            CLASSES,
            "PCP to traffic class at all ports of this node",
            sample="{6: 3, 5: 2, 0: 0}",
            clause="IEEE 802.1Q-2022, 8.6.6",
        ),
        "queues": Field(QUEUES, "queues of all ports of this node"),
    },
    empty=True,
    common_mistakes={
        **dict.fromkeys(
            ("latency", "delay", "forwarding-delay", "switching-delay", "residence-time", "processing-delay"),
            "did you mean processing?",
        ),
        **dict.fromkeys(("ports", "interfaces"), "leave it out: a node has one port for each of its links"),
        **dict.fromkeys(("mac", "ip", "address"), "leave it out: tsnbench gives each node its addresses"),
        "learning": "write forwarding: {learning: true}",
        **dict.fromkeys(("cut-through", "mode"), "write forwarding: {mode: cut-through, after: 337 B}"),
        **dict.fromkeys(("clock", "drift"), "write it under clocks:, beside network:"),
        **dict.fromkeys(("profile", "wakeup", "host"), "write it under hosts:, beside network:"),
        **dict.fromkeys(("gates", "cbs", "preemption"), "write it under shapers:, beside network:"),
        **dict.fromkeys(
            ("vlan", "vlans", "pvid"), "leave it out: streams have vlan: 10, and all ports are members"
        ),
        **dict.fromkeys(("kind", "type", "role"), "leave it out: stations, bridges and hosts are kinds"),
    },
    example="{processing: 1 us}, or {}",
)
NODE_LIST = Either(
    "names of nodes, or a mapping of names to options",
    text=Text("the name of a node, or a list of names", named=True, swept=False, listed=True),
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


class Pair(Text):
    """Two nodes as one text; a mapping of both gets a hint."""

    def read(self, reading: Reading, value: Value, path: str) -> Named | Bad:
        found = reading.resolve(value, path)
        if not isinstance(found, Mapping) or not found.entries:
            return super().read(reading, value, path)
        ends = [describe(part) for _, part in found.entries[:2]]
        if len(found.entries) == 1:
            ends = [found.entries[0][0].text, *ends]
        hint = f"write {' -- '.join(ends)}"
        return reading.problem(found.place, path, self.expected, describe(found), hint)


PAIR = Pair("two nodes such as node1 -- node2", swept=False)
WIRE = {
    "rate": Field(LINK_RATE, "rate in each direction: 1 Gbit/s"),
    "cable": Field(CABLE, "length; 5 ns per metre; 0 m by default"),
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
        "parallel": Field(
            Count(1, 64, "a number of links"), "so many links between each two of them; 1 by default"
        ),
    },
    common_mistakes={
        **dict.fromkeys(
            ("speed", "bandwidth", "bitrate", "capacity", "datarate", "data-rate"), "did you mean rate?"
        ),
        **dict.fromkeys(
            ("delay", "propagation-delay", "latency"), "write cable: 100 m, which takes 5 ns per metre"
        ),
        **dict.fromkeys(
            ("from", "to", "a", "b", "node1", "node2", "source", "target", "src", "dst"),
            "write between: [node1 -- node2]",
        ),
        **dict.fromkeys(
            ("loss", "ber", "bit-errors"),
            "write faults: [{loss: 1 %, on: node1 -> node2}] beside network",
        ),
        "length": "did you mean cable?",
        **dict.fromkeys(
            ("pairs", "connect", "connections", "ends", "endpoints", "nodes"), "did you mean between?"
        ),
        **dict.fromkeys(("duplex", "full-duplex", "mode"), "leave it out: every link is full duplex"),
        "mtu": "leave it out: frames have up to 1522 B; max-sdu of queues is a lower limit",
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
        Text("a name", named=True), "names are prefix and number: zgw1, zgw2; the kind by default"
    ),
    "processing": Field(PROCESSING, "processing time of each node"),
    **WIRE,
    "stations": Field(Count(0, 1000, "a number of stations"), "stations attached to each node"),
    "station-prefix": Field(Text("a name", named=True), "names of attached stations; station by default"),
}
GENERATORS = {
    "line": Record(
        "a line",
        {
            "nodes": Field(Count(1, 10_000, "a number of nodes"), "nodes in the line"),
            "hops": Field(Count(0, 10_000, "a number"), "links in the line, instead of nodes"),
            "ends": Field(KIND, "kind of the first and the last node, where it differs"),
            **GENERATED,
        },
        example="{nodes: 5}, or links: {between: [node1 -- node2]} of your nodes",
    ),
    "ring": Record(
        "a ring",
        {"nodes": Field(Count(3, 10_000, "a number of nodes"), "number of nodes", "8"), **GENERATED},
        example="{nodes: 8}, or links: {between: [node1 -- node2]} of your nodes",
    ),
    "mesh": Record(
        "a full mesh",
        {"nodes": Field(Count(1, 200, "a number of nodes"), "number of nodes", "4"), **GENERATED},
        example="{nodes: 4}, or links: {between: [node1 -- node2]} of your nodes",
    ),
    "star": Record(
        "a star",
        {
            "centre": Field(
                Text("a name", named=True), "the name of the bridge in the middle; bridge by default"
            ),
            "nodes": Field(NUMBER, "nodes around the centre", "5"),
            **{key: spec for key, spec in GENERATED.items() if key not in ("stations", "station-prefix")},
            "kind": Field(KIND, "station (default), bridge, or host: the nodes around the centre"),
        },
        example="{nodes: 5}, or links: {between: [node1 -- node2]} of your nodes",
    ),
    "grid": Record(
        "a grid",
        {
            "rows": Field(Count(1, 1000, "a number of rows"), "number of rows", "4"),
            "columns": Field(Count(1, 1000, "a number of columns"), "number of columns", "5"),
            **GENERATED,
        },
        example="{rows: 4, columns: 5}, or links: {between: [node1 -- node2]} of your nodes",
    ),
    "tree": Record(
        "a tree",
        {
            "depth": Field(Count(0, 13, "a number of levels"), "levels below the root", "3"),
            "fanout": Field(Count(1, 100, "a number of branches"), "nodes below each node", "2"),
            "leaves": Field(KIND, "kind of the lowest level, where it differs"),
            **GENERATED,
        },
        example="{depth: 3, fanout: 2}, or links: {between: [node1 -- node2]} of your nodes",
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
_SLIPS = {
    **dict.fromkeys(
        ("switches", "switch", "bridge", "routers", "tsn-switch", "ethernet-switch"), "did you mean bridges?"
    ),
    **dict.fromkeys(("gateways", "gateway"), "did you mean hosts? They are end stations and bridges"),
    **dict.fromkeys(("buses", "bus", "can", "flexray"), "leave it out: links are full-duplex Ethernet"),
    "submodules": "write stations: [node1, node2] and bridges: [dut]",
    **dict.fromkeys(
        ("topology", "type", "layout"),
        "write ring: {nodes: 4}; there are line, star, mesh, grid and tree, too",
    ),
    **dict.fromkeys(
        ("end-stations", "endpoints", "nodes", "devices", "station", "ecus", "terminals", "end-systems"),
        "did you mean stations?",
    ),
    **dict.fromkeys(("edges", "cables", "wires", "connections", "link"), "did you mean links?"),
}
NETWORK = Record(
    "the network",
    {
        "stations": Field(NODE_LIST, "end stations: [node1, node2] or {node1: {…}}", sample="[node1, node2]"),
        "bridges": Field(NODE_LIST, "bridges: [dut] or {dut: {processing: 1 us}}", sample="[dut, sw1]"),
        "hosts": Field(NODE_LIST, "nodes that are end station and bridge", sample="[zgw1]"),
        "links": Field(
            LINKS,
            "links: {rate: 1 Gbit/s, cable: 1 m, between: [node1-dut, node2-dut]}",
            sample="{rate: 1 Gbit/s, between: [node1 -- dut, node2 -- dut]}",
        ),
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
    common_mistakes=_SLIPS,
)
