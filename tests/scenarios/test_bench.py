"""The benchmark networks have the loads that the benchmark's description states."""

from __future__ import annotations

import pytest

from support.shipped import MS, simulated

LIMITED, COLUMN, FULL, PREAMBLE, GAP = 1230, 492, 1522, 8, 12


def sent_octets(port: dict[str, object]) -> int:
    classes = port["classes"]
    assert isinstance(classes, list)
    return sum(one["sent_octets"] + one["sent_frames"] * (PREAMBLE + GAP) for one in classes)


def test_line_is_saturated_on_every_hop() -> None:
    result = simulated("bench/line", duration=20 * MS)
    ports = {port["port"]: port for port in result.counters["ports"]}
    for hop in range(1, 8):
        port = ports[f"host{hop} -> host{hop + 1}"]
        assert sent_octets(port) * 8 / 1e9 == pytest.approx(0.02, rel=0.01)


def test_star_overloads_the_port_towards_node0() -> None:
    result = simulated("bench/star", duration=50 * MS)
    port = next(port for port in result.counters["ports"] if port["port"] == "dut -> node0")
    assert port["classes"][0]["dropped_frames"] > port["classes"][0]["sent_frames"]
    assert [one["dropped_frames"] for one in port["classes"][1:]] == [0, 0, 0]


def test_grid_delivers_a_thousand_streams_over_eleven_hops() -> None:
    result = simulated("bench/grid", duration=10 * MS)
    streams = result.plan["streams"]
    assert len(streams) == 1000
    assert {len(stream["route"]) for stream in streams} == {11}
    assert all(stream["dropped_in_network"] == 0 for stream in result.counters["streams"])
    for name, octets in (("row5.1", LIMITED), ("column5.1", COLUMN)):
        delays = result.delays(name).unique().to_list()
        assert delays == [8 * (octets + 10 * (octets + PREAMBLE))]
