"""Hosts of a lab that are discovered by their ssh names alone, with a real ptp4l on two of them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from support.commands import tsnbench

from .conftest import Rig

WITHIN_S = 120
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
        until = time.monotonic() + WITHIN_S
        # A clock that runs free is never calibrated.
        while "UNCALIBRATED" not in rig.ssh("a", "pmc -u -b 0 'GET PORT_DATA_SET'").stdout:
            assert time.monotonic() < until, rig.says("a", "cat /run/lab/ptp.log")
            time.sleep(0.2)
        yield
    finally:
        for host, name in names.items():
            rig.ssh(host, "pkill ptp4l; rm -f /run/lab/ptp.cfg /run/lab/ptp.log")
            rig.says(host, f"ip link set {name} down")


def test_hosts_are_found_by_their_names(rig: Rig, clocks: None) -> None:
    found = tsnbench("discover", "--hosts", ",".join(rig.inventory.hosts))
    assert found.returncode == 0, found.stderr
    assert "between: a -- s" in found.stdout
    assert "# ptp: a follows s in domain 0: port 1 " in found.stdout
    assert "# ptp: s is the grandmaster in domain 0: port 1 MASTER" in found.stdout
    assert "clocks: {ptp: {grandmaster: s, delay: e2e, sync-interval: 1 s}}" in found.stdout
    assert "# for the lab: a: {ssh: a, ports: {" in found.stdout
    (rig.folder / "found.yaml").write_text(found.stdout)
    checked = tsnbench("check", str(rig.folder / "found.yaml"))
    assert checked.returncode == 0, checked.stderr
