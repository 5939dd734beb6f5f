"""Settings of hosts: only settings that could be read are changed, and they are restored."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from support.planned import document_of
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.hosts import job, map_plan
from tsnbench.hosts.inventory import read_inventory
from tsnbench.hosts.inventory.types import Host
from tsnbench.hosts.remote.answers import Ready, Step
from tsnbench.hosts.state import tuning
from tsnbench.hosts.state.facts import Facts, Interface
from tsnbench.hosts.state.tuning import Before, Card
from tsnbench.linux import tuning as settings

SAID = """\
channels eno1 Channel parameters for eno1:
channels eno1 Pre-set maximums:
channels eno1 Combined:\t8
channels eno1 Current hardware settings:
channels eno1 Combined:\t2
eee eno1 EEE settings for eno1:
eee eno1 \tEEE status: enabled - active
coalescing eno1 Coalesce parameters for eno1:
coalescing eno1 Adaptive RX: off  TX: n/a
coalescing eno1 rx-usecs:\t3
coalescing eno1 tx-usecs:\tn/a
features eno1 Features for eno1:
features eno1 tcp-segmentation-offload: on
features eno1 \ttx-tcp-segmentation: on
features eno1 generic-segmentation-offload: on [fixed]
features eno1 generic-receive-offload: on
features eno1 large-receive-offload: off [fixed]
"""


def lines(steps: list[Step]) -> list[tuple[str, str]]:
    return [(" ".join(one.argv), " ".join(one.undo[0])) for one in steps]


def test_only_what_was_read_is_set() -> None:
    before = Before(tuning.read_cards(SAID))
    assert before.cards["eno1"] == Card(2, True, {"rx-usecs": 3}, ("tso", "gro"))
    assert lines(list(tuning.cards({"eno1": 4}, before))) == [
        ("ethtool -L eno1 combined 4", "ethtool -L eno1 combined 2"),
        ("ethtool --set-eee eno1 eee off", "ethtool --set-eee eno1 eee on"),
        ("ethtool -C eno1 rx-usecs 0", "ethtool -C eno1 rx-usecs 3"),
        ("ethtool -K eno1 tso off gro off", "ethtool -K eno1 tso on gro on"),
    ]
    # One card already has the settings, the other one reports none.
    right = Before({"eno1": Card(8, False, {"rx-usecs": 0}, ())})
    assert list(tuning.cards({"eno1": 4, "eno2": 4}, right)) == []


def test_settings_are_made_and_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run on a folder that stands for the kernel's files."""
    monkeypatch.setattr(settings, "_CPU", str(tmp_path))
    monkeypatch.setattr(settings, "_RUNTIME", str(tmp_path / "runtime"))
    governors = [tmp_path / f"cpu{number}/cpufreq/scaling_governor" for number in (0, 1)]
    for path, value in zip(governors, ("powersave", "ondemand"), strict=True):
        path.parent.mkdir(parents=True)
        path.write_text(f"{value}\n")
    (tmp_path / "smt").mkdir()
    files = {tmp_path / "runtime": "950000", tmp_path / "smt/control": "notsupported"}
    for path, value in files.items():
        path.write_text(f"{value}\n")
    before = {path: path.read_text() for path in (*governors, *files)}
    host = Host("a", "a", {"x": "eno1"}, tuning=("governor", "turbo", "smt", "throttling", "interrupts"))

    class Local:
        def steps(self, steps):
            class Done:
                def __init__(self, out: str) -> None:
                    self.out = out

            return [
                Done(subprocess.run(one.argv, capture_output=True, text=True, check=False).stdout)
                for one in steps
            ]

    read = tuning.read(Local(), host, ["eno1"])
    steps = list(tuning.settings(host, ["eno1"], read))
    # Turbo does not exist, multithreading cannot be set, and no processors are named for interrupts.
    assert [one.argv[3] for one in steps] == ["governor", "throttling"]
    for one in steps:
        subprocess.run(one.argv, check=True)
    assert [path.read_text() for path in governors] == ["performance\n"] * 2
    assert (tmp_path / "runtime").read_text() == "-1\n"
    for one in reversed(steps):
        subprocess.run(one.undo[0], check=True)
    assert {path: path.read_text() for path in before} == before


LAB = """\
hosts:
  a: {ssh: a, ports: {out: eno1}, talkers: [2, 3], tuning: {governor: performance}}
  b: {ssh: b, ports: {in: eno1}}
wires: [a.out - b.in]
"""
GATED = """\
name: gated
duration: 10 ms
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a-b]}
streams:
  x: {from: a, to: b, frame: 1000 B, period: 1 ms, pcp: 3}
shapers: {a -> b: {gates: {cycle: 1 ms, entries: [{open: all, for: 1 ms}]}}}
"""


def on(driver: str, kernel: str) -> list[str]:
    """The commands for a host with this driver and this kernel."""
    ready = Ready("/w", "/w/p", kernel, "x86_64", "a", "boot", "", 37, (0, 0), 0, ())
    card = Interface("eno1", "02:00:00:00:00:01", True, True, 1500, "", driver, False, "", False, ())
    facts = Facts(ready, {"eno1": card}, Capabilities(), "", ("eno1",), before=Before())
    plan = document_of(GATED)
    lab = read_inventory(LAB, "lab.yaml")
    made = job.jobs(plan, lab, map_plan(lab, plan, {}), {"a": facts, "b": facts}, 5 * 10**9)
    return made["a"].lines()


def test_gates_are_in_the_form_that_card_and_kernel_accept() -> None:
    igb = next(line for line in on("igb", "6.12.0") if "taprio" in line)
    assert "flags" not in igb
    assert "clockid CLOCK_TAI" in igb
    assert "base-time 5000000000" in igb
    assert "queues 1@7 1@6" in igb
    igc = next(line for line in on("igc", "6.12.0") if "taprio" in line)
    assert "flags 0x2" in igc
    assert "clockid" not in igc
    assert "queues 1@0 1@1" in next(line for line in on("igb", "5.15.0-91-generic") if "taprio" in line)
    assert "queues 1@0 1@1" in next(line for line in on("st_gmac", "6.12.0") if "taprio" in line)


def test_a_card_that_only_receives_is_given_no_queueing_discipline() -> None:
    lab = read_inventory(LAB, "lab.yaml")
    plan = document_of(GATED)
    made = job.jobs(plan, lab, map_plan(lab, plan, {}), {}, 0)
    assert not [line for line in made["b"].lines() if line.startswith("tc qdisc")]
    assert [line for line in made["a"].lines() if line.startswith("tc qdisc replace dev eno1 parent root")]
    # Queues of the card are set before the queueing discipline that needs them; waiting for carriers is last.
    words = [one.argv[0] for one in made["a"].setup]
    assert words.index("ethtool") < words.index("tc") < len(words) - 1
    assert "carrier" in made["a"].setup[-1].argv[2]


def test_what_is_not_as_it_was_is_named() -> None:
    card = Card(queues=4, eee=True, coalescing={"rx-usecs": 3}, on=("gro",))
    was = Before({"eno1": card}, {0: "powersave\n"}, ("governor",), {"eno1": "0"})
    assert tuning.differences(was, was) == []
    now = Before({"eno1": replace(card, eee=False)}, {0: "performance\n"}, ("governor",), {"eno1": "1"})
    found = tuning.differences(was, now)
    assert [one.partition(":")[0] for one in found] == [
        "card eno1", "governor", "net.ipv6.conf.eno1.disable_ipv6",
    ]  # fmt: skip
    assert found[1] == "governor: was powersave, is performance"
