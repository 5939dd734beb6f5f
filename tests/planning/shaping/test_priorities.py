"""Traffic classes of priorities and limits of queues, by hand. IEEE 802.1Q-2022, 8.6.6 and table 8-5."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model.network import Queues

TEXT = """\
name: classes
duration: 10 ms
network: {rate: 1 Gbit/s, stations: [a, b], bridges: [s], links: [a-s, s-b]}
streams:
  x: {from: a, to: b, pcp: 5, period: 1 ms, frame: 100 B}
shapers:
  s -> b: {queues: QUEUES}
"""


def port(queues: str, name: str = "s -> b") -> dict[str, Any]:
    document: Any = plan(read_scenario(TEXT.replace("QUEUES", queues), "classes.yaml")[0]).document
    found: dict[str, Any]
    (found,) = (port for port in document["ports"] if port["name"] == name)
    return found


def test_background_is_below_best_effort_unless_classes_are_written() -> None:
    found = port("{classes: {6: 2, 5: 1}}", "a -> s")
    assert found["pcp_to_class"] == [1, 0, 2, 3, 4, 5, 6, 7]
    assert found["classes"] == [{"limit_frames": 1000}] * 8


def test_priorities_without_a_class_have_the_lowest_one() -> None:
    """The highest class is 2: three queues."""
    found = port("{classes: {6: 2, 5: 1}, limit-frames: 7, limit-octets: 3 kB}")
    assert found["pcp_to_class"] == [0, 0, 0, 0, 0, 1, 2, 0]
    assert found["classes"] == [{"limit_frames": 7, "limit_octets": 3000}] * 3


@pytest.mark.parametrize("limits", ["{7: 300 B, 6: 200 B, 4: 500 B}", "{4: 500 B, 6: 200 B, 7: 300 B}"])
def test_the_least_limit_of_its_priorities_counts_for_a_class(limits: str) -> None:
    found = port(f"{{classes: {{7: 2, 6: 2, 5: 1, 4: 1, 0: 0}}, max-sdu: {limits}}}")
    assert [one.get("max_sdu_octets") for one in found["classes"]] == [None, 500, 200]


@pytest.mark.parametrize(("pcp", "traffic_class"), [(7, 7), (7, 0), (0, 7), (0, 0)])
def test_the_least_and_the_greatest_are_possible(pcp: int, traffic_class: int) -> None:
    classes = [0] * 8
    classes[pcp] = traffic_class
    assert port(f"{{classes: {{{pcp}: {traffic_class}}}}}")["pcp_to_class"] == classes


def test_a_program_may_leave_priorities_out() -> None:
    (scenario,) = read_scenario(TEXT.replace("QUEUES", "{limit-frames: 7}"), "classes.yaml")
    network = scenario.network.model_copy(update={"queues": Queues(classes={5: 2, 0: 1})})
    document = plan(scenario.model_copy(update={"network": network})).document
    assert [port["pcp_to_class"] for port in document["ports"]] == [[1, 0, 0, 0, 0, 2, 0, 0]] * 4
