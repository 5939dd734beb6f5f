"""Filters, gates, meters and priorities in the Plan: each value of ``policing.yaml`` beside this file."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.planned import document_of
from tsnbench.scenario import read_scenario

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


UNUSED = {
    # Rules, each on its line, and what the last one is warned of.
    ("{at: s2 -> b, max-sdu: 1 kB}",): None,
    ("{at: s1 -> c, max-sdu: 1 kB}",): (
        "no frame arrives there",
        "frames arrive at a -> s1, c -> s1, s1 -> s2, s2 -> b",
    ),
    ("{at: a -> s1, streams: [far], max-sdu: 1 kB}",): (
        "no frame of far arrives there",
        "frames of far arrive at c -> s1, s1 -> s2, s2 -> b",
    ),
    ("{at: a -> s1, streams: [far], per: stream, max-sdu: 1 kB}",): (
        "no frame of far arrives there",
        "frames of far arrive at c -> s1, s1 -> s2, s2 -> b",
    ),
    ("{at: all -> s1, streams: [far], max-sdu: 1 kB}",): None,
    ("{at: a -> s1, priority: 3, max-sdu: 1 kB}",): (
        "frames there have priority 4 or 5",
        "write priority: 4 or 5, or leave it out",
    ),
    ("{at: a -> s1, regenerate: {5: 3}}", "{at: a -> s1, priority: 3, max-sdu: 1 kB}"): None,
    ("{at: a -> s1, max-sdu: 1 kB}", "{at: a -> s1, streams: [one], max-sdu: 600 B}"): (
        "filters before it match all of its frames",
        "a frame meets the first filter that matches it: move this one up",
    ),
    ("{at: a -> s1, priority: 5, max-sdu: 1 kB}", "{at: a -> s1, max-sdu: 600 B}"): None,
}


@pytest.mark.parametrize(("rules", "warned"), UNUSED.items(), ids=lambda one: str(one and one[-1]))
def test_a_filter_that_meets_no_frame_is_a_warning_at_its_line(
    rules: tuple[str, ...], warned: tuple[str, str] | None
) -> None:
    listed = "".join(f"  - {rule}\n" for rule in rules)
    (scenario,) = read_scenario(f"{TEXT}policing:\n{listed}", "policed.yaml")
    found = [(one.kind, one.place, one.text, one.hint) for one in scenario.plan().warnings]
    if warned is None:
        assert found == []
        return
    text, hint = warned
    place = f"policed.yaml:{TEXT.count(chr(10)) + 1 + len(rules)}:5"
    assert found == [("unused-filter", place, f"no frame meets this filter: {text}", hint)]
