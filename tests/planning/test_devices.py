"""Hardware that a scenario names: planned lists are those that its driver accepts; others are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.planned import document_of, plan_of, problems_of
from tsnbench.planning.errors import PlanningErrors
from tsnbench.scenario import ScenarioErrors
from tsnbench.scenario.catalogue import devices

NETWORK = """\
name: device
duration: 4 ms
network:
  stations: [a, b, c]
  bridges: {{sw: {{device: {device}, processing: 1 us}}}}
  links: {{rate: 1 Gbit/s, between: [a -- sw, c -- sw, sw -- b]}}
streams:
{streams}{more}
"""
ONE = "  x: {from: a, to: b, pcp: 7, payload: 100 B, period: 250 us}\n"
SCHEDULED = ONE.replace("}", ", scheduled: true}")
REQUIRED = ONE.replace("}", ", requires: {delay: 400 us}}")

Lists = list[dict[str, Any]]


def text_of(device: str, streams: str = ONE, more: str = "") -> str:
    return NETWORK.format(device=device, streams=streams, more=more)


def lists(document: Any) -> Lists:
    """The gate control lists of the bridge."""
    nodes = [node["name"] for node in document["nodes"]]
    return [port["gates"] for port in document["ports"] if nodes[port["node"]] == "sw" and port.get("gates")]


def intervals(found: Lists) -> list[int]:
    return [entry["interval_ns"] for one in found for entry in one["entries"]]


def ticks(found: Lists) -> bool:
    return not any(ns % 200 for ns in intervals(found))


# What the driver of each in Linux refuses or states, from its source and not from our catalogue.
ACCEPTS: dict[str, Callable[[Lists], bool]] = {
    "nxp/sja1105": lambda found: len(intervals(found)) <= 1024 and ticks(found),
    "nxp/sja1110": lambda found: len(intervals(found)) <= 4096 and ticks(found),
    "nxp/ls1028a-switch": lambda found: all(
        len(one["entries"]) <= 63 and one["cycle_ns"] <= 10**9 for one in found
    ),
    "microchip/lan966x": lambda found: (
        len(intervals(found)) <= 256 and all(1_000 <= ns <= 10**9 - 1 for ns in intervals(found))
    ),
    "ti/icssg": lambda found: (
        all(len(one["entries"]) <= 16 and one["cycle_ns"] >= 1_000_000 for one in found)
        and all(ns >= 10_000 for ns in intervals(found))
    ),
}


@examples(0.3)
@given(data=st.data(), device=st.sampled_from(sorted(ACCEPTS)), scheduled=st.booleans())
def test_planned_lists_are_those_that_the_driver_accepts(
    data: st.DataObject, device: str, scheduled: bool
) -> None:
    def drawn(number: int) -> str:
        own = (SCHEDULED if scheduled else REQUIRED).replace("x:", f"s{number}:")
        talker, octets = data.draw(st.sampled_from("ac")), data.draw(st.integers(50, 900))
        period = data.draw(st.sampled_from((250, 500, 1000)))
        return (
            own.replace("from: a", f"from: {talker}")
            .replace("100 B", f"{octets} B")
            .replace("250", f"{period}")
        )

    streams = "".join(drawn(number) for number in range(data.draw(st.integers(1, 4))))
    text = text_of(device, streams, "" if scheduled else "shapers: {sw -> b: {gates: plan}}")
    try:
        found = lists(document_of(text))
    except PlanningErrors as error:
        found, refused = [], str(error)
    # Only one holds fewer entries than such streams need; then the message names it.
    assert ACCEPTS[device](found) if found else device == "ti/icssg" and device in refused


def test_a_list_is_repeated_until_its_cycle_is_long_enough() -> None:
    text = text_of("ti/icssg", SCHEDULED)
    (found,) = lists(document_of(text))
    assert (found["cycle_ns"], len(found["entries"])) == (1_000_000, 8)


def test_too_many_entries_name_the_port_and_its_hardware() -> None:
    (problem,) = problems_of(text_of("ti/icssg", SCHEDULED.replace("250 us", "50 us")))
    assert problem.path == "network.bridges.sw.device"
    assert problem.expected == "lists of at most 16 entries, as ti/icssg has"
    assert problem.found == "40 at sw -> b"


def test_what_no_source_states_is_told() -> None:
    text = text_of("nxp/sja1105")
    assert plan_of(text).warnings == ()
    (warning,) = plan_of(text.replace(", processing: 1 us", "")).warnings
    assert (warning.kind, warning.path) == ("unknown-processing", "network.bridges.sw.device")
    assert "no source states the processing time of nxp/sja1105: sw forwards in no time" in warning.text


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ScenarioErrors, match="expected the name of a device, found nxp/sja1106") as error:
        plan_of(text_of("nxp/sja1106"))
    assert "did you mean nxp/sja1110?" in str(error.value)


def test_every_device_of_the_catalogue_has_a_source() -> None:
    assert set(ACCEPTS) < set(devices())
    for name, device in devices().items():
        assert device.name == name
        assert len(device.source) > 20


def test_a_device_with_four_queues_has_four_classes() -> None:
    ports = document_of(text_of("intel/i210"))["ports"]
    assert {port["name"]: len(port["classes"]) for port in ports if port["name"].startswith("sw")} == {
        "sw -> a": 4, "sw -> b": 4, "sw -> c": 4,
    }  # fmt: skip
