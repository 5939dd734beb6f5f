"""Which nodes and links a text writes itself: names with hyphens, and the ends of a generated line."""

from __future__ import annotations

import pytest

from tsnbench.editing.spans import spans
from tsnbench.editing.writing_out import write_out_network
from tsnbench.editing.written import ends_of_line, written_links, written_nodes
from tsnbench.scenario.loader import read_scenario
from tsnbench.ui.drawing import drawing

TEXT = """name: hyphens
duration: 1 ms
network:
  stations: [plc-1, drive-a-b]
  bridge sw-1: {}
  bridge sw: {}
  line: {nodes: 2, rate: 1 Gbit/s}
  links: {rate: 1 Gbit/s, between: [plc-1-sw-1, sw-1 -- sw, drive-a-b-sw, sw-1 -- first, last-sw]}
streams:
  loop: {from: plc-1, to: drive-a-b, period: 1 ms, payload: 100 B}
"""


def test_written_nodes_have_the_place_of_their_name() -> None:
    found = written_nodes(spans(TEXT).get("network"))
    assert {name: TEXT[span.start : span.end] for name, span in found.items()} == {
        "plc-1": "plc-1",
        "drive-a-b": "drive-a-b",
        "sw-1": "bridge sw-1",
        "sw": "bridge sw",
    }


def test_a_written_link_is_that_of_the_reader() -> None:
    scenario = read_scenario(TEXT)[0]
    network, nodes = spans(TEXT).get("network"), list(map(str, scenario.network.nodes))
    found = written_links(network, nodes)
    assert {pair: TEXT[span.start : span.end] for pair, span in found.items()} == {
        frozenset({"plc-1", "sw-1"}): "plc-1-sw-1",
        frozenset({"sw-1", "sw"}): "sw-1 -- sw",
        frozenset({"drive-a-b", "sw"}): "drive-a-b-sw",
        frozenset({"sw-1", "bridge1"}): "sw-1 -- first",
        frozenset({"bridge2", "sw"}): "last-sw",
    }
    every = {frozenset((str(one.a), str(one.b))) for one in scenario.network.links}
    assert every - found.keys() == {frozenset({"bridge1", "bridge2"})}


@pytest.mark.parametrize(
    ("line", "nodes", "ends"),
    [
        ("line: {hops: 1}", ["bridge1", "bridge2"], {"first": "bridge1", "last": "bridge2"}),
        ("line: {hops: 0}", ["bridge1"], {"first": "bridge1", "last": "bridge1"}),
        ("line: {hops: 1, kind: host}", ["host1", "host2"], {"first": "host1", "last": "host2"}),
        ("line: {hops: 1, prefix: b-}", ["b-1", "b-2"], {"first": "b-1", "last": "b-2"}),
        ("line: {hops: 1}", ["first", "bridge1", "bridge2"], {"last": "bridge2"}),
        ("ring: {nodes: 3}", ["bridge1", "bridge2", "bridge3"], {}),
    ],
)
def test_the_ends_of_a_line(line: str, nodes: list[str], ends: dict[str, str]) -> None:
    assert ends_of_line(spans(f"network:\n  {line}\n").get("network"), nodes) == ends


def test_only_generated_links_are_drawn_as_such() -> None:
    drawn = drawing(TEXT, [(read_scenario(TEXT)[0], None)])
    names = [node["name"] for node in drawn["nodes"]]
    made = [{names[link["a"]], names[link["b"]]} for link in drawn["links"] if link["made"]]
    assert made == [{"bridge1", "bridge2"}]


def test_links_of_names_with_hyphens_are_not_written_twice() -> None:
    new = write_out_network(TEXT, "hyphens.yaml").applied(TEXT)
    assert "between: [plc-1-sw-1, sw-1 -- sw, drive-a-b-sw, sw-1 -- bridge1, bridge2-sw]}" in new
    assert "{rate: 1 Gbit/s, between: [bridge1 -- bridge2]}" in new
    assert len(read_scenario(new)[0].network.links) == 6
