"""A lab of hosts in namespaces of this machine; each host has an ssh server, which need not be installed."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.commands import command
from support.planned import plan_of
from tsnbench.hosts import attempt, lab
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.inventory import Inventory, load_inventory
from tsnbench.hosts.remote.agent import Agent
from tsnbench.plan.document import Plan
from tsnbench.scenario import load

UNPACKED = Path(__file__).parents[2] / ".venv/unpacked/usr/sbin/sshd"
SSHD = UNPACKED if UNPACKED.is_file() else None

KEPT_OPEN = ("-o", "ControlMaster=auto", "-o", "ControlPersist=30")
BRIDGED = (
    "ip link add br9 type bridge stp_state 0 mcast_snooping 0 && ip link set br9 up && "
    "for one in {ports}; do ip link set $one master br9 up || exit 1; done"
)
"""A bridge that a test configures by hand."""
SCENARIO = """\
name: small
duration: 200 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 100 Mbit/s, between: [a-s, c-s, s-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3, requires: {delay: 50 ms}}
  y: {from: c, to: b, payload: 200 B, period: 2 ms, pcp: 0}
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that share a lab, so that one process takes them (before pytest-xdist looks)."""
    for item in items:
        own = {"rig", "there"} & {*getattr(item, "fixturenames", ())}
        if own and item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group(f"lab of {own.pop()}"))


def lasting(duration: str) -> Plan:
    """The Plan of :data:`SCENARIO` with another duration."""
    return plan_of(SCENARIO.replace("200 ms", duration, 1))


def attempts(run_folder: Path) -> list[dict[str, Any]]:
    """The attempts of a run."""
    return list(json.loads((run_folder / "attempts.json").read_text()))


@contextmanager
def reached(made: lab.Lab) -> Iterator[None]:
    """Meanwhile tsnbench reaches the hosts of a lab."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSNBENCH_SSH", made.ssh)
        yield


@dataclass
class InLab:
    """A running lab."""

    made: lab.Lab

    def ssh(self, host: str, words: str) -> subprocess.CompletedProcess[str]:
        """Run a command on a host with another ssh connection than tsnbench's."""
        told = [*self.made.ssh.split(), "-o", "BatchMode=yes", *self.options(), host, words]
        return subprocess.run(told, capture_output=True, text=True, timeout=120, check=False)

    def options(self) -> list[str]:
        """More options of ssh."""
        return []

    def says(self, host: str, words: str) -> str:
        """The output of a command that must succeed."""
        done = self.ssh(host, words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def until_it_talks(self, process: subprocess.Popen[str], within_s: float = 60) -> None:
        """Wait until a run's talker works on host ``a``."""
        until = time.monotonic() + within_s
        while "traffic talk" not in self.ssh("a", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until


@dataclass
class Rig(InLab):
    """A running lab of namespaces, and a scenario for its network."""

    folder: Path
    scenario: Path
    plan: Plan

    @property
    def inventory(self) -> Inventory:
        return load_inventory(self.made.inventory)

    def options(self) -> list[str]:
        """A connection lasts for several commands."""
        return [*KEPT_OPEN, "-o", f"ControlPath={self.folder}/%n.ssh"]

    def long(self, duration: str, name: str = "long.yaml") -> Path:
        """The scenario with another duration, as a file."""
        (self.folder / name).write_text(SCENARIO.replace("200 ms", duration, 1))
        return self.folder / name

    def hang_up(self) -> None:
        """End the connections of :meth:`ssh`: without their hosts, they would never end."""
        for socket in self.folder.glob("*.ssh"):
            words = ["ssh", "-O", "exit", "-o", f"ControlPath={socket}", socket.stem]
            subprocess.run(words, capture_output=True, timeout=20, check=False)
            until = time.monotonic() + 20
            while socket.exists() and time.monotonic() < until:
                time.sleep(0.05)
            assert not socket.exists(), f"the connection to {socket.stem} has not ended"

    def state(self) -> dict[str, list[str]]:
        """All settings that a run may change on the hosts, as the hosts' own tools print them."""
        looks = (
            "ip -d -o link | sed 's/ qlen [0-9]*//; s/ qdisc [a-z_]*//; s/ state [A-Z]*//'",
            "ip -o -4 addr",
            "tc qdisc show | grep -v noqueue",
            "ls -A /tmp /var/tmp /run/lab /root",
            "cat /proc/sys/net/ipv6/conf/eth1/disable_ipv6",
            "ps -e -o comm= | grep -v -E '^(sshd|sh|ps|grep|sed|ls|bash|cat|ip|tc)$'",
        )
        words = "; ".join(f"echo; echo '## {number}'; {look}" for number, look in enumerate(looks))
        hosts = list(self.inventory.hosts)
        with ThreadPoolExecutor() as pool:
            said = pool.map(lambda host: self.ssh(host, words).stdout.splitlines(), hosts)
        return dict(zip(hosts, said, strict=True))


@contextmanager
def heard(rig: Rig, host: str, pcap: Path, *words: str) -> Iterator[None]:
    """What a host's tcpdump receives at eth1 meanwhile, independent of the run.

    Without ``--immediate-mode`` frames of the last second are in a block that tcpdump has not read when it
    is told to end. The connection ends by itself once it has passed on all that was written.
    """
    rig.says(host, "ip link set eth1 up")
    told = "exec tcpdump -Z root --immediate-mode -n -Q in -U -i eth1 -w -"
    command = [*rig.made.ssh.split(), host, " ".join([told, *words])]
    with pcap.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=subprocess.PIPE) as watcher:
        assert watcher.stderr is not None
        assert any(b"listening on" in line for line in watcher.stderr)
        try:
            yield
            time.sleep(0.5)
        finally:
            rig.ssh(host, "pkill tcpdump")
            try:
                watcher.communicate(timeout=20)
            finally:
                watcher.kill()
    rig.says(host, "ip link set eth1 down")


def during(monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]) -> None:
    """Call ``look`` once the run has its hosts, before anything is configured."""
    once = Hosts._once

    def looked(*words: Any, **more: Any) -> Any:
        look()
        return once(*words, **more)

    monkeypatch.setattr(Hosts, "_once", looked)


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One lab for all tests: each test sees what the earlier ones left behind."""
    if why := lab.cells.missing(SSHD):
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("hosts")
    scenario = folder / "small.yaml"
    scenario.write_text(SCENARIO)
    plan = load(scenario).plan()
    made = lab.up(plan.document, folder / "lab", SSHD)
    rig = Rig(made, folder, scenario, plan)
    try:
        with reached(made):
            yield rig
    finally:
        rig.hang_up()
        assert lab.down(made.folder)


@pytest.fixture
def by_hand(rig: Rig, tmp_path: Path) -> Iterator[Path]:
    """The lab, with a bridge that has no shell: the test configures it by hand."""
    lines = rig.made.inventory.read_text().splitlines(keepends=True)
    own = next(line for line in lines if line.lstrip().startswith("s: {ssh: s"))
    lines.remove(own)
    device = own.replace("ssh: s", "by-hand: s.txt")
    text = "".join(lines).replace("wires:", f"devices:\n{device}wires:", 1)
    lab = tmp_path / "lab.yaml"
    lab.write_text(text)
    ports = " ".join(load_inventory(lab).devices["s"].ports.values())
    rig.says("s", BRIDGED.format(ports=ports))
    yield lab
    rig.says("s", f"ip link del br9; for one in {ports}; do ip link set $one down; done")


def bounded(lab: str, sync: str) -> str:
    """An inventory with other bounds of ``sync``."""
    head, word, _ = lab.partition("sync: {")
    assert word
    return f"{head}sync: {{{sync}}}\n"


def ran(process: subprocess.Popen[str] | subprocess.CompletedProcess[str]) -> bool:
    """Whether a run was made and measured. The Plan has no time for the software of a lab's hosts: where that
    takes longer than the worst case, the run is not met."""
    return process.returncode in (0, 1)


def on(rig: Rig, into: Path, *more: str, scenario: Path | None = None) -> subprocess.Popen[str]:
    """A run as the program makes it, in a process of its own."""
    words = command("run", scenario or rig.scenario, "--on", "hosts", "--hosts", rig.made.inventory)
    words += ["--into", str(into), "--no-report", "-q", *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def in_first_attempts(
    monkeypatch: pytest.MonkeyPatch, times: int, act: Callable[[dict[str, Agent], int], object]
) -> None:
    """Call ``act`` with the agents and the instant of the start, once they have it, in the first attempts."""
    waits, left = attempt._wait, [None] * times

    def waited(agents: Any, jobs: Any, document: Any, epoch_ns: int, *rest: Any) -> None:
        if left:
            left.pop()
            act(agents, epoch_ns)
        waits(agents, jobs, document, epoch_ns, *rest)

    monkeypatch.setattr(attempt, "_wait", waited)


@pytest.fixture
def unchanged(rig: Rig) -> Iterator[None]:
    """After the test, the hosts' own tools show the same state as before."""
    before = rig.state()
    yield
    until = time.monotonic() + 15
    while (after := rig.state()) != before and time.monotonic() < until:
        time.sleep(0.3)
    assert after == before


CLOCKS_S = 120
PTP4L = (
    "printf '[global]\\ntime_stamping software\\nfree_running 1\\nlogAnnounceInterval -3\\npriority1 {}\\n' "
    ">/run/lab/ptp.cfg; (exec ptp4l -2 -i eth1 -f /run/lab/ptp.cfg >/run/lab/ptp.log 2>&1 </dev/null &)"
)


@pytest.fixture
def clocks(rig: Rig) -> Iterator[None]:
    """ptp4l on both ends of a wire; the second one follows."""
    ends = next(wire.ends for wire in rig.inventory.wires if {one.machine for one in wire.ends} == {"a", "s"})
    names = {one.machine: rig.inventory.interface(one) for one in ends}
    for host, priority in (("s", 100), ("a", 128)):
        rig.says(host, f"ip link set {names[host]} up")
        rig.says(host, PTP4L.replace("eth1", names[host]).replace("{}", str(priority)))
    try:
        until = time.monotonic() + CLOCKS_S
        # A clock that runs free is never calibrated.
        while "UNCALIBRATED" not in rig.ssh("a", "pmc -u -b 0 'GET PORT_DATA_SET'").stdout:
            assert time.monotonic() < until, rig.says("a", "cat /run/lab/ptp.log")
            time.sleep(0.2)
        yield
    finally:
        for host, name in names.items():
            rig.ssh(host, "pkill ptp4l; rm -f /run/lab/ptp.cfg /run/lab/ptp.log")
            rig.says(host, f"ip link set {name} down")
