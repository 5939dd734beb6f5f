"""The state of a host's ports and processors, and the reports of lost links, from what a host prints."""

from __future__ import annotations

import pytest

from tsnbench.hosts.state import links, ports

SAID = """\
@port eth1
ifindex:3
carrier:1
carrier_changes:2
address:02:00:00:00:00:01
mtu:1500
speed:1000
duplex:full
statistics/rx_dropped:5
statistics/tx_dropped:0
statistics/rx_errors:0
statistics/tx_errors:0
statistics/rx_missed_errors:7
feature rx-checksumming:on
feature tso:off
@port eth2
@processors
cpu0 1 2 3 4 5 6 7 8 9 10
cpu1 1 2 3 4 5 6 7 4 9 10
cpu0/cpufreq/scaling_cur_freq:3400000
cpu1/cpufreq/scaling_cur_freq:1000000
cpu0/thermal_throttle/core_throttle_count:3
cpu1/thermal_throttle/core_throttle_count:0
"""


def test_the_state_by_hand() -> None:
    state = ports.read(SAID)
    settings = {"address": "02:00:00:00:00:01", "mtu": "1500", "speed": "1000", "duplex": "full"}
    settings |= {"rx-checksumming": "on", "tso": "off"}
    counters = dict.fromkeys(ports.LOSSES, 0) | {"rx_dropped": 5, "rx_missed_errors": 7}
    assert state.ports["eth1"] == ports.PortState("3", True, 2, settings, counters)
    assert state.ports["eth2"] == ports.PortState(counters=dict.fromkeys(ports.LOSSES, 0))
    assert (state.stolen_ms, state.throttled) == (120, 3)
    assert state.khz == {"cpu0": 3_400_000, "cpu1": 1_000_000}


@pytest.mark.parametrize("said", ["", "nonsense\n\x00:", "@port eth1", "@processors\ncpu0 x\n"])
def test_a_host_without_answers_has_no_state(said: str) -> None:
    state = ports.read(said)
    assert not any(one.linked for one in state.ports.values())
    assert list(ports.changed(state, state)) == list(ports.losses(state, state)) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("carrier_changes:2", "carrier_changes:4", "its link came or went 2 times"),
        ("carrier:1\n", "carrier:0\n", "its link came or went 1 time"),
        ("ifindex:3", "ifindex:9", "is another interface than before"),
        ("speed:1000", "speed:100", "speed was 1000, is 100"),
        ("duplex:full", "duplex:half", "duplex was full, is half"),
        ("mtu:1500", "mtu:9000", "mtu was 1500, is 9000"),
        ("tso:off", "tso:on", "tso was off, is on"),
        ("rx-checksumming:on", "rx-checksumming:off", "rx-checksumming was on, is off"),
        (":01\n", ":02\n", "address was 02:00:00:00:00:01, is 02:00:00:00:00:02"),
    ],
)
def test_each_setting_is_named_alone(old: str, new: str, told: str) -> None:
    assert old in SAID
    before, after = ports.read(SAID), ports.read(SAID.replace(old, new))
    assert list(ports.changed(before, after)) == [("eth1", told)]
    assert list(ports.losses(before, after)) == []


def test_a_port_that_is_gone() -> None:
    state = ports.read(SAID)
    assert ("eth1", "is gone") in list(ports.changed(state, ports.HostState({})))


@pytest.mark.parametrize("key", ports.LOSSES)
def test_each_counter_is_a_loss(key: str) -> None:
    before = ports.read(SAID)
    was = before.ports["eth1"].counters[key]
    after = ports.read(SAID.replace(f"statistics/{key}:{was}", f"statistics/{key}:{was + 1200}"))
    assert list(ports.losses(before, after)) == [("eth1", ports.LOSSES[key].format("1,200"))]
    assert list(ports.losses(after, before)) == []


def test_processors_that_were_slowed_down() -> None:
    before = ports.read(SAID)
    text = SAID.replace("7 8 9 10", "7 9 9 10").replace("3400000", "3000000").replace("1000000", "950000")
    after = ports.read(text.replace("core_throttle_count:0", "core_throttle_count:2"))
    assert list(ports.disturbances(before, after)) == [
        "its processors worked for other guests of its machine for 10 ms",
        "heat slowed its processors down 2 times",
        "the frequency of cpu0 changed from 3.40 to 3.00 GHz",
    ]
    assert list(ports.disturbances(before, before)) == []


AT = "[2026-11-28T22:30:27.880191]"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"{AT} 2: eth2@eth1: <BROADCAST,MULTICAST> mtu 1500 qdisc noqueue state DOWN", "was set down"),
        (f"{AT} 3: eth1: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 state DOWN", links.LOST),
        (f"{AT} Deleted 3: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500 state UP", "was removed"),
        (f"{AT} Deleted 3: eth1: <UP,LOWER_UP> mtu 1500 master br0 state UP", "was taken out of its bridge"),
        (f"{AT} 3: eth1@eth2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP", ""),
    ],
)
def test_lines_of_ip_monitor(line: str, words: str) -> None:
    found = links.report("a", line)
    assert found is not None
    assert (found.at, found.words) == ("2026-11-28T22:30:27.880191Z", words)
    assert (found.index, found.name) == (line.split(": ")[0].split()[-1], line.split(": ")[1].split("@")[0])


@pytest.mark.parametrize("line", ["watching", "", "Timestamp: Sat Nov 28", f"{AT} 3: eth1 without flags"])
def test_other_lines_are_no_reports(line: str) -> None:
    assert links.report("a", line) is None
