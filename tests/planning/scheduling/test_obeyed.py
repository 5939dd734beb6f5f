"""What a schedule changes in the draft of a Plan: releases, paths, times and gates."""

from __future__ import annotations

from typing import Any

from support.planned import drafted
from tsnbench.planning.draft import Hop
from tsnbench.planning.scheduling.queues import queues_of
from tsnbench.planning.scheduling.schedule import _obey

TEXT = """\
name: free
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s, u, v]
  links: {rate: 100 Mbit/s, between: [a -- s, s -- u, s -- v, u -- b, v -- b]}
schedule: {ways: free}
streams:
  x: {from: a, to: b, pcp: 7, period: 1 ms, frame: 100 B, scheduled: true}
"""
ACROSS_U, ACROSS_V = (0, 2, 6), (0, 4, 8)
"""Ports: two for each cable, in their order."""


def found(offset: int, *links: int) -> Any:
    """One window of 10 us at each link, and 990 us for others."""
    tree = [{"link": link, **({"parent": place - 1} if place else {})} for place, link in enumerate(links)]
    entries = {"queues": [1, 0], "others": [False, True], "intervals_ns": [10_000, 990_000]}
    gates = [{"link": link, "base_ns": offset, "cycle_ns": 1_000_000, **entries} for link in links]
    placed = {"offset_ns": offset, "tree": tree, "starts_ps": [0, 1, 2], "queue": 0}
    return {"outcome": {"placed": [placed], "refused": []}, "gates": gates, "reasons": [], "sentences": []}


def test_a_second_schedule_replaces_the_first_one() -> None:
    """Where no scheduled stream passes any more, the gates are those of the scenario: none."""
    draft = drafted(TEXT)
    queues = queues_of(draft, draft.flows)
    for offset, links in ((5_000, ACROSS_U), (7_000, ACROSS_V)):
        _obey(draft, draft.flows, queues, found(offset, *links))
        (flow,) = draft.flows
        assert flow.route == (Hop(links[0], None), Hop(links[1], 0), Hop(links[2], 1))
        assert flow.ends == (2,)
        assert flow.scheduled == {"starts_ps": [[0], [1], [2]]}
        assert flow.pattern["kind"] == "periodic"
        assert flow.pattern["offset_ns"] == offset
        gates = {port.number: port.gates for port in draft.ports if port.gates is not None}
        assert sorted(gates) == sorted(links)
        for port in gates.values():
            assert (port.base_time_ns, port.entries) == (offset, ((128, 10_000), (127, 990_000)))
