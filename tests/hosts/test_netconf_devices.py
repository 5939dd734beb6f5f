"""A device by NETCONF in a run: it has the Plan during the run, and its former configuration afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")

from support.commands import tsnbench
from support.netconf_server import missing
from tsnbench.errors import BackendError
from tsnbench.hosts import load_inventory
from tsnbench.hosts.backend import Hosts

from .conftest import Rig, during
from .netconf_device import MODULES, netconf_device

reason = missing(MODULES)
pytestmark = pytest.mark.skipif(reason is not None, reason=str(reason))


KILLED = """
import os, signal, sys
from tsnbench.hosts import load_inventory
from tsnbench.hosts.backend import Hosts
from tsnbench.scenario import load
Hosts._once = lambda *words, **more: os.kill(os.getpid(), signal.SIGKILL)
load(sys.argv[1]).plan().run(on=Hosts(load_inventory(sys.argv[2])), into=sys.argv[3])
"""


def killed_while_deployed(rig: Rig, lab: Path, into: Path, home: Path) -> None:
    words = [sys.executable, "-c", KILLED, rig.scenario, lab, into / "killed"]
    done = subprocess.run(words, env=os.environ | {"HOME": str(home)}, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL


def test_a_device_by_netconf_has_the_plan_during_a_run(
    rig: Rig, by_hand: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bridge forwards frames; a NETCONF server beside it is configured and restored."""
    with netconf_device(tmp_path, monkeypatch) as device:
        by_hand.write_text(by_hand.read_text().replace("by-hand: s.txt", device.where))
        seen: list[str] = []
        during(monkeypatch, lambda: seen.append(device.has()))
        assert "eth1" not in device.has()
        run = rig.plan.run(on=Hosts(load_inventory(by_hand)), into=tmp_path / "run")
        assert len(run.delay("x")) == 200
        assert "eth1" in seen[0]
        # Empty containers stay in the configuration of a server.
        assert "eth1" not in device.has()
        about = json.loads((run.folder / "manifest.json").read_text())
        assert about["host"]["devices"] == {"s": {"node": "s", "configured": "by NETCONF"}}
        assert "hosts/deploy.json" in about["files"]
        assert json.loads((run.folder / "hosts/deploy.json").read_text())["state"] == "restored"
        assert not list(by_hand.parent.glob("*.deployed"))
        # The controller is killed while devices have the Plan: `restore --hosts` restores their
        # configuration.
        killed_while_deployed(rig, by_hand, tmp_path, device.home)
        assert "eth1" in device.has()
        (note,) = by_hand.parent.glob("lab.yaml.*.deployed")
        done = tsnbench("restore", "--hosts", by_hand, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "devices by NETCONF: 1 devices have what they had before" in done.stdout
        assert "eth1" not in device.has()
        assert not note.exists()
        # A device that cannot be reached: no run starts.
        device.server.kill()
        with pytest.raises(BackendError, match="nothing was changed on any device"):
            rig.plan.run(on=Hosts(load_inventory(by_hand)), into=tmp_path / "gone")
        assert len(seen) == 1
