"""The keys of a stream that is replayed from a recording."""

from __future__ import annotations

from tsnbench.scenario.grammar.common import PCP, SPAN, TIME
from tsnbench.scenario.grammar.shapes import Either, Field, Record
from tsnbench.scenario.grammar.values import Count, Text

FILE = Text("the name of a pcap, pcapng, csv or parquet file")
ONLY = Record(
    "a flow of a capture",
    {
        "vlan": Field(
            Either(
                "a VLAN identifier or none",
                text=Text("a VLAN identifier from 1 to 4094, or none", number=True),
            ),
            "VLAN identifier of its frames, or none",
        ),
        "pcp": Field(PCP, "priority code point of its frames"),
        "source": Field(Text("a MAC or IP address"), "10.0.0.1, fd00::1 or 02:00:00:00:00:01"),
        "destination": Field(Text("a MAC or IP address"), "likewise"),
        "udp": Field(Count(0, 65_535, "a UDP port"), "UDP destination port"),
    },
    slips={
        **dict.fromkeys(("src", "ip", "mac"), "did you mean source?"),
        "dst": "did you mean destination?",
        "port": "did you mean udp?",
    },
)
REPLAY = Either(
    "a recording: cam.pcap, or {file: cam.pcap, speed: 2}",
    text=FILE,
    mapping=Record(
        "a recording",
        {
            "file": Field(FILE, "capture or table, beside the scenario", "cam.pcap"),
            "speed": Field(Text("a factor such as 2, 0.5 or 1/3"), "times come so much faster; 1"),
            "from": Field(TIME, "skip so much of the recording"),
            "until": Field(SPAN, "leave out what comes so long after the recording's beginning"),
            "repeat": Field(
                Either("how often, or forever", text=Text("a number of passes, or forever")),
                "how often it is played; 1",
            ),
            "only": Field(ONLY, "one flow of a capture: {vlan: 100, udp: 5000}; all frames unless given"),
        },
        slips={
            **dict.fromkeys(("filter", "flow"), "did you mean only?"),
            **dict.fromkeys(("loop", "times", "passes"), "did you mean repeat?"),
            **dict.fromkeys(("path", "pcap", "csv"), "did you mean file?"),
        },
    ),
)
