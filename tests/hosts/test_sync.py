"""The synchronisation gate before a run and the monitor during a run, with readings of chosen values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from support.planned import document_of
from tsnbench.hosts import map_plan, read_inventory
from tsnbench.hosts.clocks.sync import Gate, Monitor, Reading, fault, read, rows
from tsnbench.hosts.clocks.synchronisation import Synchronisation, unsynchronised
from tsnbench.hosts.inventory.types import SyncBounds

BOUNDS = SyncBounds(below_ns=100, system_ns=1_000, steady_ns=3 * 10**9)
S = 10**9


def reading(host: str = "a", at_s: float = 0, **told: Any) -> Reading:
    usual = {
        "master_offset_ns": 5,
        "age_ns": 60_000_000,
        "gm_identity": "gm",
        "clock_identity": host,
        "port_state": "SLAVE",
        "ports": [{"state": "SLAVE", "log_sync_interval": -3}],
        "phc": {"/dev/ptp0": {"offset_ns": 20, "uncertainty_ns": 5}},
    }
    return Reading(host, round(at_s * S), usual | told)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({}, ""),
        ({"master_offset_ns": 100}, ""),
        ({"master_offset_ns": 101}, "it is +101 ns from its master, more than 100 ns"),
        ({"master_offset_ns": -101}, "it is -101 ns from its master, more than 100 ns"),
        ({"master_offset_ns": None}, "ptp4l does not say"),
        ({"age_ns": 500_000_000}, ""),
        ({"age_ns": 500_000_001}, "its last Sync is 0.5 s old"),
        ({"age_ns": 3 * S, "ports": []}, ""),
        ({"age_ns": 5 * S, "ports": []}, "its last Sync is 5.0 s old"),
        ({"port_state": "UNCALIBRATED"}, "its port is UNCALIBRATED"),
        ({"error": "ptp4l does not answer"}, "ptp4l does not answer"),
        ({"phc": {"/dev/ptp0": {"offset_ns": -1_006, "uncertainty_ns": 5}}}, "/dev/ptp0 is -1,006 ns from"),
        ({"phc": {"/dev/ptp0": {"offset_ns": -1_005, "uncertainty_ns": 5}}}, ""),
        ({"phc": {"/dev/ptp0": {"error": "no such device"}}}, "no such device"),
        ({"clock_identity": "gm", "port_state": "MASTER", "master_offset_ns": 0, "age_ns": None}, ""),
        ({"clock_identity": "gm", "port_state": "FAULTY"}, "its port is FAULTY"),
    ],
)
def test_what_is_wrong_with_a_reading(told: dict[str, Any], words: str) -> None:
    found = fault(reading(**told), BOUNDS)
    assert words in found if words else found == ""


def test_the_gate_opens_after_good_readings_in_succession() -> None:
    gate = Gate(("a", "b"), BOUNDS)
    for at in range(3):
        gate.take(reading("a", at))
        gate.take(reading("b", at))
    assert not gate.open
    gate.take(reading("a", 3))
    assert not gate.open
    assert gate.closed_because()[0] in ("a", "b")
    gate.take(reading("b", 3))
    assert gate.open


@pytest.mark.parametrize("offset", [5_000, -5_000])
def test_one_bad_reading_restarts_the_count(offset: int) -> None:
    gate = Gate(("a",), BOUNDS)
    for at in range(3):
        gate.take(reading("a", at))
    gate.take(reading("a", 3, master_offset_ns=offset))
    assert gate.closed_because() == ("a", f"it is {offset:+,} ns from its master, more than 100 ns")
    for at in range(4, 7):
        gate.take(reading("a", at))
        assert not gate.open
    assert "too short a time" in gate.closed_because()[1]
    gate.take(reading("a", 7))
    assert gate.open


def test_a_host_that_says_nothing_keeps_the_gate_closed() -> None:
    gate = Gate(("a", "b"), BOUNDS)
    for at in range(9):
        gate.take(reading("a", at))
    assert not gate.open
    assert gate.closed_because() == ("b", "it has said nothing of its clocks")


def test_two_grandmasters_keep_the_gate_closed() -> None:
    gate = Gate(("a", "b"), BOUNDS)
    for at in range(9):
        gate.take(reading("a", at))
        gate.take(reading("b", at, gm_identity="other"))
    assert not gate.open
    assert "several grandmasters: a follow gm; b follow other" in gate.closed_because()[1]


def test_the_monitor_keeps_all_readings_and_sees_another_grandmaster() -> None:
    monitor = Monitor(BOUNDS)
    assert monitor.take(reading("a", 0)) == ""
    assert monitor.take(reading("b", 0)) == ""
    assert "-200 ns from its master" in monitor.take(reading("a", 1, master_offset_ns=-200))
    assert "grandmaster changed from gm to other" in monitor.take(reading("b", 1, gm_identity="other"))
    table = rows(monitor.readings)
    assert table["host"] == ["a", "a", "b", "b", "a", "a", "b", "b"]
    assert table["offset_ns"] == [5, 20, 5, 20, -200, 20, 5, 20]
    assert {len(column) for column in table.values()} == {8}


@pytest.mark.parametrize("line", ["", "armed", "{}", "[]", '{"tai_ns": "x"}', '{"tai_ns": null}'])
def test_other_lines_are_no_readings(line: str) -> None:
    assert read("a", line) is None


def test_a_line_of_the_program() -> None:
    found = read("a", '{"tai_ns":17,"error":"ptp4l does not answer","phc":{},"tai_minus_utc_s":0}')
    assert found is not None
    assert (found.tai_ns, fault(found, BOUNDS)) == (17, "ptp4l does not answer")


@pytest.mark.parametrize(
    ("boots", "clock", "found"),
    [(("1", "2", "2"), "none", ["x"]), (("1", "1", "1"), "none", []), (("1", "2", "2"), "software", [])],
)
def test_streams_between_clocks_that_nobody_keeps_together(
    boots: tuple[str, ...], clock: str, found: list[str]
) -> None:
    """Only x crosses between clocks that nothing synchronises; hosts that share a kernel share a clock."""
    document = document_of(
        "name: free\nduration: 10 ms\nnetwork:\n  stations: [a, b, c]\n"
        "  links: {rate: 1 Gbit/s, between: [a-b, b-c]}\n"
        "streams:\n  x: {from: a, to: b, payload: 100 B, period: 1 ms}\n"
        "  y: {from: c, to: b, payload: 100 B, period: 1 ms}\n"
    )
    inventory = read_inventory(
        f"hosts:\n  a: {{ssh: a, clock: {clock}, ports: {{l: e0}}}}\n"
        "  b: {ssh: b, ports: {l: e0, r: e1}}\n  c: {ssh: c, ports: {l: e0}}\n"
        "wires: [a.l - b.l, b.r - c.l]\n",
        "lab.yaml",
    )
    facts = {
        name: SimpleNamespace(ready=SimpleNamespace(boot=boot))
        for name, boot in zip("abc", boots, strict=True)
    }
    mapped = map_plan(inventory, document, {})
    assert [one["name"] for one in unsynchronised(inventory, facts, document, mapped)] == found


@pytest.mark.parametrize(
    ("below", "servo", "stepped"),
    [
        ("100 ns", "", "0.00002"),
        ("50 us", "", "0.00005"),
        ("100 ns", ", servo: {max_frequency: 1 ppm}", "0.00002"),
        ("100 ns", ", servo: {step_threshold: 7 us}", "0.000007"),
    ],
)
def test_a_clock_follows_a_master_that_is_stepped_later(below: str, servo: str, stepped: str) -> None:
    """All clocks of a chain begin at once, and each steps to a master that is not yet right itself.

    Without a second step, the 37 s between TAI and UTC would take hours. Cards have the TAI of the kernel, or
    they would never agree with their host's clock.
    """
    lab = read_inventory(
        "hosts: {a: {ssh: a, ports: {p: eth1}}, b: {ssh: b, ports: {p: eth1}}}\n"
        f"wires: [a.p - b.p]\nsync: {{below: {below}}}\n",
        "lab.yaml",
    )
    text = (
        "name: pair\nduration: 100 ms\n"
        "network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}\n"
        "streams: {x: {from: a, to: b, payload: 100 B, period: 1 ms}}\n"
        f"clocks: {{gptp: {{grandmaster: a{servo}}}}}\n"
    )
    plan = document_of(text)
    programs = Synchronisation(lab)._programs("a", plan, map_plan(lab, plan, {}), "socket", False, 0)
    assert [argv[0] for argv, _, _ in programs] == ["ptp4l", "phc2sys"]
    for _, _, config in programs:
        assert f"\nstep_threshold {stepped}\n" in config
        assert config.count("\nstep_threshold ") == 1
    assert "\nutc_offset 0\n" in programs[0][2]
