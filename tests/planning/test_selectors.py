"""The selector that set a part of a port: the one that the file has, in the file's form."""

from __future__ import annotations

import pytest

from support.networks import links, network, periodic, scenario
from support.planned import document_of, problems_of
from tsnbench.planning.selectors import Selector, parse, shaper_path
from tsnbench.scenario import model, read_scenario
from tsnbench.scenario.errors import ScenarioErrors

GATES = model.Gates(entries=(model.GateEntry(open=(3,), duration=10),))
CBS = (model.CbsClass(pcp=3),)
SHAPERS = {
    "*": model.Shaper(planned_rate=10**9, gates=GATES),
    "a -> b #2": model.Shaper(cbs=CBS),
    "* -> b": model.Shaper(real_rate=10**8),
    "a -> *": model.Shaper(gates=GATES),
    "a -> c": model.Shaper(queues=model.Queues(limit_frames=1)),
}


def made(shapers: dict[str, model.Shaper]) -> model.Scenario:
    net = network("a:station b:bridge c:station", links("a-b a-b a-c"))
    return scenario(net, {"s": periodic("a", "c")}, shapers=shapers)


@pytest.mark.parametrize(
    ("port", "rest", "path"),
    [
        # Of two selectors that set the gates, the later one holds; those behind it do not set them.
        ("a -> b #1", "gates.entries[0].for", "shapers.a -> all.gates.entries[0].for"),
        ("c -> a", "gates.cycle", "shapers.all.gates.cycle"),
        ("a -> c", "gates", "shapers.a -> all.gates"),
        ("a -> c", "queues.limit", "shapers.a -> c.queues.limit"),
        # The file writes `a -> b#2`: a blank before `#` would begin a comment.
        ("a -> b #2", "cbs[0].bandwidth", "shapers.a -> b#2.cbs[0].bandwidth"),
        ("a -> b #1", "cbs", "shapers.a -> b #1.cbs"),
        # The file has dashes where Python has underscores.
        ("a -> b #2", "real-rate", "shapers.all -> b.real-rate"),
        ("c -> a", "planned-rate", "shapers.all.planned-rate"),
        ("c -> a", "real-rate", "shapers.c -> a.real-rate"),
        # Names with spaces are not selectors.
        ("two words -> b", "gates", "shapers.two words -> b.gates"),
    ],
)
def test_a_part_of_a_port_is_told_by_the_selector_that_set_it(port: str, rest: str, path: str) -> None:
    assert shaper_path(made(SHAPERS), port, rest) == path


def test_a_port_without_a_number_is_the_first_of_its_links() -> None:
    """`a -> c` has no parallel link: it is copy 1, which a number may name."""
    own = made({"a -> c #1": model.Shaper(gates=GATES)})
    assert shaper_path(own, "a -> c", "gates") == "shapers.a -> c#1.gates"
    assert shaper_path(own, "a -> c #2", "gates") == "shapers.a -> c #2.gates"


@pytest.mark.parametrize(
    ("wires", "hint"),
    [
        ("a-b", "it has no links"),
        ("a-b c-b", "its ports are c -> b"),
        # Eight of its nine ports.
        (
            "a-b c-n1 c-n2 c-n3 c-n4 c-n5 c-n6 c-n7 c-n8 c-n9",
            "its ports are c -> n1, c -> n2, c -> n3, c -> n4, c -> n5, c -> n6, c -> n7, c -> n8",
        ),
    ],
)
def test_a_selector_without_a_port_names_the_ports_of_its_node(wires: str, hint: str) -> None:
    nodes = "a:station b:bridge c:bridge " + " ".join(f"n{number}:station" for number in range(1, 10))
    net = network(nodes, links(wires))
    shapers = {"c -> a": model.Shaper(real_rate=10**8)}
    (problem,) = problems_of(scenario(net, {"s": periodic("a", "b")}, shapers=shapers))
    assert (problem.path, problem.expected) == ("shapers.c -> a", "the name of a port")
    assert (problem.found, problem.hint) == ("no link for 'c -> a'", hint)


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("*", Selector(None, None, None)),
        ("a -> b", Selector("a", "b", None)),
        ("a->b", Selector("a", "b", None)),
        (" a -> * ", Selector("a", None, None)),
        ("bridges", Selector(None, None, None, bridges=True)),
        ("bridges -> b", Selector("bridges", "b", None)),
        ("* -> b-1.x", Selector(None, "b-1.x", None)),
        ("a -> b #2", Selector("a", "b", 2)),
        ("a -> b#12", Selector("a", "b", 12)),
        ("a", None),
        ("a -> ", None),
        ("a -> b #0", None),
        ("a -> b -> c", None),
        ("", None),
    ],
)
def test_what_is_a_selector(text: str, selector: Selector | None) -> None:
    assert parse(text) == selector


NEAR = """\
name: near
duration: 1 ms
network:
  stations: [a, c]
  bridges: [b]
  hosts: [h]
  links: {rate: 1 Gbit/s, between: [a-b, b-c, b-h]}
streams: {s: {from: a, to: c, period: 1 ms, frame: 100 B}}
shapers:
  b -> c: {queues: {limit-frames: 4}}
  bridges: {queues: {limit-frames: 2}, gates: {entries: [{open: all, for: 20 us}]}}
  b -> all: {queues: {limit-frames: 3}}
  all -> h: {gates: {entries: [{open: all, for: 30 us}]}}
  all: {queues: {limit-frames: 1}, gates: {entries: [{open: all, for: 10 us}]}}
"""


def test_the_nearest_selector_holds_whatever_their_order() -> None:
    """A port over a node, this over bridges, this over all; ``bridges`` are neither stations nor hosts."""
    found = {
        port["name"]: (port["classes"][0]["limit_frames"], port["gates"]["cycle_ns"] // 1_000)
        for port in document_of(NEAR)["ports"]
    }
    assert found == {
        "a -> b": (1, 10),
        "h -> b": (1, 10),
        "c -> b": (1, 10),
        "b -> a": (3, 20),
        "b -> c": (4, 20),
        "b -> h": (3, 30),
    }
    own = read_scenario(NEAR)[0]
    assert [shaper_path(own, port, "gates") for port in ("h -> b", "b -> a", "b -> h")] == [
        "shapers.all.gates",
        "shapers.bridges.gates",
        "shapers.all -> h.gates",
    ]


def test_bridges_are_found_by_their_kind() -> None:
    (problem,) = problems_of(NEAR.replace("bridges: [b]", "host b: {}"))
    assert (problem.path, problem.found) == ("shapers.bridges", "no link for 'bridges'")


def test_only_shapers_take_bridges() -> None:
    with pytest.raises(
        ScenarioErrors, match="expected a port: node1 -> node2, node1 -> all, all -> node2 or all,"
    ):
        read_scenario(NEAR + "taps: {ports: [bridges]}\n")
