"""ATS at a bridge whose clock is wrong: a frame that is eligible at once does not wait.

IEEE 802.1Q-2022, 8.6.11: eligibility times are those of the node's own oscillator.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from support.planned import run_of
from tsnbench.scenario import load

SCENARIO = """\
name: ats-drift
duration: 1 s
network:
  stations: [a, b]
  bridges: {sw: {processing: 2 us}}
  links: {rate: 1 Gbit/s, between: [a -- sw, sw -- b]}
streams:
  s: {from: a, to: b, pcp: 6, period: 10 ms, frame: 1000 B}
shapers:
  sw -> b: {ats: {pcp: [6], rate: 10 Mbit/s, burst: 3 kB}}
clocks: {sw: {drift: DRIFT}}
"""

# The frame on the first link, processing, and preamble and frame on the second link.
DELAY_NS = 8_000 + 2_000 + 64 + 8_000


@pytest.mark.parametrize("drift", ["100 ppm", "0 ppm", "-100 ppm"])
def test_a_frame_that_is_eligible_at_once_does_not_wait(tmp_path: Path, drift: str) -> None:
    path = tmp_path / "ats.yaml"
    path.write_text(SCENARIO.replace("DRIFT", drift), encoding="utf-8")
    run = run_of(load(path).plan(), tmp_path)
    table = run.observations().sort("seq")
    sent = table.filter(pl.col("stage") == "tx")["t_ns"]
    came = table.filter(pl.col("stage") == "rx")["t_ns"]
    assert len(sent) == len(came) == 100
    # Both ends' clocks are right. The drift of a bridge's clock is up to 100 us after one second.
    assert {late - DELAY_NS for late in (came - sent).to_list()} == {0}
