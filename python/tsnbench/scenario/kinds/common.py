"""Common parts of the grammar: ranges of quantities, names, values by PCP."""

from __future__ import annotations

import re
from ipaddress import IPv4Address

from tsnbench.scenario.kinds.combinators import Either, ListOf
from tsnbench.scenario.kinds.values import Count, OrAny, Parsed, Quantity, Text, decimal
from tsnbench.scenario.units import DURATION, LENGTH, LENGTH_OF_RUN, RATE, SIZE

LONGEST = 10 * 86_400 * 10**9
"""Ten days, in ns: the longest time that a Plan may name."""

TIME = Quantity(DURATION, 0, LONGEST)
SPAN = Quantity(DURATION, 1, LONGEST)
PHASE = OrAny(DURATION, 0, LONGEST)
RUN_TIME = Quantity(DURATION, 0, LONGEST, usual=LENGTH_OF_RUN)
RUN_SPAN = Quantity(DURATION, 1, LONGEST, usual=LENGTH_OF_RUN)
"""A time or a part of the run: bare numbers in hints have the units of its length."""
LINK_RATE = Quantity(RATE, 10**6, 10**12)
STREAM_RATE = Quantity(RATE, 1, 10**12)
CABLE = Quantity(LENGTH, 0, 1_000_000_000)
UNIT = Quantity(SIZE, 1, 1 << 30)
FRAME = Quantity(SIZE, 64, below="write 64 B: a frame with its FCS has at least 64 octets")
PROSE = Text("text", swept=False)
NODE = Text("the name of a node", of="node")
STREAM = Text("the name of a stream", of="stream")
NODES = ListOf(Text("the name of a node", swept=False, of="node"), "the names of nodes", partial=True)
SELECTOR = Text("a port such as node1 -> node2", swept=False, of="port")
TAG = "IEEE 802.1Q-2022, 9.6"
PCP = Count(0, 7, "a priority code point")
CLASS_NAME = Text("an SR class: sr/A, sr/B, sr/C, sr/D or sr/BE")


def _ipv4(text: str) -> str:
    try:
        IPv4Address(text)
    except ValueError:
        raise ValueError from None
    return text


IPV4 = Parsed("an IPv4 address", parse=_ipv4)


def _vlan(text: str) -> int | str:
    if text == "none":
        return text
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= 4094:
        raise ValueError(f"write {decimal(text)}" if 1 <= decimal(text) <= 4094 else "")
    return int(text)


VLAN = Either(
    "a VLAN identifier or none",
    text=Parsed("a VLAN identifier from 1 to 4094, or none", number=True, parse=_vlan),
)
