"""A device by NETCONF and one by hand in the same run, in both labs; no other address is contacted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")

from support.netconf_server import PASSWORD, missing
from support.network_namespace import private_network
from support.planned import plan_of
from tsnbench.backends.vm import unavailable
from tsnbench.errors import InputError
from tsnbench.hosts import lab, load_inventory
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.lab import Kind, cells, guest

from .conftest import BRIDGED, SSHD, InLab, during
from .netconf_device import MODULES, netconf_device

SCENARIO = """\
name: mixed
duration: 200 ms
network:
  stations: [a, b]
  bridges: [s, t]
  links: {rate: 100 Mbit/s, between: [a -- s, s -- t, t -- b]}
streams: {x: {from: a, to: b, payload: 500 B, period: 2 ms, pcp: 3, requires: {delay: 100 ms}}}
"""
MISSING = {Kind.CELLS: cells.missing, Kind.GUEST: lambda sshd: unavailable() or guest.missing(sshd)}


@contextmanager
def heard(pcap: Path) -> Iterator[None]:
    """Every packet of this thread's network namespace."""
    words = ["tcpdump", "-Z", "root", "--immediate-mode", "-n", "-U", "-i", "any", "-w", str(pcap)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as watcher:
        assert watcher.stderr is not None
        assert any("listening on" in line for line in watcher.stderr)
        try:
            yield
            time.sleep(0.5)
        finally:
            watcher.terminate()


def packets(pcap: Path, *words: str) -> list[str]:
    """The packets that match an expression of tcpdump, without those of the set-up of IPv6."""
    told = ["tcpdump", "-n", "-q", "-r", str(pcap), "(ip or tcp or udp) and not igmp", *words]
    done = subprocess.run(told, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
@pytest.mark.skipif(missing(MODULES) is not None, reason=str(missing(MODULES)))
@pytest.mark.parametrize("kind", [Kind.CELLS, pytest.param(Kind.GUEST, marks=pytest.mark.nightly)])
def test_a_device_by_netconf_and_one_by_hand(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why := MISSING[kind](SSHD):
        pytest.skip(why)
    plan = plan_of(SCENARIO)
    with private_network(), ExitStack() as ends:
        made = lab.up(plan.document, tmp_path / "lab", SSHD, kind)
        ends.callback(lab.down, made.folder)
        monkeypatch.setenv("TSNBENCH_SSH", made.ssh)
        # The home folder is another one from here on; the guest's kernel is in that of the user.
        device = ends.enter_context(netconf_device(tmp_path, monkeypatch))

        text = made.inventory.read_text()
        for host, how in (("s", device.where), ("t", "by-hand: t.txt")):
            (own,) = re.findall(rf"^ +{host}: {{ssh: {host}.*\n", text, re.MULTILINE)
            text = text.replace(own, "").replace("wires:", f"{own}wires:", 1)
            text = text.replace(f"ssh: {host},", f"{how},", 1)
        first = re.search(r"^ +s: {netconf", text, re.MULTILINE)
        assert first is not None
        text = f"{text[: first.start()]}devices:\n{text[first.start() :]}"
        inventory = tmp_path / "lab.yaml"
        inventory.write_text(text)
        devices = load_inventory(inventory).devices
        for name in ("s", "t"):
            InLab(made).says(name, BRIDGED.format(ports=" ".join(devices[name].ports.values())))
        seen: list[str] = []
        during(monkeypatch, lambda: seen.append(device.has()))
        before = device.has()
        with pytest.raises(InputError, match=r"t\.txt: expected the line confirmed: "):
            plan.run(on=Hosts(load_inventory(inventory)), into=tmp_path / "run")
        assert (seen, device.has()) == ([], before)
        file = tmp_path / "t.txt"
        file.write_text(file.read_text().replace("# confirmed", "confirmed"))
        with heard(tmp_path / "heard.pcap"):
            run = plan.run(on=Hosts(load_inventory(inventory)), into=tmp_path / "run")
        after = device.has()
        client = (made.folder / "client").read_text() if kind is Kind.GUEST else ""
        assert lab.down(made.folder)
    assert len(run.delay("x")) == 100
    ports = set(devices["s"].ports.values())
    told = [{port for port in ports if port in one} for one in (before, seen[0], after)]
    assert told == [set(), ports, set()]
    folder = run.folder / "hosts"
    assert (folder / "t/checklist.txt").read_text() == file.read_text()
    assert json.loads((folder / "deploy.json").read_text())["state"] == "restored"
    assert json.loads((run.folder / "manifest.json").read_text())["host"]["devices"] == {
        "s": {"node": "s", "configured": "by NETCONF"},
        "t": {"node": "t", "configured": "by hand"},
    }
    # The hosts of a guest have ports of the loopback interface; those of namespaces are not in this one.
    wanted = {int(port) for port in re.findall(r"Port (\d+)", client)}
    begun = packets(tmp_path / "heard.pcap", "and", "tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn")
    assert {re.search(r" > (\S+)\.(\d+):", line).groups() for line in begun} <= {  # type: ignore[union-attr]
        ("127.0.0.1", str(port)) for port in (*wanted, device.server.port)
    }
    assert f"> 127.0.0.1.{device.server.port}:" in "".join(begun)
    assert packets(tmp_path / "heard.pcap", "and", "not", "tcp") == []
    for path in run.folder.rglob("*"):
        octets = path.read_bytes() if path.is_file() else b""
        assert PASSWORD.encode() not in octets, path
        assert b"PRIVATE KEY" not in octets, path
