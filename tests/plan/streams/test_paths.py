"""The ports of every path to a listener: trees, member streams that merge, and merges in a circle."""

from __future__ import annotations

from typing import Any

from tsnbench.plan.streams.paths import entries_to, parents_of, path_to, paths_to, paths_to_entry, ports_to


def route(*parents: int | None) -> list[Any]:
    """Entries with these parents; the ports are 10, 11 and so on."""
    return [
        {"port": 10 + place} | ({} if parent is None else {"parent": parent})
        for place, parent in enumerate(parents)
    ]


# One link, then a branch of two more links and a branch of one.
TREE: Any = {"route": route(None, 0, 1, 0), "listeners": [{"route": 2}, {"route": 3}]}


def test_a_tree_has_one_path_to_each_listener() -> None:
    assert parents_of(TREE) == [None, 0, 1, 0]
    assert [path_to(TREE, listener) for listener in (0, 1)] == [(10, 11, 12), (10, 13)]
    assert ports_to(TREE, 1) == (10, 11)
    assert paths_to(TREE, 0) == [[(10, 0), (11, 0), (12, 0)]]
    assert paths_to(TREE, 1) == [[(10, 0), (13, 0)]]


def test_entries_that_lead_in_a_circle_come_to_an_end() -> None:
    assert entries_to([None, 0], 1) == (0, 1)
    assert entries_to([1, 0], 0) == (0, 1, 0)


def test_each_member_stream_is_a_path_and_its_r_tag_ends_where_they_merge() -> None:
    """The talker sends over 10 and 12, and over 11 and 13; the paths merge before 14."""
    redundancy: Any = {"copies": [1, 2, 1, 2, 0], "merges": [{"from": [2, 3]}]}
    stream: Any = {
        "route": route(None, None, 0, 1, 2),
        "redundancy": redundancy,
        "listeners": [{"route": 4}, {"route": 2}],
    }
    assert paths_to(stream, 0) == [[(10, 6), (12, 6), (14, 0)], [(11, 6), (13, 6), (14, 0)]]
    # A listener at the merge itself is reached over two paths, too.
    assert paths_to(stream, 1) == [[(10, 6), (12, 6)], [(11, 6), (13, 6)]]


def test_a_path_does_not_pass_a_circle_of_merges_twice() -> None:
    """Entry 3 leads from the end of entry 2 back to the end of entry 1."""
    circle = route(None, 0, 1, 2)
    merges: Any = {"merges": [{"from": [1, 3]}]}
    assert paths_to_entry(circle, merges, 2) == [[(10, 0), (11, 0), (12, 0)]]
    assert paths_to_entry(circle, merges, 3) == [[(10, 0), (11, 0)]]


def test_two_merges_one_after_the_other_give_every_combination() -> None:
    """Entries 1 and 2 merge; after them, entries 3 and 4 merge."""
    merges: Any = {"merges": [{"from": [1, 2]}, {"from": [3, 4]}]}
    found = paths_to_entry(route(None, 0, 0, 1, 1), merges, 3)
    assert [[port for port, _ in each] for each in found] == [
        [10, 11, 13],
        [10, 12, 13],
        [10, 11, 14],
        [10, 12, 14],
    ]
