"""A Linux bridge as the device under test: in a namespace, and in a guest whose cards keep gates."""

from __future__ import annotations

import json
import re
import shlex
import signal
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.devices import verdicts
from support.planned import plan_of
from tsnbench.backends.vm import unavailable
from tsnbench.conform.bench import Bench
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.run import conform, prepare
from tsnbench.hosts import lab
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.inventory import load_inventory
from tsnbench.hosts.lab import guest
from tsnbench.hosts.remote.agent import Agent
from tsnbench.plan.slow_motion import dilated
from tsnbench.scenario import read_scenario

from .conftest import SSHD, InLab, Rig, bounded, in_first_attempts, reached

GATES = """\
name: gates
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a -- s, s -- b]}
streams:
  x: {from: a, to: b, payload: 100 B, period: 1 ms, pcp: 7}
shapers:
  s -> b: {gates: {base-time: 10 us, entries: [{open: [7], for: 40 us}, {open: [0], for: 160 us}]}}
"""
SLOWER, LATE_NS = 100, 500
"""An emulated host keeps up with small frames without a gap at 10 Mbit/s."""
SUITE = {f"gates.{name}" for name in ("active", "guard", "cycle", "order", "edge", "entry", "close")}


@pytest.mark.nightly
def test_a_bridge_of_the_kernel_is_tested_as_far_as_stamps_of_software_tell(
    rig: Rig, tmp_path: Path, unchanged: None
) -> None:
    """VLANs, tags and loss are decided; residence is not: no stamp says how much of a frame was there.

    Bridges of a kernel without VLANs are devices with a defect: frames of every VLAN leave them.
    """
    added = rig.ssh("s", "ip link add novlan type bridge vlan_filtering 1 && ip link del novlan")
    knows_vlans = added.returncode == 0
    done = tsnbench(
        "conform", rig.scenario, "--dut", "s", "--suite", "vlan,priority.tag,forwarding,load",
        "--port", "s -> b", "--on", "hosts", "--hosts", rig.made.inventory, "--into", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == (0 if knows_vlans else 1), done.stderr
    told = json.loads((tmp_path / "out/conform.json").read_text())
    found = {one["id"]: (one["verdict"], one["reason"]) for one in told["tests"]}
    assert found["vlan.member"] == found["priority.tag"] == found["load.sequence"] == ("pass", None)
    assert found["vlan.egress"] == ("pass" if knows_vlans else "fail", None)
    assert found["vlan.ingress"] == ("not-offered", None)
    for name in ("line", "slope", "residence"):
        assert found[f"forwarding.{name}"] == ("not-decidable", "plane")


@pytest.mark.nightly
def test_gates_of_a_host_are_tested_with_clocks_of_their_own(tmp_path: Path) -> None:
    """Each host has a clock, which ptp4l keeps, and is slower than the Plan. The change of the list bypasses
    tsnbench."""
    if why := unavailable() or guest.missing(SSHD):
        pytest.skip(why)
    (scenario,) = read_scenario(GATES)
    prepared = prepare(Bench.of(scenario, "s", only=["s -> b"]), chosen(["gates"]))
    network = dilated(plan_of(GATES).document, SLOWER)
    made = lab.up(network, tmp_path / "lab", SSHD, lab.Kind.GUEST, 1800)
    try:
        with reached(made):
            hosts = Hosts(load_inventory(made.inventory), campaign=True, dilate=SLOWER)
            clean = conform(prepared, tmp_path / "clean", hosts)
            words = next(step.argv for step in hosts._jobs["s"].setup if "taprio" in step.argv)
            place = words.index("base-time") + 1
            later = [*words[:place], str(int(words[place]) + LATE_NS * SLOWER), *words[place + 1 :]]
            InLab(made).says("s", shlex.join(later))
            late = conform(prepared, tmp_path / "late", hosts)
            InLab(made).says("s", shlex.join(words))
            hosts.close()
    finally:
        assert lab.down(tmp_path / "lab")
    own = {name: verdict for name, verdict in verdicts(clean.results).items() if name in SUITE}
    assert own == dict.fromkeys(SUITE, "pass")
    found = {one.test: one for one in late.results if one.test in SUITE}
    assert {name for name, one in found.items() if one.verdict == "fail"} == {"gates.edge"}
    shift = found["gates.edge"].found
    assert shift is not None
    assert abs(shift.value - LATE_NS) < 15


def conformed(rig: Rig, folder: Path, suites: str) -> tuple[int, dict[str, list[str]], str]:
    """The exit code of ``conform`` at one port, by test its verdict, reason and sentence, and what was
    said."""
    inventory = folder / "lab.yaml"
    inventory.write_text(bounded(rig.made.inventory.read_text(), "attempts: 3, pause: 10 ms"))
    done = tsnbench(
        "conform", rig.scenario, "--dut", "s", "--suite", suites, "--port", "s -> b", "--on", "hosts",
        "--hosts", inventory, "--into", folder / "out", "--no-report",
    )  # fmt: skip
    assert (folder / "out/conform.json").exists(), done.stderr
    told = json.loads((folder / "out/conform.json").read_text())
    found = {one["id"]: [one["verdict"], one["reason"], one["sentence"]] for one in told["tests"]}
    return done.returncode, found, done.stderr


@pytest.mark.nightly
def test_a_rejected_stimulus_and_a_host_that_is_gone_leave_the_results_of_others(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A talker is killed while it sends, so the tests of its stimulus are not decided, and the others are.
    The next command makes up for it; then the connection to a host is lost, and no host can be reached."""

    def begun(stimulus: str) -> bool:
        return any((tmp_path / "out").glob(f"{stimulus}-*/plan.json"))

    def killed(agents: dict[str, Agent], _: int) -> None:
        if not begun("vlan-foreign"):
            agents["a"].signal("talker-0", signal.SIGKILL)

    def gone(agents: dict[str, Agent], _: int) -> None:
        if begun("priority"):
            monkeypatch.setenv("TSNBENCH_SSH", "false")
            rig.ssh("a", "pkill -9 -f 'sshd: root@nott[y]'")

    in_first_attempts(monkeypatch, 99, killed)
    code, found, _ = conformed(rig, tmp_path, "vlan")
    verdict, reason, why = found["vlan.member"]
    assert (verdict, reason) == ("not-decidable", "rejected")
    assert re.match(
        r"no valid run: a, 20\S+Z: talker-0 ended with 137: .* \(3 attempts were rejected\)$", why
    )
    # A kernel whose bridges know no VLANs fails this test.
    assert found["vlan.egress"][0] in ("pass", "fail")
    assert code == (found["vlan.egress"][0] == "fail")
    (of_egress,) = (tmp_path / "out").glob("vlan-foreign-*/manifest.json")
    before = of_egress.read_bytes()
    in_first_attempts(monkeypatch, 99, gone)
    code, later, said = conformed(rig, tmp_path, "vlan,priority.map")
    assert code == 3
    assert later["vlan.member"][:2] == ["pass", None]
    assert (later["vlan.egress"], of_egress.read_bytes()) == (found["vlan.egress"], before)
    assert later["priority.map"][:2] == ["not-decidable", "ended"]
    assert "hint: the same command runs the stimuli that are left" in said
