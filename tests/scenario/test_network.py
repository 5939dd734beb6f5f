"""Nodes, links and generators."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from support.golden import table
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


@pytest.mark.parametrize("row", table(__file__, "network.yaml"), ids=lambda row: row["case"])
def test_nodes_and_links(row: dict[str, Any]) -> None:
    net = network(textwrap.indent(row["network"], "  "), *row["ends"])
    assert kinds(net) == {name: kind for kind, names in row["nodes"].items() for name in names.split()}
    assert [f"{a} -- {b}" for a, b in pairs(net)] == row["links"].split(", ")
    own = {"processing": {name: node.processing for name, node in net.nodes.items() if node.processing}}
    own |= {"cables": sorted({link.cable for link in net.links}), "rates": [link.rate for link in net.links]}
    assert {key: own[key] for key in own if key in row} == {key: row[key] for key in own if key in row}


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


def test_grid() -> None:
    net = network("  grid: {rows: 3, columns: 4, prefix: b, stations: 2}", "station1.1.1", "station3.4.2")
    bridges = [name for name, node in net.nodes.items() if node.kind == "bridge"]
    assert bridges[0] == "b1.1"
    assert bridges[-1] == "b3.4"
    assert len(bridges) == 12
    assert len(net.nodes) == 12 + 24
    assert len(net.links) == 3 * 3 + 2 * 4 + 24


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
