"""A lab in a guest: hosts with own clocks, gates and stamps, compared with ``--on vm`` and the simulator."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from support.commands import command
from support.planned import plan_of
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine, unavailable
from tsnbench.errors import InputError
from tsnbench.hosts import lab
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.clocks.stamps import ASYMMETRIC
from tsnbench.hosts.inventory import load_inventory
from tsnbench.hosts.lab import access, guest, record
from tsnbench.plan.document import Plan
from tsnbench.runs import Run

from .conftest import SSHD, InLab, attempts, reached

RATE = "ethtool -s eth1 speed {} duplex full autoneg off"
LASTS_S = 1800
"""After this time the guest ends by itself, also when its tests were killed."""
WITHIN = "3ns"
"""Two clocks that ptp4l keeps within 1 ns of each other, and stamps of whole ns.

All other parts of the delays are exact, as the cards' gates decide them: frames wait at every hop until a
gate opens. Between the gates of two hops there are at least 90 us: the bridge of the guest usually takes
10 us, and more if the processor is busy. With 46 us, single frames came up to 2.3 us after the second gate.
"""
EXACT = """\
name: exact
duration: 100 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a -- s, c -- s, s -- b]}
streams:
  x: {from: a, to: b, payload: 500 B, period: 1 ms, offset: 150 us, pcp: 7, requires: {delay: 120 us}}
  y: {from: c, to: b, payload: 1000 B, period: 1 ms, offset: 300 us, pcp: 0, requires: {delay: 150 us}}
shapers:
  a -> s: {gates: {entries: [{open: [], for: 350 us}, {open: [7], for: 100 us}, {open: [], for: 550 us}]}}
  c -> s: {gates: {entries: [{open: [], for: 600 us}, {open: [0], for: 100 us}, {open: [], for: 300 us}]}}
  s -> b:
    gates:
      entries:
        - {open: [], for: 450 us}
        - {open: [7], for: 100 us}
        - {open: [], for: 150 us}
        - {open: [0], for: 300 us}
"""


@dataclass
class Guest(InLab):
    """A running lab, and a lasting connection to all of its hosts."""

    hosts: Hosts
    plan: Plan

    def run(self, plan: Plan, into: Path) -> Run:
        return plan.run(on=self.hosts, into=into)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    if why := unavailable() or guest.missing(SSHD):
        pytest.skip(why)
    plan = plan_of(EXACT)
    folder = tmp_path_factory.mktemp("guest") / "lab"
    made = lab.up(plan.document, folder, SSHD, lab.Kind.GUEST, LASTS_S)
    try:
        with reached(made):
            hosts = Hosts(load_inventory(made.inventory), campaign=True)
            yield Guest(made, hosts, plan)
            # A run leaves none of its changes on the hosts.
            hosts.close()
    finally:
        assert lab.down(folder)
        assert not folder.exists()


@pytest.fixture(scope="module")
def exact(there: Guest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Runs of the same Plan in the simulator, in the guest and on the hosts."""
    into = tmp_path_factory.mktemp("exact")
    return {
        "simulation": there.plan.run(on=Simulation(), into=into / "simulation"),
        "vm": there.plan.run(on=VirtualMachine(), into=into / "vm"),
        "hosts": there.run(there.plan, into / "hosts"),
    }


def compare(*runs: Run) -> subprocess.CompletedProcess[str]:
    words = command("compare", *(run.folder for run in runs), "--tolerance", WITHIN)
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def test_delays_are_the_same_on_hosts_in_the_guest_and_in_the_simulator(exact: dict[str, Run]) -> None:
    """Compare with ``tsnbench compare``, and frame by frame."""
    done = compare(*exact.values())
    assert done.returncode == 0, done.stdout
    assert "20 of 20 quantities agree" in done.stdout
    assert "Linux 6.12" in done.stdout.partition("(hosts)")[0].splitlines()[-1]
    frames = [run.frames().sort("path", "seq") for run in exact.values()]
    apart = frames[2]["delay_ns"] - frames[0]["delay_ns"]
    assert len(apart) == 200
    assert apart.abs().max() <= 3


def test_true_delays_are_within_the_bars(exact: dict[str, Run]) -> None:
    """The simulator's delays are the true ones, as gates decide all of them. Clocks are read every 500 ms."""
    true, found = (exact[name].frames().sort("path", "seq") for name in ("simulation", "hosts"))
    assert found["uncertainty_ns"].null_count() == 0
    assert ((found["delay_ns"] - true["delay_ns"]).abs() <= found["uncertainty_ns"]).all()
    # A drift of 1 ppm for at most 0.6 s at both ends, and the uncertainty of readings of some ns.
    assert found["uncertainty_ns"].max() <= 1_300
    stamps = json.loads((exact["hosts"].folder / "stamps.json").read_text())
    for name in "abc":
        assert stamps["nodes"][name]["clock"] == f"the cards of {name}"
    assert stamps["not_seen"] == [ASYMMETRIC]


def test_talkers_of_all_hosts_begin_at_the_common_instant(exact: dict[str, Run]) -> None:
    """All hosts of this lab share one processor, so one talker waits for the other."""
    late = exact["hosts"].manifest["host"]["talkers_late"]
    assert set(late) == {"x", "y"}
    assert max(one["most_ns"] for one in late.values()) <= 100_000


def test_cards_keep_gates_and_stamp(exact: dict[str, Run]) -> None:
    """The kernel does neither: gates are offloaded, and cards stamp all frames of this Plan."""
    folder = exact["hosts"].folder
    told = json.loads((folder / "manifest.json").read_text())["host"]
    assert set(told["stamps"].values()) == {"hardware"}
    assert {name for one in told["hosts"].values() for name in one["ports"].values()} == {"tsnport"}
    log = (folder / "hosts/a/commands.jsonl").read_text()
    assert "taprio" in log
    assert "flags 0x2" in " ".join(" ".join(json.loads(line)["argv"]) for line in log.splitlines())


def test_every_host_has_a_clock_of_its_own_that_is_read(exact: dict[str, Run], there: Guest) -> None:
    sync = pl.read_parquet(exact["hosts"].folder / "sync.parquet")
    assert set(sync["host"]) == {"a", "b", "c", "s"}
    assert sync.filter(pl.col("clock") == "ptp4l")["offset_ns"].abs().max() <= 5
    cards = sync.filter(pl.col("clock") != "ptp4l")
    assert cards.group_by("host").agg(pl.col("clock").n_unique())["clock"].to_list() == [1, 1, 1, 1]
    assert cards["clock"].n_unique() == 4
    control = "/sys/kernel/debug/tsnport"
    said = there.says(guest.BESIDE, f"cat {control}/clock-[0-3]/error_ppb").split()
    assert said == ["0", "-20000", "20000", "-20000"]


def test_shifted_gates_are_found(exact: dict[str, Run], there: Guest, tmp_path: Path) -> None:
    """The gates of one host open 50 us late; the change bypasses tsnbench."""
    words = next(step.argv for step in there.hosts._jobs["a"].setup if "taprio" in step.argv)
    place = words.index("base-time") + 1
    later = [*words[:place], str(int(words[place]) + 50_000), *words[place + 1 :]]
    there.says("a", shlex.join(later))
    try:
        done = compare(exact["simulation"], there.run(there.plan, tmp_path / "shifted"))
    finally:
        there.says("a", shlex.join(words))
    assert done.returncode == 1, done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if "delay median" in line]
    assert [(row[0], "NO" in row) for row in rows] == [("x", True), ("y", False)]


@pytest.mark.nightly
def test_a_clock_that_is_off_rejects_the_attempt_and_the_next_one_is_valid(
    there: Guest, tmp_path: Path
) -> None:
    """Only the receiver's card steps in the middle of a run; its ptp4l is not informed."""
    plan = plan_of(EXACT.replace("duration: 100 ms", "duration: 3 s"))
    number = list(there.hosts.inventory.hosts).index("b")
    stepped: list[int] = []

    def step(passed: int, hops: int) -> None:
        if passed > 0 and not stepped:
            stepped.append(passed)
            there.says(guest.BESIDE, f"echo -5000 >/sys/kernel/debug/tsnport/clock-{number}/step_ns")

    into = tmp_path / "run"
    there.hosts.prepare(plan, into)
    there.hosts.run(plan, into, progress=step)
    first, *_, last = attempts(into)
    assert not first["valid"]
    assert first["host"] == "b"
    assert "ns from" in first["reason"]
    assert last["valid"]
    assert Run.open(into).frames().height == 6000


@pytest.mark.nightly
def test_a_link_whose_rate_falls_rejects_the_attempt(there: Guest, tmp_path: Path) -> None:
    """Cards negotiate anew in the middle of a run, and then have a tenth of the rate."""
    plan = plan_of(EXACT.replace("duration: 100 ms", "duration: 3 s"))
    fallen: list[int] = []

    def fall(passed: int, hops: int) -> None:
        if passed > 0 and not fallen:
            fallen.append(passed)
            there.says("b", RATE.format(100))

    into = tmp_path / "run"
    there.hosts.prepare(plan, into)
    try:
        with pytest.raises(InputError, match="eth1 has 100 Mbit/s, and b -> s in the Plan has 1 Gbit/s"):
            there.hosts.run(plan, into, progress=fall)
    finally:
        there.says("b", RATE.format(1000))
    first = attempts(into)[0]
    assert not first["valid"]
    assert first["host"] in ("b", "s")


def test_what_runs_change_is_undone(there: Guest) -> None:
    there.hosts.close()
    said = there.says("s", "tc qdisc show; ip -br link show type bridge; ls -A /tmp; ps")
    assert "taprio" not in said
    assert "tsnbench" not in said


@pytest.mark.parametrize("whom", ["guest", "lab up"])
def test_a_lab_ends_also_after_a_kill(tmp_path: Path, whom: str) -> None:
    if why := unavailable() or guest.missing(SSHD):
        pytest.skip(why)
    folder, scenario = tmp_path / "lab", tmp_path / "exact.yaml"
    scenario.write_text(EXACT)
    words = command("lab", "up", scenario, folder, "--kind", "guest", "--sshd", access.server(SSHD))
    making = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not (folder / record.PROCESS).exists() or not (folder / record.PROCESS).read_text().strip():
        assert making.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    emulator = int((folder / record.PROCESS).read_text())
    if whom == "guest":
        os.kill(emulator, signal.SIGKILL)
        # The process reports that the guest has ended, and removes the folder.
        assert making.wait(timeout=60) == 3
        assert not folder.exists()
    else:
        making.kill()
        making.wait(timeout=60)
        assert lab.down(folder)
        assert not folder.exists()
    until = time.monotonic() + 10
    while Path(f"/proc/{emulator}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{emulator}").exists()
