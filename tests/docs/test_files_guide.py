"""The guide to files of other tools, followed word for word with the captures of a simulated run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/guides/files.md"
SCENARIO = """
name: ring
duration: 5 ms
network:
  stations: [controller, robot]
  bridges: [switch]
  links: {rate: 1 Gbit/s, cable: 5 m, between: [controller -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B}
shapers:
  switch -> robot:
    queues: {classes: {6: 1, 0: 0}}
    gates: {cycle: 250 us, entries: [{open: [6], for: 40 us}, {open: [0], for: 210 us}]}
"""


def test_every_command_of_the_guide(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    commands += re.findall(r"^\$ (tshark .*)", text, re.MULTILINE)
    assert len(commands) >= 5
    if shutil.which("tshark") is None:
        pytest.skip("needs tshark")
    home = {**os.environ, "HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "home/.config")}
    home["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{home['PATH']}"

    def run(command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    (tmp_path / "ring.yaml").write_text(SCENARIO)
    run("tsnbench run ring.yaml --pcap --into runs/ring")
    captures = tmp_path / "runs/ring/captures"
    shutil.copy(captures / "controller-switch-tx.pcapng", tmp_path / "tx.pcap")
    shutil.copy(captures / "switch-robot-rx.pcapng", tmp_path / "rx.pcap")
    printed = {command: run(command) for command in commands}
    assert (tmp_path / "capture.html").is_file()
    (gates,) = [out for command, out in printed.items() if "--plan runs/ring --port" in command]
    assert "kept" in gates
    (fields,) = [out for command, out in printed.items() if "tsnbench.late" in command]
    assert fields.splitlines()[0].split("\t")[:2] == ["loop", "0"]
    (columns,) = [out for command, out in printed.items() if "-C tsnbench" in command]
    assert "loop" in columns
