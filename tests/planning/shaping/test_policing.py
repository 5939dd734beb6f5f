"""Filters, gates, meters and priorities in the Plan: each value of ``policing.yaml`` beside this file."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.planned import document_of

TEXT = """\
name: policed
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [s1, s2]
  links: {rate: 1 Gbit/s, between: [a-s1, c-s1, s1-s2, s2-b]}
streams:
  one: {from: a, to: b, pcp: 5, frame: 500 B, period: 100 us}
  two: {from: a, to: b, pcp: 4, frame: 500 B, period: 100 us, count: 2}
  far: {from: c, to: b, pcp: 5, frame: 500 B, period: 100 us}
"""
SHAPED = "shapers: {s1 -> s2: {ats: {pcp: [5]}}}\n"


@pytest.mark.parametrize("case", table(__file__, "policing.yaml"), ids=lambda case: case["case"])
def test_tables_of_rules(case: dict[str, Any]) -> None:
    rules = "".join(f"  - {rule}\n" for rule in case["rules"])
    found = document_of(f"{TEXT}{SHAPED if 'shaped' in case else ''}policing:\n{rules}")["policing"]
    if "shaped" in case:
        assert [one["filters"] for one in found] == [case["filters"]]
        return
    names = {3: "s1", 4: "s2"}
    assert {names[one.pop("node")]: one for one in found} == {
        node: case[node] for node in names.values() if node in case
    }
