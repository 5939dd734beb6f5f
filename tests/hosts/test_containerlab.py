"""The lab of an imported topology of containerlab: its namespaces have the names that containerlab gives."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import tsnbench

LAB = f"t{os.getpid()}"
TOPOLOGY = f"""\
name: {LAB}
topology:
  defaults: {{kind: linux}}
  nodes: {{h1: {{}}, sw1: {{}}, h2: {{}}}}
  links:
    - endpoints: ["h1:eth1", "sw1:eth1"]
    - endpoints: ["sw1:eth2", "h2:eth1"]
"""
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
    pytest.mark.skipif(shutil.which("ip") is None, reason="needs ip (Debian: iproute2)"),
]


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True, timeout=30)


@pytest.fixture
def deployed() -> Iterator[None]:
    """Namespaces and links as ``containerlab deploy`` leaves them for containers of this topology."""
    spaces = {node: f"clab-{LAB}-{node}" for node in ("h1", "sw1", "h2")}
    made = []
    try:
        for space in spaces.values():
            ip(f"netns add {space}")
            made.append(space)
        for node, port in (("h1", "eth1"), ("h2", "eth2")):
            ip(f"-n {spaces[node]} link add eth1 type veth peer name {port} netns {spaces['sw1']}")
            ip(f"-n {spaces[node]} link set eth1 up")
            ip(f"-n {spaces['sw1']} link set {port} up")
        yield
    finally:
        for space in made:
            ip(f"netns del {space}")


def test_the_lab_of_a_topology_can_run_its_scenario(deployed: None, tmp_path: Path) -> None:
    (tmp_path / "line.clab.yml").write_text(TOPOLOGY, encoding="utf-8")
    done = tsnbench("import", "containerlab", "line.clab.yml", "--into", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = tsnbench("doctor", "--hosts", "lab.yaml", "--for", "scenario.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "can run on this lab" in done.stdout
