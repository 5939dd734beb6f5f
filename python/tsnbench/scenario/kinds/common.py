"""Common parts of the grammar: ranges of quantities, names, values by PCP."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tsnbench.scenario.kinds.combinators import Either, ListOf, MapOf
from tsnbench.scenario.kinds.values import Count, Kind, Parsed, Quantity, Text
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading, meant
from tsnbench.scenario.text.source import Value
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
STREAM = Text("the name of a stream", of="stream")
NODES = ListOf(Text("the name of a node", swept=False, of="node"), "the names of nodes", partial=True)
SELECTOR = Text("a port such as node1 -> node2", swept=False, of="port")
PCP = Count(0, 7, "a priority code point")
CLASS_NAME = Text("an SR class: sr/A, sr/B, sr/C, sr/D or sr/BE")


def _ipv4(text: str) -> str:
    parts = text.split(".")
    if len(parts) != 4 or not all(
        re.fullmatch("0|[1-9][0-9]{0,2}", part) and int(part) < 256 for part in parts
    ):
        raise ValueError
    return text


IPV4 = Parsed("an IPv4 address", parse=_ipv4)


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


@dataclass(frozen=True)
class ClassTable(Either):
    """Every PCP's traffic class: a table of the catalogue, or a mapping; PCPs not listed go to class 0.

    IEEE 802.1Q-2022, 8.6.6.
    """

    def read(self, reading: Reading, value: Value, path: str) -> dict[int, int] | Bad:
        from tsnbench.scenario import catalogue

        found = super().read(reading, value, path)
        if isinstance(found, Named):
            tables = catalogue.pcp_to_class()
            if found in tables:
                return dict(enumerate(tables[found]))
            return reading.problem(found.place, path, self.what, found, meant(found, tables))
        if isinstance(found, Bad) or any(isinstance(number, Bad) for number in found.values()):
            return BAD
        return {pcp: found.get(str(pcp), 0) for pcp in range(8)}


@dataclass(frozen=True)
class SizesByPcp(Either):
    """A size for every PCP, or for some of them: pairs of both."""

    def read(self, reading: Reading, value: Value, path: str) -> tuple[tuple[int, int], ...] | Bad:
        found = super().read(reading, value, path)
        if isinstance(found, Bad):
            return BAD
        sizes = found if isinstance(found, dict) else dict.fromkeys(map(str, range(8)), found)
        return tuple((int(pcp), size) for pcp, size in sizes.items() if not isinstance(size, Bad))


def _by_pcp(what: str, value: Kind, hint: str) -> MapOf:
    return MapOf(what, value, re.compile("[0-7]"), "a priority code point from 0 to 7", hint)


CLASSES = ClassTable(
    "a map of PCP to traffic class, or 802.1Q/4 or 802.1Q/8",
    text=Text("a map of PCP to traffic class, or 802.1Q/4 or 802.1Q/8"),
    mapping=_by_pcp(
        "a map of PCP to traffic class",
        Count(0, 7, "a traffic class"),
        "write {6: 3, 5: 2, 0: 0}; PCPs that are not listed go to class 0",
    ),
)
LARGEST_SDU = SizesByPcp(
    "a size, or a mapping of PCPs to sizes",
    text=Quantity(SIZE, 1, 65_535),
    mapping=_by_pcp("a mapping of PCPs to sizes", Quantity(SIZE, 1, 65_535), "write {6: 200 B, 0: 1500 B}"),
)
