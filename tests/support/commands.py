"""The program as users call it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCENARIO = """\
name: small
duration: 20 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a-s, c-s, s-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3, requires: {delay: 17 us}}
  y: {from: c, to: b, frame: 1500 B, saturating: true, pcp: 0}
"""


MAIN = "from tsnbench.cli.main import main; main()"


def command(*words: object) -> list[str]:
    return [sys.executable, "-c", MAIN, *map(str, words)]


def tsnbench(*words: object, cwd: Path, **other) -> subprocess.CompletedProcess[str]:
    keys = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120} | other
    return subprocess.run(command(*words), cwd=cwd, check=False, **keys)
