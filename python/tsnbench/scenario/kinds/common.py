"""What several parts of the grammar share: ranges of quantities, names, queues."""

from __future__ import annotations

import re

from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, MapOf, Record
from tsnbench.scenario.kinds.values import Count, Parsed, Quantity, Text
from tsnbench.scenario.units import DURATION, LENGTH, RATE, SIZE

LONGEST = 10 * 86_400 * 10**9
"""Ten days, in ns: the longest time that a Plan may name."""

TIME = Quantity(DURATION, 0, LONGEST)
SPAN = Quantity(DURATION, 1, LONGEST)
LINK_RATE = Quantity(RATE, 10**6, 10**12)
STREAM_RATE = Quantity(RATE, 1, 10**12)
CABLE = Quantity(LENGTH, 0, 1_000_000_000)
UNIT = Quantity(SIZE, 1, 1 << 30)
FRAME = Quantity(SIZE, 64)
PROSE = Text("a text", swept=False)
NODE = Text("the name of a node", of="node")
NODES = ListOf(Text("the name of a node", swept=False, of="node"), "the names of nodes", partial=True)
SELECTOR = Text("a port such as node1 -> node2", swept=False, of="port")
PCP = Count(0, 7, "a priority code point")
CLASS_NAME = Text("an SR class: sr/A, sr/B, sr/C, sr/D or sr/BE")


def _vlan(text: str) -> int | str:
    if text == "none":
        return text
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= 4094:
        raise ValueError
    return int(text)


VLAN = Either(
    "a VLAN identifier or none",
    text=Parsed("a VLAN identifier from 1 to 4094, or none", number=True, parse=_vlan),
)
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
        "max-sdu": Field(
            Either(
                "a size, or a mapping of PCPs to sizes",
                text=Quantity(SIZE, 1, 65_535),
                mapping=MapOf(
                    "a mapping of PCPs to sizes",
                    Quantity(SIZE, 1, 65_535),
                    re.compile("[0-7]"),
                    "a priority code point from 0 to 7",
                    "write {6: 200 B, 0: 1500 B}",
                ),
            ),
            "queueMaxSDU: largest service data unit of a frame; larger ones are dropped: {6: 200 B}",
        ),
        "limit-octets": Field(Quantity(SIZE, 1, 1 << 40), "most octets that wait in one class"),
    },
)
