"""Paths from the failures to survive: fewest links, against every subset of a small network; the cut that
prevents them; and the proof and runs of what is planned."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.planned import document_of, plan_of, refusal_text, run_of
from tsnbench.errors import InputError
from tsnbench.plan.bounds import bounds
from tsnbench.planning import Plan, PlanningErrors
from tsnbench.planning.routing.survivable import search
from tsnbench.planning.routing.survivable.flow import Demand, Link
from tsnbench.planning.routing.survivable.search import fewest_links

LADDER = "a -- p1, a -- q1, p1 -- p2, q1 -- q2, p2 -- q2, p2 -- p3, q2 -- q3, p3 -- c, q3 -- c"
RING = "a -- b1, b1 -- b2, b2 -- b3, b3 -- b4, b4 -- b5, b5 -- b1, b3 -- c"
STREAM = (
    "{from: a, to: %s, pcp: 5, period: 1 ms, payload: 100 B, frer: {paths: from-failures}, "
    "requires: {survives: %s}}"
)


def network(links: str, required: str, to: str = "c") -> str:
    nodes = sorted({node for link in links.split(", ") for node in link.split(" -- ")})
    stations = ["a", *to.strip("[]").split(", ")]
    bridges = [node for node in nodes if node not in stations]
    return (
        f"name: n\nduration: 20 ms\nnetwork:\n"
        f"  stations: [{', '.join(stations)}]\n  bridges: [{', '.join(bridges)}]\n"
        f"  links: {{rate: 1 Gbit/s, between: [{links}]}}\nstreams:\n  s: {STREAM % (to, required)}\n"
    )


def passed(document: Any) -> list[str]:
    return sorted(document["ports"][hop["port"]]["name"] for hop in document["streams"][0]["route"])


@pytest.mark.parametrize(
    ("links", "required", "found"),
    [
        # Two paths without a common link.
        (LADDER, "1", "a -> p1, a -> q1, p1 -> p2, p2 -> p3, p3 -> c, q1 -> q2, q2 -> q3, q3 -> c"),
        # One of two links that lead to c may fail, and nothing else: the paths part at the last rung alone.
        (
            LADDER,
            "{of: [p3 -- c, q3 -- c, q1]}",
            "a -> p1, p1 -> p2, p2 -> p3, p3 -> c, p2 -> q2, q2 -> q3, q3 -> c",
        ),
        # What is on no path with the fewest hops costs nothing.
        (LADDER, "{of: [q1, q1 -- q2]}", "a -> p1, p1 -> p2, p2 -> p3, p3 -> c"),
        # Each half of the ladder has two paths, which meet at a node that does not fail.
        (
            "a -- x, a -- y, x -- m, y -- m, m -- u, m -- v, u -- c, v -- c",
            "{any: 1, of: [links]}",
            "a -> x, a -> y, m -> u, m -> v, u -> c, v -> c, x -> m, y -> m",
        ),
        # The shortest path (over m) and the path beside it (over k1) have 11 links, the best two 10.
        (
            "a -- p, p -- m, m -- q, q -- c, a -- x1, x1 -- x2, x2 -- x3, x3 -- q, "
            "p -- u1, u1 -- u2, u2 -- u3, u3 -- c, "
            "a -- k1, k1 -- k2, k2 -- k3, k3 -- k4, k4 -- k5, k5 -- k6, k6 -- c",
            "1",
            "a -> p, p -> u1, u1 -> u2, u2 -> u3, u3 -> c, a -> x1, x1 -> x2, x2 -> x3, x3 -> q, q -> c",
        ),
        # Any one link, or any two of the three in the middle: two paths in all, and a third one there.
        (
            "a -- p, p -- m, a -- q, q -- m, m -- x, m -- y, m -- z, x -- c, y -- c, z -- c",
            "[{any: 1, of: [links]}, {any: 2, of: [m -- x, m -- y, m -- z]}]",
            "a -> p, p -> m, a -> q, q -> m, m -> x, m -> y, m -> z, x -> c, y -> c, z -> c",
        ),
        # A bridge that leads nowhere else is on no path.
        ("a -- b, b -- c, c -- d", "{of: [d]}", "a -> b, b -> c"),
        # Round the ring both ways, over the only links of a and c.
        (RING, "{of: [bridge-links]}", "a -> b1, b1 -> b2, b1 -> b5, b2 -> b3, b3 -> c, b4 -> b3, b5 -> b4"),
    ],
)
def test_the_fewest_links_by_hand(links: str, required: str, found: str) -> None:
    assert passed(document_of(network(links, required))) == sorted(found.split(", "))


def test_listeners_share_links() -> None:
    """Both listeners are reached from both sides of the ring: its 4 links, b3 -- b4 both ways."""
    links = "a -- b1, b1 -- b2, b2 -- b3, b3 -- b4, b4 -- b1, b3 -- c, b4 -- d"
    found = passed(document_of(network(links, "{of: [bridge-links]}", "[c, d]")))
    assert found == sorted(
        ["a -> b1", "b1 -> b2", "b2 -> b3", "b3 -> b4", "b1 -> b4", "b4 -> b3", "b3 -> c", "b4 -> d"]
    )


def test_each_stream_has_the_paths_that_it_has_alone() -> None:
    """Streams from one talker to other listeners, or with other failures; c2 is as c, with larger frames."""
    links = f"p2 -- d, {LADDER}, q2 -- d"
    own = {"few": ("c", "{of: [p1]}"), "c": ("c", "1"), "d": ("d", "1"), "c2": ("c", "1")}
    text = network(links, "1").replace("stations: [a, c]", "stations: [a, c, d]").replace("d, p1", "p1")
    head = text[: text.index("  s: ")]
    stream = {name: f"  {name}: {STREAM % parts}\n" for name, parts in own.items()}
    stream["c2"] = stream["c2"].replace("100 B", "200 B")
    alone = {name: document_of(head + line)["streams"][0]["route"] for name, line in stream.items()}
    together = document_of(head + "".join(stream.values()))["streams"]
    assert {one["name"]: one["route"] for one in together} == alone


def test_stations_do_not_forward() -> None:
    """d has a link to c, but is a station."""
    links = "a -- b, b -- c, b -- d, a -- d, d -- c"
    said = refusal_text(network(links, "{of: [b]}", "[c, d]"))
    assert "b alone connects a to c" in said


@pytest.mark.parametrize(
    ("links", "required", "said"),
    [
        (
            RING,
            "1",
            "the link a -- b1 alone connects a to c; add links, or write survives: {of: [bridge-links]}",
        ),
        (
            RING,
            "{of: [nodes]}",
            "b1 alone connects a to c; add links, or write survives: {of: [bridge-links]}",
        ),
        (
            LADDER,
            "2",
            "the link a -- p1 and the link a -- q1 alone connect a to c; add links, or write any: 1",
        ),
        (LADDER, "{any: 2, of: [nodes]}", "p1 and q1 alone connect a to c; add links, or write any: 1"),
        # Three paths survive two failures.
        (
            "a -- x, a -- y, a -- z, x -- c, y -- c, z -- c",
            "4",
            "the link a -- x, the link a -- y and the link a -- z alone connect a to c; "
            "add links, or write any: 2",
        ),
        # The links between bridges survive two failures, those of c none.
        (
            "a -- x, x -- m, x -- n, x -- o, m -- y, n -- y, o -- y, y -- c",
            "2",
            "the link a -- x alone connects a to c; "
            "add links, or write survives: {any: 2, of: [bridge-links]}",
        ),
        # No link is between bridges.
        ("a -- x, x -- c", "{of: [nodes]}", "x alone connects a to c; add links"),
        (
            RING,
            "{any: 2, of: [bridge-links]}",
            "the link b1 -- b2 and the link b5 -- b1 alone connect a to c; add links, or write any: 1",
        ),
    ],
)
def test_the_cut_that_prevents_it(links: str, required: str, said: str) -> None:
    text = refusal_text(network(links, required)).replace("\n  hint: ", "; ")
    assert text.endswith(f"found {said}")
    many = re.fullmatch(r"(?:{any: )?([2-9])\b.*", required)
    fail = f"any {many[1]} of them fail" if many else "any one of them fails"
    assert f"requires.survives: expected a path that is left if {fail}, found" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (", requires: {survives: 1}", "", "failures to survive beside paths: from-failures"),
        ("from-failures}", "from-failures, at: p2}", "no at with paths: from-failures"),
        ("from-failures}", "from-failures, disjoint: 2}", "only one of paths, disjoint and via"),
        ("from-failures}", "from-the-failures}", "did you mean from-failures?"),
    ],
)
def test_slips(old: str, new: str, said: str) -> None:
    text = network(LADDER, "1")
    assert old in text
    with pytest.raises(InputError, match=re.escape(said)):
        plan_of(text.replace(old, new))


def survives(made: Plan) -> list[tuple[Any, Any]]:
    return [
        (flow["loss_reason"], one["reason"]) for flow in bounds(made)["flows"] for one in flow["survives"]
    ]


class Network:
    """A random connected network: links by pairs of nodes; node 0 is the talker."""

    def __init__(self, seed: int) -> None:
        random_ = random.Random(seed)
        count = random_.randint(4, 5)
        pairs = list(itertools.combinations(range(count), 2))
        tree = [(random_.randrange(node), node) for node in range(1, count)]
        others = [pair for pair in pairs if pair not in tree]
        self.pairs = tree + random_.sample(others, min(len(others), random_.randint(2, 4)))
        self.count = count
        self.listeners = random_.sample(range(1, count), random_.randint(1, 3))
        nodes = [node for node in range(1, count) if node not in self.listeners]
        # By kind: how many parts fail, and which links and nodes may.
        self.kinds = [
            (
                failures,
                random_.sample(range(len(self.pairs)), random_.randint(1, len(self.pairs))),
                random_.sample(nodes, random_.randint(0, len(nodes))),
            )
            for failures in random_.choice([[1], [1], [2], [1, 2], [1, 2]])
        ]

    def demands(self) -> list[Demand]:
        links = [
            Link(2 * number + back, 2 * number + 1 - back, *(pair[::-1] if back else pair))
            for number, pair in enumerate(self.pairs)
            for back in (0, 1)
        ]
        return [
            Demand(
                links,
                0,
                listener,
                failures,
                {2 * number: f"l{number}" for number in own},
                {node: f"n{node}" for node in nodes},
            )
            for failures, own, nodes in self.kinds
            for listener in self.listeners
        ]

    def sets(self) -> Iterator[tuple[tuple[str, int], ...]]:
        for failures, links, nodes in self.kinds:
            parts = [("link", number) for number in links] + [("node", node) for node in nodes]
            yield from itertools.combinations(parts, min(failures, len(parts)))

    def survives(self, chosen: tuple[int, ...]) -> bool:
        """Whether each listener is reached after every set of failures; entry 2 n + 1 is link n backwards."""
        for failed in self.sets():
            arcs = [
                self.pairs[place // 2][:: -1 if place % 2 else 1]
                for place in chosen
                if ("link", place // 2) not in failed
            ]
            reached, grows = {0}, True
            while grows:
                more = {
                    to
                    for node, to in arcs
                    if node in reached and to not in reached and ("node", to) not in failed
                }
                reached |= more
                grows = bool(more)
            if not reached.issuperset(self.listeners):
                return False
        return True


@pytest.mark.parametrize("seed", range(100))
def test_no_subset_with_fewer_links_survives(seed: int) -> None:
    own = Network(seed)
    demands = own.demands()
    every = range(2 * len(own.pairs))
    cuts = ((demand.failures, demand.cut()) for demand in demands)
    failures, cut = next(((failures, cut) for failures, cut in cuts if cut is not None), (0, None))
    if cut is not None:
        # The named parts are a set of failures, and no part of it alone is one.
        assert len(cut) <= failures
        failed = tuple(("link" if part[0] == "l" else "node", int(part[1:])) for part in cut)
        own.sets = lambda: iter([failed])  # type: ignore[method-assign]
        assert not own.survives(tuple(every))
        return
    found = fewest_links(demands)
    assert own.survives(tuple(sorted(found)))
    assert not any(own.survives(some) for some in itertools.combinations(every, len(found) - 1))


def test_the_bound_leaves_little_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of one set of links costs a flow for each demand. All networks above take 386 of them, and
    2,000 with a bound of nothing."""
    steps: list[None] = []
    relaxed = search._relaxed
    monkeypatch.setattr(search, "_relaxed", lambda *given: (steps.append(None), relaxed(*given))[1])
    for seed in range(100):
        demands = Network(seed).demands()
        if all(demand.cut() is None for demand in demands):
            fewest_links(demands)
    assert len(steps) < 450


@pytest.mark.parametrize(
    ("cost", "units", "paths"),
    [
        (7, [1, 0, 1, 1, 1, 1, 1, 0], [[0, 5, 6], [3, 4, 2]]),
        (5, [1, 1, 1, 1, 0, 0, 0, 1], [[0, 1, 2], [3, 7]]),
    ],
)
def test_the_second_unit_takes_back_what_the_first_one_took(
    cost: int, units: list[int], paths: list[list[int]]
) -> None:
    """The cheapest path is 0 - 1 - 2 - 3. Of two that share nothing, none has the link 1 - 2, which costs
    nothing: the second unit costs 2 on each of four links, or 2 and ``cost`` over 4 - 3."""
    pairs = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 2), (1, 5), (5, 3), (4, 3)]
    links = [Link(2 * number, 2 * number + 1, *pair) for number, pair in enumerate(pairs)]
    demand = Demand(links, 0, 3, 1, {link.port: "link" for link in links}, {})
    flow = demand.cheapest([2, 0, 2, 2, 2, 2, 2, cost], set())
    assert flow is not None
    assert flow.units == units
    assert demand.paths(flow) == paths


def random_network(seed: int) -> str:
    """A grid of bridges with some links more; a and c have three links each."""
    random_ = random.Random(seed)
    rows, columns = 3, random_.randint(2, 3)
    at = [[f"b{row}{column}" for column in range(columns)] for row in range(rows)]
    links = [f"{row[n]} -- {row[n + 1]}" for row in at for n in range(columns - 1)]
    links += [f"{at[n][column]} -- {at[n + 1][column]}" for n in range(rows - 1) for column in range(columns)]
    links = random_.sample(links, len(links) - random_.randint(0, 2))
    ends = [f"a -- {row[0]}" for row in at] + [f"{row[-1]} -- c" for row in at]
    two = "{any: 2, of: [bridge-links, b11]}"
    required = random_.choice(["1", "1", "2", "{any: 2, of: [links]}", two, f"[{{of: [nodes]}}, {two}]"])
    return network(", ".join(ends + links), required)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_planned_is_proved(seed: int) -> None:
    text = random_network(seed)
    try:
        made = plan_of(text)
    except PlanningErrors as refused:
        made = None
        said = str(refused)
    assert set(survives(made)) == {(None, None)} if made else "alone connect" in said


@pytest.mark.parametrize("failed", ["a -> p1", "p1 -> p2", "p2 -> p3", "q2 -> q3", "q1 -> q2"])
def test_a_run_with_the_failure_loses_nothing(failed: str, tmp_path: Path) -> None:
    text = network(LADDER, "1") + f"faults: [{{down: {failed}, at: 5 ms, for: 5 ms}}]\n"
    count = run_of(plan_of(text), tmp_path).measures()["paths"][0]["count"]
    assert (count["sent"], count["received"], count["duplicate"]) == (20, 20, 0)
