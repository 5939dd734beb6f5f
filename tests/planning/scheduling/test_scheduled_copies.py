"""Scheduled streams over several paths: behind a merge point a frame has a time for each path."""

from __future__ import annotations

from typing import Any

from support.networks import periodic
from support.planned import document_of
from tsnbench.planning.draft import Flow, Hop
from tsnbench.planning.scheduling.member_streams import by_route_entry, expanded

SPLIT = (Hop(10, None), Hop(11, 0), Hop(12, 1), Hop(13, 0), Hop(14, 3), Hop(15, 2), Hop(16, 5))
"""One port, two paths of two ports, and two ports behind their merge point."""


def flow(route: tuple[Hop, ...], **redundancy: Any) -> Flow:
    made = Flow("s", "s", 0, periodic("a", "b"), 0, (1,), route)
    made.redundancy = redundancy  # type: ignore[assignment]
    return made


def test_entries_behind_a_merge_point_occur_once_for_each_path() -> None:
    made = expanded(flow(SPLIT, merges=[{"from": [2, 4]}], copies=[0, 1, 1, 2, 2, 0, 0]))
    assert made.entries == [0, 1, 2, 3, 4, 5, 5, 6, 6]
    assert made.tree == [
        Hop(10, None), Hop(11, 0), Hop(12, 1), Hop(13, 0), Hop(14, 3),
        Hop(15, 2), Hop(15, 4), Hop(16, 5), Hop(16, 6),
    ]  # fmt: skip
    assert made.more_octets == [0, 6, 6, 6, 6, 0, 0, 0, 0]
    assert made.most == 2


def test_paths_multiply_behind_several_merge_points() -> None:
    """Two paths, then two more: four ways to the end."""
    again = (*SPLIT, Hop(17, 5), Hop(18, 6), Hop(18, 7))
    route = (*again[:8], Hop(18, 6))
    made = expanded(
        flow(route, merges=[{"from": [2, 4]}, {"from": [6, 7]}], copies=[0, 1, 1, 2, 2, 0, 1, 2, 0])
    )
    assert [made.entries.count(entry) for entry in range(9)] == [1, 1, 1, 1, 1, 2, 2, 2, 4]
    assert made.most == 4


def test_a_parent_may_stand_behind_its_children() -> None:
    """A merge point whose second path comes later in the route."""
    route = (Hop(10, None), Hop(11, 0), Hop(15, 1), Hop(13, 0))
    made = expanded(flow(route, merges=[{"from": [1, 3]}], copies=[0, 1, 0, 2]))
    assert made.entries == [0, 1, 3, 2, 2]
    assert made.tree == [Hop(10, None), Hop(11, 0), Hop(13, 0), Hop(15, 1), Hop(15, 2)]
    assert made.more_octets == [0, 6, 6, 0, 0]


def test_a_plain_route_is_itself() -> None:
    made = expanded(flow(SPLIT[:3]))
    assert (made.entries, made.tree, made.more_octets) == ([0, 1, 2], list(SPLIT[:3]), [0, 0, 0])


def test_times_return_to_the_entries_of_the_route() -> None:
    own = flow(SPLIT, merges=[{"from": [2, 4]}], copies=[0, 1, 1, 2, 2, 0, 0])
    assert by_route_entry(own, [0, 1, 2, 3, 4, 5, 6, 7, 8]) == [[0], [1], [2], [3], [4], [5, 6], [7, 8]]


def test_a_schedule_of_two_paths_by_hand() -> None:
    """1 Gbit/s. A frame of 200 B takes 1.6 us, with its tag 1.648 us, and 64 ns of preamble and delimiter.

    It is forwarded at once on both paths: the longer one has 2 us more in its bridge.
    """
    text = """\
name: copies
duration: 1 ms
network:
  stations: [a, b]
  bridges: {x: {}, y: {processing: 2 us}, z: {}, w: {}}
  links: {rate: 1 Gbit/s, between: [a -- x, x -- y, x -- z, y -- w, z -- w, w -- b]}
streams:
  s:
    {from: a, to: b, pcp: 6, period: 100 us, frame: 200 B, scheduled: true,
     frer: {paths: [[x, y, w], [x, z, w]], at: w}}
"""
    document: Any = document_of(text)
    (stream,) = document["streams"]
    starts = {
        document["ports"][hop["port"]]["name"]: times
        for hop, times in zip(stream["route"], stream["scheduled"]["starts_ps"], strict=True)
    }
    plain, tagged = 1_664_000, 1_712_000
    through_z = plain + 2 * tagged
    assert starts == {
        "a -> x": [0],
        "x -> y": [plain], "x -> z": [plain],
        "y -> w": [plain + tagged + 2_000_000], "z -> w": [plain + tagged],
        "w -> b": [through_z + 2_000_000, through_z],
    }  # fmt: skip
