"""Links that are lost while hosts run a Plan, and settings that change: the attempt is no measurement."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.planned import plan_of
from tsnbench.errors import BackendError
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.clocks import synchronisation
from tsnbench.hosts.inventory import read_inventory
from tsnbench.hosts.remote.agent import Agent

from .conftest import Rig, attempts, bounded, in_first_attempts, lasting
from .test_attempts_on_hosts import PTP, synchronised


def soon(
    rig: Rig, host: str, words: str, still: Callable[[], bool] = lambda: True
) -> Callable[[dict[str, Agent], int], None]:
    """Somebody runs a command on a host 300 ms after the start of an attempt, if it ``still`` runs."""

    def do(epoch_ns: int) -> None:
        while time.clock_gettime_ns(time.CLOCK_TAI) < epoch_ns + 300_000_000:
            time.sleep(0.01)
        if still():
            rig.says(host, words)

    return lambda agents, epoch_ns: threading.Thread(target=do, args=(epoch_ns,), daemon=True).start()


DISTURBED = (
    (
        "s",
        "ip link set eth1 down; sleep 0.3; ip link set eth1 up",
        r"s: eth1 \(s -> a\) was set down at 20.*Z; a: eth1 \(a -> s\) lost its link( at 20.*Z)?$",
    ),
    (
        "s",
        "ip link set tsnbench0 down; sleep 0.5; ip link set tsnbench0 up",
        "s: the bridge tsnbench0 was set down at 20.*Z",
    ),
    (
        "b",
        "ip link set eth1 address 02:00:00:00:00:99; ethtool -K eth1 tx off",
        r"b: changed .*: eth1 \(b -> s\): address was .*:99; .*tx-checksumming was on, is off",
    ),
)
"""What somebody does on a host in each attempt, and the reason why the attempt is rejected."""


@pytest.fixture
def links_elsewhere() -> Iterator[None]:
    """Links of nobody here come and go. The kernel tells changes of links once a second at most, for all
    of them together, so a short loss of another link is not told."""
    words = (
        "ip link add f1 type veth peer name f2; ip link set f1 up; while sleep 0.1; do ip link set f2 $on; "
    )
    flaps = f"on=up; {words} [ $on = up ] && on=down || on=up; done"
    with subprocess.Popen(("timeout", "120", "unshare", "-n", "sh", "-c", flaps)) as process:
        yield
        process.terminate()


def test_attempts_with_a_changed_network_are_no_measurement(
    rig: Rig, tmp_path: Path, unchanged: None, links_elsewhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def act(agents: dict[str, Agent], epoch_ns: int) -> None:
        # On a busy machine a host may also get the start too late; then the same is done in the next attempt.
        now = len(told)
        for host, words, _ in DISTURBED[sum("too late" not in one for one in told) :][:1]:
            soon(rig, host, words, lambda: len(told) == now)(agents, epoch_ns)

    rig.says("b", "ethtool -K eth1 tx on")
    in_first_attempts(monkeypatch, 9, act)
    own = read_inventory(bounded(rig.made.inventory.read_text(), "attempts: 9, pause: 100 ms"), "lab.yaml")
    run = lasting("1 s").run(on=Hosts(own, tell=told.append), into=tmp_path / "run")
    found = attempts(tmp_path / "run")
    assert len(run.delay("x")) == 1000
    assert [one["valid"] for one in found] == [False] * (len(found) - 1) + [True]
    rejected = [f"{one['host']}: {one['reason']}" for one in found[:-1]]
    assert told == [
        f"attempt {number} of 9 was rejected: {why}; the next one begins in 100 ms"
        for number, why in enumerate(rejected, 1)
    ]
    disturbed = [one for one in rejected if "too late" not in one]
    for (*_, reason), why in zip(DISTURBED, disturbed, strict=True):
        assert re.match(reason, why)


def test_a_port_without_a_link_is_told_before_a_run_of_a_campaign(
    rig: Rig, tmp_path: Path, unchanged: None
) -> None:
    """The set-up is that of the first run, so no wire is checked before the second run begins."""
    own = read_inventory(bounded(rig.made.inventory.read_text(), "attempts: 3, pause: 100 ms"), "lab.yaml")
    hosts = Hosts(own, campaign=True)
    try:
        rig.plan.run(on=hosts, into=tmp_path / "1")
        rig.says("s", "ip link set eth1 down")
        rig.plan.run(on=hosts, into=tmp_path / "2")
    finally:
        hosts.close()
    first, *_, last = attempts(tmp_path / "2")
    assert (first["host"], first["reason"], last["valid"]) == (
        "a",
        "no link (carrier) at eth1 (a -> s)",
        True,
    )


def test_a_port_that_is_renamed_for_good_ends_the_run_with_its_name(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt is rejected; for the second one, the port is missing. What the run had set at the
    port cannot be undone under its old name, and is named, too."""
    before = rig.state()
    address = rig.says("c", "cat /sys/class/net/eth1/address")
    in_first_attempts(monkeypatch, 1, soon(rig, "c", "ip link set eth1 down name eth9; ip link set eth9 up"))
    own = read_inventory(bounded(rig.made.inventory.read_text(), "attempts: 3, pause: 100 ms"), "lab.yaml")
    try:
        with pytest.raises(BackendError) as error:
            lasting("1 s").run(on=Hosts(own), into=tmp_path / "run")
        (only,) = attempts(tmp_path / "run")
        assert re.match(r"eth1 \(c -> s\) was (set down|renamed to eth9) at ", only["reason"])
        assert re.match(r"c: .*eth1.*(Cannot find|does not exist)", str(error.value))
        assert "not everything is as it was" in str(error.value)
    finally:
        back = f"ip link set eth9 down name eth1 address {address.strip()}; tc qdisc del dev eth1 root"
        rig.says("c", f"{back}; sysctl -q -w net.ipv6.conf.eth1.disable_ipv6=0")
    assert rig.state() == before


def test_a_wait_for_clocks_tells_their_state_and_ends_when_there_is_nothing_to_wait_for(
    rig: Rig, tmp_path: Path, unchanged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is too tight for the lab's clocks. A link that is away for a short time ends no wait, since a
    card may start anew when ptp4l begins. Then ptp4l dies, and in the second attempt a cable is pulled."""
    monkeypatch.setattr(synchronisation, "TOLD_S", 0.5)
    hosts = synchronised(rig, "below: 1 ns, steady: 2 s, within: 100 s, attempts: 2, pause: 100 ms")
    told: list[str] = []
    acts = [
        lambda: rig.says("s", "ip link set eth1 down; sleep 0.3; ip link set eth1 up"),
        lambda: hosts._agents["b"].signal("ptp4l", signal.SIGKILL),
        lambda: rig.says("s", "ip link set eth2 down"),
    ]

    def tell(line: str) -> None:
        if "waiting for" not in line:
            told.append(line)
        elif re.search(r"b [+-][\d,]+ ns from its master, (SLAVE|UNCALIBRATED)", line) and acts:
            told.append(line)
            acts.pop(0)()

    hosts._tell = tell
    began = time.monotonic()
    with pytest.raises(BackendError, match="2 attempts were rejected"):
        plan_of(PTP).run(on=hosts, into=tmp_path / "run")
    assert time.monotonic() - began < 90
    first, second = attempts(tmp_path / "run")
    assert (first["host"], second["host"]) == ("b", "s")
    assert re.match(r"ptp4l ended with 137: ptp4l\[", first["reason"])
    assert re.match(
        r"eth2 \(s -> c\) was set down at .*Z; c: eth1 \(c -> s\) lost its link at", second["reason"]
    )
    assert re.match(r"waiting for synchronised clocks, \d+ of at most 100 s: a leads, ", told[0])
    assert "c " in told[0].split("; ")[2]
