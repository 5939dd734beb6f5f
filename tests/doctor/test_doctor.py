"""``tsnbench doctor`` and ``restore``: facts from the output of tools, and their messages on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench.linux import reading

I210 = """Time stamping parameters for enp1s0:
Capabilities:
	hardware-transmit
	software-transmit
	hardware-receive
	software-receive
	software-system-clock
	hardware-raw-clock
PTP Hardware Clock: 3
Hardware Transmit Timestamp Modes:
	off
	on
Hardware Receive Filter Modes:
	none
	all
	ptpv2-l2-event
"""
VIRTIO = """Time stamping parameters for eth0:
Capabilities:
	software-transmit
	software-receive
	software-system-clock
PTP Hardware Clock: none
Hardware Transmit Timestamp Modes: none
Hardware Receive Filter Modes: none
"""
CHANNELS = """Channel parameters for enp1s0:
Pre-set maximums:
RX:		n/a
TX:		n/a
Other:		1
Combined:	4
Current hardware settings:
RX:		n/a
TX:		n/a
Other:		1
Combined:	2
"""
SCENARIO = """
name: small
duration: 10 ms
network:
  stations: [a, b]
  bridges: [switch]
  links: {rate: 100 Mbit/s, between: [a -- switch, switch -- b]}
streams:
  loop: {from: a, to: b, period: 1 ms, payload: 100 B}
SHAPERS
"""
INTERRUPTED = "shapers: {a -> switch: {preemption: {express: [7]}}}"


def _doctor(*words: str) -> tuple[int, str]:
    done = tsnbench("doctor", *words)
    return done.returncode, done.stderr + done.stdout


def test_timestamping_of_an_interface():
    found = reading.stamping(I210)
    assert (found.hardware, found.software, found.clock) == (True, True, 3)
    assert found.filters == ("all", "ptpv2-l2-event")
    found = reading.stamping(VIRTIO)
    assert (found.hardware, found.software, found.clock, found.filters) == (False, True, None, ())
    newer = I210.replace("PTP Hardware Clock: 3", "Hardware timestamp provider index: 1")
    assert reading.stamping(newer).clock == 1
    assert reading.stamping("").software is False


def test_queues_features_drivers():
    assert reading.most_queues(CHANNELS) == 4
    assert reading.most_queues("") is None
    on = reading.features(
        "Features for eth0:\nrx-checksumming: on [fixed]\n\ttx-gso: off\nhw-tc-offload: on\n"
    )
    assert on == {"rx-checksumming": True, "tx-gso": False, "hw-tc-offload": True}
    assert reading.driver("driver: igb\nversion: 6.1\n") == "igb"
    assert reading.driver("") is None


def test_port_states_and_offset_of_ptp4l():
    said = (
        "sending: GET PORT_DATA_SET\n\t1-1 seq 0 RESPONSE MANAGEMENT PORT_DATA_SET \n\t\tportState  SLAVE\n"
    )
    assert reading.ports(said) == ["SLAVE"]
    assert reading.offset_ns("\t\tstepsRemoved 1\n\t\toffsetFromMaster -12.0\n") == -12.0
    assert reading.offset_ns("") is None


def test_each_finding_on_this_machine_has_a_state():
    code, said = _doctor("--json")
    assert code == 0
    found = json.loads(said)["findings"]
    assert {one["state"] for one in found} <= {"ok", "note", "missing"}
    assert {"kernel", "tools", "rights", "processors"} <= {one["room"] for one in found}
    code, said = _doctor()
    assert code == 0
    assert "release" in said


@pytest.mark.parametrize("json_too", [False, True])
def test_what_no_kernel_can_run_has_reasons(tmp_path: Path, json_too: bool):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("SHAPERS", INTERRUPTED))
    code, said = _doctor("--for", str(path), *(["--json"] if json_too else []))
    assert code == 1, said
    assert "preemption" in said
    if json_too:
        given = {one["backend"]: one for one in json.loads(said)["answers"]}
        assert [given[name]["can"] for name in ("simulation", "netns", "vm")] == [True, False, False]


def test_a_wrong_scenario_or_host_is_exit_code_2(tmp_path: Path):
    path = tmp_path / "scenario.yaml"
    path.write_text("name: 5\n")
    assert _doctor("--for", str(path))[0] == 2
    assert _doctor("--host", "-oProxyCommand=true")[0] == 2


def test_nothing_to_undo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TSNBENCH_STATE", str(tmp_path / "states"))
    done = tsnbench("restore")
    assert (done.returncode, done.stdout.strip()) == (0, "nothing to undo")
    (tmp_path / "states").mkdir(mode=0o700)
    (tmp_path / "states" / "tsnb-0123456789ab.json").write_text("{")
    done = tsnbench("restore", "--json")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["removed"]) == 1
    assert not (tmp_path / "states").exists()
