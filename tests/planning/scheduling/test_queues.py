"""Queues of scheduled streams, the highest PCP first, and the PCP that a stream is given for its queue."""

from __future__ import annotations

import pytest

from support.networks import periodic
from tsnbench.planning.draft import Draft, Flow
from tsnbench.planning.scheduling.queues import give_queue, queues_of
from tsnbench.scenario import read_scenario

TEXT = """\
name: queues
duration: 1 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a-b]}}
schedule: {margin: 0 ns}
streams:
  x: {from: a, to: b, pcp: 5, period: 100 us, frame: 200 B, scheduled: true}
"""


def flow(pcp: int, vid: int | None = 7) -> Flow:
    return Flow("x.1", "x", 0, periodic("a", "b", pcp=pcp, vid=vid), 0, (1,))


def draft(schedule: str = "margin: 0 ns") -> Draft:
    return Draft(read_scenario(TEXT.replace("margin: 0 ns", schedule))[0])


def test_one_queue_for_each_pcp_or_for_each_that_is_offered() -> None:
    flows = [flow(3), flow(6), flow(3), flow(0)]
    assert queues_of(draft(), flows) == [6, 3, 0]
    assert queues_of(draft("pcps: [2, 7]"), flows) == [2, 7]


def test_a_stream_gets_the_pcp_of_its_queue() -> None:
    made, one = draft(), flow(5)
    give_queue(made, one, 2)
    assert (one.stream.pcp, one.stream.vid, made.problems) == (2, 7, [])


@pytest.mark.parametrize("pcp", [0, 2])
def test_a_frame_without_a_tag_has_no_pcp(pcp: int) -> None:
    made, one = draft(), flow(0, None)
    give_queue(made, one, pcp)
    assert one.stream.pcp == 0
    told = [(problem.path, problem.expected, problem.found, problem.hint) for problem in made.problems]
    hint = "give it a VLAN, or leave it out of the scheduled streams"
    refused = ("streams.x", "a tagged stream, where PCPs are planned", "vlan: none", hint)
    assert told == ([refused] if pcp else [])
