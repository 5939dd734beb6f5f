"""Values for every priority code point: traffic classes, sizes and times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, MapOf, Record
from tsnbench.scenario.kinds.common import PROSE
from tsnbench.scenario.kinds.data import read_data
from tsnbench.scenario.kinds.values import Count, Kind, Quantity, Text
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading, meant
from tsnbench.scenario.text.tree import Scalar, Sequence, Value, describe
from tsnbench.scenario.units import DURATION, SIZE


@cache
def pcp_to_class() -> Mapping[str, tuple[int, ...]]:
    """``802.1Q/4`` and ``802.1Q/8``: the class of each PCP from 0 to 7."""
    table = ListOf(Count(0, 7), "classes", 8, 8)
    tables = MapOf("tables", table, re.compile(r"802\.1Q/[48]"), "a table")
    record = Record("a file", {"source": Field(PROSE, example="a paper"), "tables": Field(tables)})
    file = read_data("pcp_to_class.yaml", record)
    return {str(name): tuple(classes) for name, classes in file["tables"].items()}


@dataclass(frozen=True)
class ClassTable(Either):
    """Every PCP's traffic class: a table of the catalogue, or a mapping; PCPs not listed go to class 0.

    IEEE 802.1Q-2022, 8.6.6.
    """

    def read(self, reading: Reading, value: Value, path: str) -> dict[int, int] | Bad:
        if isinstance(value, Sequence) and all(
            isinstance(one, Scalar) and one.text.isdecimal() for one in value.items
        ):
            hint = "write {6: 1, 0: 0}: a PCP, and its traffic class"
            return reading.problem(value.place, path, self.what, describe(value), hint)
        found = super().read(reading, value, path)
        if isinstance(found, Named):
            tables = pcp_to_class()
            if found in tables:
                return dict(enumerate(tables[found]))
            return reading.problem(found.place, path, self.what, found, meant(found, tables))
        if isinstance(found, Bad) or any(isinstance(number, Bad) for number in found.values()):
            return BAD
        return {pcp: found.get(str(pcp), 0) for pcp in range(8)}


@dataclass(frozen=True)
class ByPcp(Either):
    """One value for every PCP, or values for some of them: pairs of both."""

    def read(self, reading: Reading, value: Value, path: str) -> tuple[tuple[int, int], ...] | Bad:
        found = super().read(reading, value, path)
        if isinstance(found, Bad):
            return BAD
        values = found if isinstance(found, dict) else dict.fromkeys(map(str, range(8)), found)
        return tuple((int(pcp), value) for pcp, value in values.items() if not isinstance(value, Bad))


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
LARGEST_SDU = ByPcp(
    "a size, or a mapping of PCPs to sizes",
    text=Quantity(SIZE, 1, 65_535),
    mapping=_by_pcp("a mapping of PCPs to sizes", Quantity(SIZE, 1, 65_535), "write {6: 200 B, 0: 1500 B}"),
)
_WAIT = Quantity(DURATION, 1, 10**10)
LONGEST_WAIT = ByPcp(
    "a time, or a mapping of PCPs to times",
    text=_WAIT,
    mapping=_by_pcp("a mapping of PCPs to times", _WAIT, "write {6: 1 ms, 0: 100 ms}"),
)
