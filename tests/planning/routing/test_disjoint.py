"""Disjoint paths: by hand, and held against all paths of small networks."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.examples import examples
from tsnbench.planning.draft import Draft
from tsnbench.planning.passes import name_ports
from tsnbench.planning.routing.disjoint import disjoint_paths
from tsnbench.scenario import read_scenario


def network(links: list[str], bridges: list[str], stations: tuple[str, ...] = ("t", "l")) -> Draft:
    text = f"""\
name: paths
duration: 1 ms
network:
  stations: [{", ".join(stations)}]
  bridges: [{", ".join(bridges)}]
  links: {{rate: 1 Gbit/s, between: [{", ".join(links)}]}}
streams: {{s: {{from: t, to: l, period: 1 ms, frame: 500 B}}}}
"""
    draft = Draft(read_scenario(text)[0])
    name_ports(draft)
    draft.raise_problems()
    return draft


def node(draft: Draft, name: str) -> int:
    return next(number for number, one in enumerate(draft.nodes) if one.name == name)


def paths(
    draft: Draft, count: int, avoid: tuple[str, ...] = (), ends: tuple[str, str] = ("t", "l")
) -> list[str]:
    """Each path as the names of its nodes."""
    avoided = [port.number for port in draft.ports if port.name in avoid]
    found = disjoint_paths(draft, node(draft, ends[0]), node(draft, ends[1]), count, avoided)
    return [
        " ".join([ends[0], *(draft.nodes[draft.ports[number].to].name for number in path)]) for path in found
    ]


@pytest.mark.parametrize(
    ("links", "bridges", "shortest", "two"),
    [
        # The shortest path t a d l takes nodes of both disjoint paths: the link a - d is given back.
        ("t-a a-d d-l t-b b-e e-d a-c c-f f-l", "abcdef", "t a d l", ["t a c f l", "t b e d l"]),
        # t a m n d l is the shortest by far; two disjoint paths take neither m nor n.
        (
            "t-a a-m m-n n-d d-l t-b b-p p-q q-n a-r r-s s-u u-l m-v v-w w-x x-y y-l",
            "abdmnpqrsuvwxy",
            "t a m n d l",
            ["t a r s u l", "t b p q n d l"],
        ),
        # Giving back b - c and its neighbours costs 8 - 3 hops, and the detour beside the first path costs 6.
        (
            "t-a a-b b-c c-d d-l t-p p-q q-r r-d a-u u-v v-w w-l t-e e-f f-g g-h h-i i-l",
            "abcdpqruvwefghi",
            "t a b c d l",
            ["t a u v w l", "t p q r d l"],
        ),
    ],
)
def test_the_shortest_path_gives_way_to_two(links: str, bridges: str, shortest: str, two: list[str]) -> None:
    draft = network(links.split(), list(bridges))
    assert paths(draft, 1) == [shortest]
    assert paths(draft, 2) == two


@pytest.mark.parametrize(
    ("links", "bridges", "found"),
    [
        # Shorter paths come first, equal ones in the order of ports.
        ("t-a a-b b-l t-c c-l t-d d-l", "abcd", ["t c l", "t d l", "t a b l"]),
        # Paths share the links before and behind a choice.
        ("t-s s-a a-z s-b b-z z-y y-l", "sabzy", ["t s a z y l", "t s b z y l"]),
        # There is no choice.
        ("t-a a-b b-l", "ab", []),
        # Neighbours without a bridge between them have no other path.
        ("t-l l-a a-b", "ab", []),
        # A loop beside the only path is no other path.
        ("t-a a-l a-b b-c c-a", "abc", []),
    ],
)
def test_paths_that_differ(links: str, bridges: str, found: list[str]) -> None:
    draft = network(links.split(), list(bridges))
    assert paths(draft, 5) == found
    assert paths(draft, 2, ends=("l", "t")) == [" ".join(one.split()[::-1]) for one in found[:2]]


def test_there_may_be_no_path_at_all() -> None:
    draft = network(["t-a", "a-l", "t-b", "b-l"], ["a", "b"])
    assert paths(draft, 2, ("a -> l", "b -> l")) == []


def test_end_stations_do_not_forward() -> None:
    draft = network(["t-a", "a-l", "t-e", "e-l", "t-b", "b-c", "c-l"], ["a", "b", "c"], ("t", "l", "e"))
    assert paths(draft, 3) == ["t a l", "t b c l"]


@pytest.mark.parametrize("avoid", [("a -> d",), ("d -> a",)])
def test_what_is_avoided_is_avoided_with_its_nodes(avoid: tuple[str, ...]) -> None:
    """The port, its opposite, and the node between; the paths' ends may be shared."""
    draft = network(["t-a", "a-d", "d-l", "t-b", "b-l", "a-c", "c-l"], list("abcd"))
    shared = {"a -> d": "d", "d -> a": "a"}[avoid[0]]
    known = [path for path in ("t b l", "t a c l") if shared not in path.split()]
    assert paths(draft, 3, avoid) == known


LINKS = [f"{a}-{b}" for a, b in combinations("abcde", 2)]


@examples(1.0)
@given(
    between=st.lists(st.sampled_from(LINKS), unique=True, min_size=2, max_size=9),
    at_talker=st.lists(st.sampled_from("abcde"), unique=True, min_size=2, max_size=4),
    at_listener=st.lists(st.sampled_from("abcde"), unique=True, min_size=2, max_size=4),
    count=st.integers(1, 3),
)
def test_they_are_the_most_and_the_shortest_of_all(
    between: list[str], at_talker: list[str], at_listener: list[str], count: int
) -> None:
    links = [*between, *(f"t-{one}" for one in at_talker), *(f"{one}-l" for one in at_listener)]
    used = sorted({end for link in links for end in link.split("-")} - {"t", "l"})
    near: dict[str, list[str]] = {}
    for link in links:
        a, b = link.split("-")
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)

    def simple(path: list[str]) -> list[list[str]]:
        if path[-1] == "l":
            return [path]
        return [one for to in near[path[-1]] if to not in path for one in simple([*path, to])]

    every = simple(["t"])
    assume(every)
    sets = [
        chosen
        for size in range(count, 0, -1)
        for chosen in combinations(every, size)
        if all(not set(a[1:-1]) & set(b[1:-1]) for a, b in combinations(chosen, 2))
    ]
    most = max(map(len, sets), default=0)
    least = min((sum(map(len, chosen)) for chosen in sets if len(chosen) == most), default=0)
    taken = [path.split() for path in paths(network(links, used), count)]
    assert all(path in every for path in taken)
    assert all(not set(a[1:-1]) & set(b[1:-1]) for a, b in combinations(taken, 2))
    assert (len(taken), sum(map(len, taken))) == (most, least)
    assert [len(path) for path in taken] == sorted(len(path) for path in taken)
