"""A Linux bridge in a namespace as the device under test, with testers in other namespaces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench

from .conftest import Rig


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
