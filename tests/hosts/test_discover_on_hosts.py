"""Hosts of a lab that are discovered by their ssh names alone, with a real ptp4l on two of them."""

from __future__ import annotations

from support.commands import tsnbench

from .conftest import Rig


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
