"""The four plays of ``--to ansible`` in a lab, compared with ``--on hosts`` and the same Plan.

Ansible is another project's program: ``TSNBENCH_ANSIBLE`` names a folder with its programs.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.planned import plan_of
from tsnbench.exports import export, write
from tsnbench.hosts import lab
from tsnbench.hosts.backend import Hosts
from tsnbench.hosts.inventory import load_inventory
from tsnbench.linux.profile import Profile
from tsnbench.plan.document import Plan

from .conftest import SSHD, reached

pytestmark = pytest.mark.skipif(
    not os.environ.get("TSNBENCH_ANSIBLE"), reason="TSNBENCH_ANSIBLE names no folder with Ansible's programs"
)
# A network without a bridge: frames of raw sockets keep their tags on a wire even without a VLAN driver.
SCENARIO = """\
name: wire
duration: 1 s
network:
  stations: [a, b]
  links: {rate: 100 Mbit/s, between: [a-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3}
  y: {from: b, to: a, payload: 200 B, period: 2 ms, pcp: 0}
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Plan, lab.Lab]]:
    if why := lab.cells.missing(SSHD):
        pytest.skip(why)
    plan = plan_of(SCENARIO)
    up = lab.up(plan.document, tmp_path / "lab", SSHD)
    try:
        with reached(up):
            yield plan, up
    finally:
        assert lab.down(up.folder)


def test_plays_measure_what_a_run_on_hosts_measures(made: tuple[Plan, lab.Lab], tmp_path: Path) -> None:
    plan, up = made
    interfaces = {port["name"]: "eth1" for port in plan.document["ports"]}
    write(export(plan.document, ["ansible"], Profile(interfaces=interfaces)), tmp_path / "out")
    ssh = shlex.split(up.ssh)
    before, client = ssh[: ssh.index("ssh")], ssh[ssh.index("-F") + 1]

    def play(phase: str, *more: str) -> subprocess.CompletedProcess[str]:
        program = Path(os.environ["TSNBENCH_ANSIBLE"]) / "ansible-playbook"
        own = {
            "ANSIBLE_HOME": str(tmp_path),
            "ANSIBLE_SSH_ARGS": f"-F {client} -o ControlMaster=auto -o ControlPersist=20",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(tmp_path / "cp"),
            "ANSIBLE_SSH_TRANSFER_METHOD": "piped",
            "HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        words = [*before, program, "-i", "inventory.yml", f"{phase}.yml", "-e", "ansible_become=false", *more]
        return subprocess.run(
            words,
            cwd=tmp_path / "out/ansible",
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def must(done: subprocess.CompletedProcess[str]) -> None:
        assert done.returncode == 0, done.stdout + done.stderr

    must(play("install"))
    ready = play("setup")
    vlan = [*ssh, "a", "ip link add link eth1 name probe.5 type vlan id 5 && ip link del probe.5"]
    if subprocess.run(vlan, capture_output=True, check=False).returncode == 0:
        must(ready)
    else:
        # This kernel has no VLAN driver: the play stops with that error, after the links are up.
        assert ready.returncode != 0
        assert "Unknown device type" in ready.stdout
    must(play("scenario", "-e", "tsnbench_lead_s=12"))
    must(play("process"))
    left = subprocess.run([*ssh, "a", "ls /var/tmp"], capture_output=True, text=True, check=True).stdout
    assert not left
    results = tmp_path / "out/ansible/results"
    captures = ["--tx", results / "a/eth1.pcap", "--rx", results / "b/eth1.pcap"]
    words = [sys.executable, "-m", "tsnbench", "measure", *captures, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    # The capture of a port has the frames of both directions.
    of_plays = counted(json.loads(done.stdout), lambda path: path["stream"].startswith("tsnbench/"))
    run = plan.run(on=Hosts(load_inventory(up.inventory)), into=tmp_path / "run")
    assert of_plays == counted(run.measures()) == [(500, 500, 0), (1000, 1000, 0)]


def counted(measures: dict, wanted: Callable[[dict], bool] = lambda _: True) -> list[tuple[int, int, int]]:
    """For each stream the numbers of frames that were sent, received and lost."""
    counts = [path["count"] for path in measures["paths"] if wanted(path)]
    return sorted((one["sent"], one["received"], one["lost"]) for one in counts)
