"""A scenario small enough to run in every test: a bridge, a shaped and a random stream."""

from __future__ import annotations

from pathlib import Path

from tsnbench.plan.document import Plan
from tsnbench.scenario import load

SCENARIO = """\
name: small
duration: {duration}
seed: 3

network:
  stations: [a, b, c]
  bridges: [dut]
  links: {{rate: 1 Gbit/s, between: [a -- dut, b -- dut, c -- dut]}}

streams:
  video: {{from: a, to: c, pcp: 5, period: 100 us, frame: 1000 B, jitter: 20 us}}
  bulk: {{from: b, to: c, frame: 1522 B, saturating: true}}
"""


def small_plan(folder: Path, duration: str = "5 ms") -> Plan:
    path = folder / "small.yaml"
    path.write_text(SCENARIO.format(duration=duration), encoding="utf-8")
    return load(path).plan()
