"""Paths of flows: the rows of ``routes.yaml`` beside this file, to several listeners, and none at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from support.golden import table
from support.networks import connected, line, links, network, periodic, scenario
from support.planned import problems_of
from tsnbench.plan.streams.paths import path_to
from tsnbench.planning import plan
from tsnbench.scenario import model

DIAMOND = "t:station a:bridge b:bridge l:station"


def paths(made: model.Scenario) -> dict[str, list[list[str]]]:
    """Per flow and listener the names of the ports passed."""
    document = plan(made).document
    return {
        stream["name"]: [
            [document["ports"][port]["name"] for port in path_to(stream, place)]
            for place in range(len(stream["listeners"]))
        ]
        for stream in document["streams"]
    }


@pytest.mark.parametrize("row", table(__file__, "routes.yaml"), ids=lambda row: row["case"])
def test_paths_of_a_stream(row: dict[str, Any]) -> None:
    asked = {key: tuple(value) if isinstance(value, list) else value for key, value in row["stream"].items()}
    stream = periodic("t", asked.pop("to"), **asked)
    found = paths(scenario(network(row["nodes"], links(row["links"])), {"s": stream}))
    for listeners in found.values():
        assert [", ".join(one) for one in listeners] == row["paths"]


HOPS = "hops from the talker to a listener, both included"


@pytest.mark.parametrize("via", [("a", "l"), ("t", "a"), ()])
def test_explicit_hops_go_from_the_talker_to_a_listener(via: tuple[str, ...]) -> None:
    net = network(DIAMOND, links("t-a t-b a-l b-l"))
    (problem,) = problems_of(scenario(net, {"s": periodic("t", "l", via=via, count=3)}))
    assert (problem.path, problem.expected) == ("streams.s.via", HOPS)


@pytest.mark.parametrize("via", [("t", "s", "a", "l"), ("t", "a", "s", "l")])
def test_a_station_on_the_way_is_refused_wherever_it_stands(via: tuple[str, ...]) -> None:
    net = network("t:station s:station a:bridge l:station", links("t-s s-a t-a a-l s-l"))
    (problem,) = problems_of(scenario(net, {"s": periodic("t", "l", via=via)}))
    assert (problem.expected, problem.found) == ("bridges or hosts on the way", "station s")


def test_no_way_is_said_once_per_stream() -> None:
    net = network("t:station a:bridge b:bridge l:station", links("t-a b-l"))
    streams = {
        "v": periodic("t", "a", via=("t", "x")),
        "s": periodic("t", "l", count=3),
        "maX": periodic("l", "t"),
    }
    assert [
        (problem.path, problem.expected, problem.found) for problem in problems_of(scenario(net, streams))
    ] == [
        ("streams.v.via", "nodes of the network", "'x'"),
        ("streams.s", "a path from t to l over bridges or hosts", "none"),
        ("streams.maX", "a path from l to t over bridges or hosts", "none"),
    ]


def test_flows_of_a_stream_take_parallel_links_in_turn() -> None:
    net = network("t:station dut:bridge l:station", links("t-dut dut-t dut-l"))
    passed = paths(scenario(net, {"cross": periodic("t", "l", count=3), "one": periodic("t", "l")}))
    first = {name: listeners[0][0] for name, listeners in passed.items()}
    assert first == {
        "cross.1": "t -> dut #1",
        "cross.2": "t -> dut #2",
        "cross.3": "t -> dut #1",
        "one": "t -> dut #1",
    }


@pytest.mark.parametrize("chosen", [0, 4])
def test_a_parallel_link_that_does_not_exist_is_refused(chosen: int) -> None:
    net = network("t:station dut:bridge l:station", links("t-dut t-dut t-dut dut-l"))
    stream = periodic("t", "l", via=("t", "dut", "l"), via_links=(chosen, None))
    (problem,) = problems_of(scenario(net, {"s": stream}))
    assert (problem.expected, problem.found) == ("parallel link 1 to 3", f"#{chosen}")


def test_several_listeners_make_a_tree_that_forks_as_late_as_it_can() -> None:
    nodes = "t:station a:bridge b:bridge x:station y:station z:station"
    net = network(nodes, links("t-a a-b b-x b-y a-z"))
    document = plan(scenario(net, {"s": periodic("t", ("y", "x", "z"))})).document
    (stream,) = document["streams"]
    names = [document["ports"][hop["port"]]["name"] for hop in stream["route"]]
    assert names == ["t -> a", "a -> b", "a -> z", "b -> x", "b -> y"]
    assert [hop.get("parent") for hop in stream["route"]] == [None, 0, 0, 1, 1]
    assert stream["listeners"] == [{"node": 4, "route": 4}, {"node": 3, "route": 3}, {"node": 5, "route": 2}]


@given(connected())
def test_every_tree_leads_to_every_listener_and_enters_each_node_once(
    made: tuple[model.Scenario, int],
) -> None:
    document: dict[str, Any] = plan(made[0]).document
    for stream in document["streams"]:
        entered = [
            document["ports"][document["ports"][hop["port"]]["peer"]]["node"] for hop in stream["route"]
        ]
        assert len(set(entered)) == len(entered)
        assert stream["talker"] not in entered
        for place, listener in enumerate(stream["listeners"]):
            passed = [document["ports"][port] for port in path_to(stream, place)]
            assert passed[0]["node"] == stream["talker"]
            assert document["ports"][passed[-1]["peer"]]["node"] == listener["node"]
            assert len(passed) < made[1]


def test_a_line_has_as_many_hops_as_links() -> None:
    assert len(paths(line(7))["cam"][0]) == 7
