"""Nodes, links and generators."""

from __future__ import annotations

import pytest

from tsnbench.scenario import ScenarioErrors, model, read_scenario


def network(written: str, talker: str, listener: str) -> model.Network:
    text = f"""
name: net
duration: 1 ms
network:
  rate: 1 Gbit/s
{written}
streams: {{s: {{from: {talker}, to: {listener}, period: 1 ms, frame: 100 B}}}}
"""
    (scenario,) = read_scenario(text)
    return scenario.network


def pairs(net: model.Network) -> list[tuple[str, str]]:
    return [(link.a, link.b) for link in net.links]


def kinds(net: model.Network) -> dict[str, str]:
    return {name: node.kind for name, node in net.nodes.items()}


def test_named_nodes_in_every_spelling() -> None:
    net = network(
        """
  stations: [a, b]
  bridges: {s1: {processing: 2 us}, s2: }
  host h: {processing: 1/2 us}
  links: [a-s1, s1 - s2, s2 -- b, h--s2]
""",
        "a",
        "h",
    )
    assert kinds(net) == {"a": "station", "b": "station", "s1": "bridge", "s2": "bridge", "h": "host"}
    assert [net.nodes[name].processing for name in ("s1", "s2", "h")] == [2000, 0, 500]
    assert pairs(net) == [("a", "s1"), ("s1", "s2"), ("s2", "b"), ("h", "s2")]


def test_known_names_decide_where_a_hyphen_separates() -> None:
    net = network(
        "  stations: [cam-left, cam]\n  bridges: [sw-1]\n  links: [cam-left-sw-1, cam-sw-1]",
        "cam",
        "cam-left",
    )
    assert pairs(net) == [("cam-left", "sw-1"), ("cam", "sw-1")]


def test_rates_and_cables_of_groups_and_directions() -> None:
    net = network(
        """
  cable: 3 m
  stations: [a, b, c]
  bridges: [s]
  links:
    - a -- s
    - {rate: 100 Mbit/s, cable: 1.5 m, between: b -- s, back: {rate: 10 Mbit/s, cable: 2 m}}
    - {rate: 10 Gbit/s, between: [c -- s]}
""",
        "a",
        "b",
    )
    assert net.links == (
        model.Link(a="a", b="s", rate=10**9, cable=3000),
        model.Link(a="b", b="s", rate=10**8, cable=1500, back_rate=10**7, back_cable=2000),
        model.Link(a="c", b="s", rate=10**10, cable=3000),
    )


def test_line() -> None:
    net = network("  line: {hops: 3, kind: host, prefix: zgw}", "zgw1", "zgw4")
    assert kinds(net) == dict.fromkeys(("zgw1", "zgw2", "zgw3", "zgw4"), "host")
    assert pairs(net) == [("zgw1", "zgw2"), ("zgw2", "zgw3"), ("zgw3", "zgw4")]
    again = network("  line: {nodes: 4, ends: station, prefix: n}", "first", "last")
    assert list(kinds(again).values()) == ["station", "bridge", "bridge", "station"]


def test_ring_with_stations() -> None:
    net = network("  ring: {nodes: 4, stations: 1, cable: 7 m}", "station1", "station3")
    assert pairs(net)[:4] == [
        ("bridge1", "bridge2"), ("bridge2", "bridge3"), ("bridge3", "bridge4"), ("bridge4", "bridge1"),
    ]  # fmt: skip
    assert pairs(net)[4:] == [(f"station{n}", f"bridge{n}") for n in range(1, 5)]
    assert {link.cable for link in net.links} == {7000}


def test_mesh_links_every_pair() -> None:
    net = network("  mesh: {nodes: 5, kind: host, prefix: m}", "m1", "m5")
    assert len(net.links) == 10
    assert len({frozenset(pair) for pair in pairs(net)}) == 10


def test_star() -> None:
    net = network("  star: {centre: dut, nodes: 3, prefix: node}", "node1", "node3")
    assert kinds(net) == {"dut": "bridge", "node1": "station", "node2": "station", "node3": "station"}
    assert pairs(net) == [("node1", "dut"), ("node2", "dut"), ("node3", "dut")]


def test_grid() -> None:
    net = network("  grid: {rows: 3, columns: 4, prefix: b, stations: 2}", "station1.1.1", "station3.4.2")
    bridges = [name for name, node in net.nodes.items() if node.kind == "bridge"]
    assert bridges[0] == "b1.1"
    assert bridges[-1] == "b3.4"
    assert len(bridges) == 12
    assert len(net.nodes) == 12 + 24
    assert len(net.links) == 3 * 3 + 2 * 4 + 24


def test_tree() -> None:
    net = network("  tree: {depth: 2, fanout: 3, leaves: station, prefix: t}", "t5", "t13")
    assert len(net.nodes) == 13
    assert [name for name, node in net.nodes.items() if node.kind == "bridge"] == ["t1", "t2", "t3", "t4"]
    assert pairs(net)[:4] == [("t1", "t2"), ("t1", "t3"), ("t1", "t4"), ("t2", "t5")]
    assert pairs(net)[-1] == ("t4", "t13")


def test_generators_and_named_nodes_combine() -> None:
    net = network(
        """
  line: [{nodes: 2, prefix: a}, {nodes: 2, prefix: b, rate: 100 Mbit/s}]
  stations: [x, y]
  links: [a2 -- b1, x -- a1, y -- b2]
""",
        "x",
        "y",
    )
    assert pairs(net) == [("a1", "a2"), ("b1", "b2"), ("a2", "b1"), ("x", "a1"), ("y", "b2")]
    assert [link.rate for link in net.links] == [10**9, 10**8, 10**9, 10**9, 10**9]


def test_first_and_last_need_a_single_line() -> None:
    with pytest.raises(ScenarioErrors, match="expected a node of the network, found first"):
        network("  line: [{nodes: 2, prefix: a, kind: host}, {nodes: 2, prefix: b}]", "first", "a2")


def test_queues_of_network_node_and_port() -> None:
    text = """
name: queues
duration: 1 ms
network:
  stations: [a, b]
  bridge s: {classes: {6: 3, 5: 2, 4: 1, 0: 0}, queues: {limit-frames: 10}}
  links: {rate: 1 Gbit/s, between: [a -- s, b -- s]}
  queues: {classes: 802.1Q/4, limit-octets: 64 kB}
streams: {s: {from: a, to: b, period: 1 ms, frame: 100 B}}
shapers:
  s -> a: {queues: {limit-frames: 5}}
  s -> all: {queues: {limit-octets: 1 kB}}
"""
    (scenario,) = read_scenario(text)
    assert scenario.network.queues.classes == dict(enumerate((0, 0, 2, 3, 1, 1, 1, 1)))
    assert scenario.network.queues.model_dump(exclude_unset=True).keys() == {"classes", "limit_octets"}
    whole = scenario.shapers["s -> *"].queues
    assert whole is not None
    assert whole.model_dump(exclude_unset=True) == {
        "classes": {0: 0, 1: 0, 2: 0, 3: 0, 4: 1, 5: 2, 6: 3, 7: 0},
        "limit_frames": 10,
        "limit_octets": 1000,
    }
    own = scenario.shapers["s -> a"].queues
    assert own is not None
    assert own.model_dump(exclude_unset=True) == {"limit_frames": 5}
