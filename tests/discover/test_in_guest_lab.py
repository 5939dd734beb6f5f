"""A lab of emulated hosts: discovered, checked, planned, and compared; one host without lldpd."""

from __future__ import annotations

import io
import queue
import re
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench.backends.vm import unavailable
from tsnbench.hosts import lab, load_inventory, map_plan
from tsnbench.hosts.lab import guest
from tsnbench.scenario import load
from tsnbench.watch.hosts import Change, WatchedHosts

from .recorded import SAID

ROOT = Path(__file__).parents[2]
UNPACKED = ROOT / ".venv/unpacked/usr/sbin/sshd"
SSHD = UNPACKED if UNPACKED.is_file() else None
LLDPD = ROOT / ".venv/unpacked-lldpd"
LASTS_S = 900
_RUN = "/run/lldp/ld.so --library-path /run/lldp"
_LLDPD = f"""\
mkdir -p /run/lldp /run/lldpd && busybox tar xf - -C /run/lldp
echo _lldpd:x:99:99::/run/lldpd:/bin/false >>/etc/passwd; echo _lldpd:x:99: >>/etc/group
echo 127.0.0.1 $(hostname) >>/etc/hosts
printf '#!/bin/sh\\nexec {_RUN} /run/lldp/lldpcli -u /run/lldp/socket "$@"\\n' >/bin/lldpcli
chmod +x /bin/lldpcli
{_RUN} /run/lldp/lldpd -d -u /run/lldp/socket -L /bin/lldpcli -I 'eth*' >/run/lldp/log 2>&1 &
until lldpcli resume; do sleep 1; done; lldpcli configure lldp tx-interval 1
"""
"""Unpacks lldpd into a host of the guest, and starts it with a socket of its own."""


class Hosts:
    """The hosts of the lab."""

    def __init__(self, made: lab.Lab) -> None:
        self.made = made

    def says(self, host: str, words: str, octets: bytes = b"") -> str:
        done = subprocess.run(
            [*self.made.ssh.split(), host, words], input=octets, capture_output=True, timeout=180, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def tsnbench(self, *words: object) -> subprocess.CompletedProcess[str]:
        return tsnbench(*map(str, words), "--hosts", str(self.made.inventory))


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """A lab whose hosts are configured by the export."""
    if why := unavailable() or guest.missing(SSHD):
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("discover")
    words = ("--into", folder / "files", "--as", "tc", "--taprio", "full", "--queues", "straight")
    assert tsnbench("plan", str(SAID / "network.yaml"), *map(str, words)).returncode == 0
    with pytest.MonkeyPatch.context() as patch:
        plan = load(SAID / "network.yaml").plan().document
        made = lab.up(plan, folder / "lab", SSHD, lab.Kind.GUEST, LASTS_S)
        patch.setenv("TSNBENCH_SSH", made.ssh)
        try:
            own = Hosts(made)
            for host in "abs":
                files = packed((folder / "files" / host).iterdir())
                own.says(host, "mkdir /tmp/own && cd /tmp/own && busybox tar xf - && sh up.sh", files)
            yield own
        finally:
            assert lab.down(folder / "lab")


def packed(paths: Iterator[Path], **renamed: Path) -> bytes:
    """An archive with these files, without their folders."""
    octets = io.BytesIO()
    with tarfile.open(fileobj=octets, mode="w") as archive:
        for path in paths:
            archive.add(path.resolve(), path.name)
        for name, path in renamed.items():
            archive.add(path.resolve(), name.replace("_", "."))
    return octets.getvalue()


def lldpd() -> bytes:
    """lldpd with its libraries, unpacked by ``make packages``."""
    programs = [LLDPD / "usr/sbin" / name for name in ("lldpd", "lldpcli")]
    if not all(one.exists() for one in programs):
        pytest.skip("lldpd is not unpacked")
    folders = ":".join(str(path.parent) for path in LLDPD.glob("**/lib*.so*"))
    told = subprocess.run(
        ["ldd", *programs], capture_output=True, text=True, check=True, env={"LD_LIBRARY_PATH": folders}
    )
    libraries = {Path(one) for one in re.findall(r"=> (/\S+)", told.stdout)}
    loader = Path(re.findall(r"^\s+(/\S+ld-\S+)", told.stdout, re.MULTILINE)[0])
    return packed(iter([*programs, *libraries]), ld_so=loader)


@pytest.mark.nightly
def test_a_network_is_found_and_compared(hosts: Hosts, tmp_path: Path) -> None:
    same = hosts.tsnbench("diff", SAID / "network.yaml")
    assert (same.returncode, same.stdout) == (0, "")
    octets = lldpd()
    for host in "bs":
        hosts.says(host, _LLDPD, octets)
    hosts.says("s", "until lldpcli -f json0 show neighbors | grep -q eth2; do sleep 1; done")
    found = hosts.tsnbench("discover")
    assert found.returncode == 0, found.stderr
    assert "# a: no LLDP" in found.stdout
    assert "# b: no LLDP" not in found.stdout
    for link in ("a -- s", "b -- s"):
        assert f"between: {link}" in found.stdout
    file = tmp_path / "found.yaml"
    file.write_text(found.stdout)
    assert tsnbench("check", str(file)).returncode == 0
    assert hosts.tsnbench("diff", file).returncode == 0
    hosts.says("s", "ip link set dev eth2 mtu 1400; bridge vlan del dev eth1 vid 200")
    hosts.says("b", "tc qdisc replace dev eth1 parent 100:1 pfifo limit 499")
    changed = hosts.tsnbench("diff", SAID / "network.yaml")
    assert changed.returncode == 1
    lines = changed.stdout.splitlines()
    assert [line for line in lines if not line.startswith("  on ")] == [
        "b eth1: class 0 limit: planned 500, found 499",
        "s eth1: vlan 200: planned tagged, found absent",
        "s eth2: mtu: planned at least 1500, found 1400",
    ]
    for line in lines:
        if line.startswith("  on "):
            host, _, repair = line.removeprefix("  on ").partition(": ")
            hosts.says(host, repair)
    assert hosts.tsnbench("diff", SAID / "network.yaml").returncode == 0


@pytest.mark.nightly
def test_a_gate_list_that_is_replaced_is_told(hosts: Hosts) -> None:
    """Within the interval and the time of a reading, which the emulated processors make long."""
    plan = load(SAID / "network.yaml").plan()
    inventory = load_inventory(hosts.made.inventory)
    told: queue.Queue[Change] = queue.Queue()
    watched = WatchedHosts(plan.document, inventory, map_plan(inventory, plan.document, {}), 1.0, told.put)
    replace = (
        "sed -n '/ taprio /{{s/^/tc /;s/04 400000 sched-entry S 03 600000/04 {} sched-entry S 03 {}/;p}}' "
        "/tmp/own/tc.batch | sh -e"
    )
    watched.begin()
    try:
        while len(watched.readings()) < 3:
            time.sleep(0.1)
        assert watched.differences() == []
        assert told.empty()
        for first, second, text in (
            (390_000, 610_000, "s eth2: gates: planned "),
            (400_000, 600_000, "s eth2: gates: as planned again"),
        ):
            hosts.says("s", replace.format(first, second))
            while not told.get(timeout=60).text.startswith(text):
                pass
    finally:
        watched.end()
