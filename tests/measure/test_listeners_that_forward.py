"""Hosts that send the member streams of a stream that they receive on to each other."""

from __future__ import annotations

from pathlib import Path

from support.planned import plan_of, run_of

TRIANGLE = """\
name: triangle
duration: 5 ms
network:
  hosts: [a, b, c]
  links: {rate: 1 Gbit/s, between: [a -- b, a -- c, b -- c]}
streams:
  x: {from: a, to: [b, c], pcp: 3, payload: 100 B, period: 1 ms, frer: {disjoint: 2}}
"""


def test_a_frame_arrives_by_the_shorter_of_both_ways(tmp_path: Path) -> None:
    run = run_of(plan_of(TRIANGLE), tmp_path / "run")
    found = [(path["count"]["received"], path["count"]["lost"]) for path in run.measures()["paths"]]
    assert found == [(5, 0), (5, 0)]
    # 156 octets with the R-TAG and the VLAN tag: start to last bit of one hop.
    assert set(run.frames()["delay_ns"]) == {156 * 8}
