"""The hops before one of a route, by hand."""

from __future__ import annotations

from tsnbench.planning.draft import Flow, Hop
from tsnbench.planning.routing.hops_before import ancestors, end, last_hops, longest, parents
from tsnbench.scenario import model

STREAM = model.Stream(
    talker="a", listeners=("b", "c"), pcp=3, pattern=model.Periodic(period=1), size=model.FixedSize(octets=64)
)
LADDER = Flow("own", "own", 0, STREAM, 0, (1, 2))
"""Two paths, a merge, two more, and a merge at the listener; and a branch that merges nowhere."""
LADDER.route = (Hop(0, None), Hop(1, None), Hop(2, 0), Hop(3, 2), Hop(4, 2), Hop(5, 4), Hop(6, 1))
LADDER.redundancy = {"merges": [{"from": [2, 1]}, {"from": [3, 5]}]}
LADDER.ends = (3, 6)


def test_hops_before_a_hop() -> None:
    assert [parents(LADDER, hop) for hop in range(7)] == [(), (), (0,), (2, 1), (2, 1), (4,), (1,)]
    assert ancestors(LADDER, 5) == [1, 0, 2, 4, 5]
    assert ancestors(LADDER, 3, 5) == [1, 0, 2, 4, 5, 3]
    assert ancestors(LADDER, 6) == [1, 6]
    assert [longest(LADDER, hop) for hop in range(7)] == [0, 0, 1, 2, 2, 3, 1]


def test_ends_of_paths() -> None:
    assert [end(LADDER, hop) for hop in range(7)] == [None, None, None, 3, None, 3, 6]
    assert last_hops(LADDER, 3) == (3, 5)
    assert last_hops(LADDER, 6) == (6,)
