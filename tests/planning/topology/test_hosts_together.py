"""Hosts beside faults, redundancy, ways that stand by: frames are accounted for, and delivered once."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import run_of
from tsnbench.scenario import read_scenario

SCENARIO = """\
name: together
duration: 50 ms
network:
  {stations: [a, b], hosts: [m, n], rate: 1 Gbit/s, links: [a -- m, a -- n, m -- b, n -- b]}
hosts: {default: {profile: low-latency, load: same-cpu}}
streams:
  x: {from: a, to: b, pcp: 3, period: 100 us, frame: 500 B, WAY, send: {advance: 300 us, txtime: true}}
shapers:
  all: {qdisc: {etf: {3: {delta: 200 us, offload: true, skip-sock-check: true}}}}
  m -> all: {qdisc: {cbs: software}}
  n -> all: {qdisc: {cbs: software}}
faults:
  - {down: a -> m, at: 10 ms, for: 10 ms}
  - {loss: 2 %, on: n -> b}
taps: {stages: [driver, app-rx]}
"""


@pytest.mark.parametrize("way", ["frer: {disjoint: 2}", "failover: {path: [n], after: 1 ms}"])
def test_hosts_beside_faults_and_several_ways(way: str, tmp_path: Path) -> None:
    (scenario,) = read_scenario(SCENARIO.replace("WAY", way))
    run = run_of(scenario.plan(), tmp_path)
    (stream,) = run.counters["streams"]
    gone = sum(stream.get(key, 0) for key in ("dropped_at_talker", "dropped_in_network", "lost_to_faults"))
    delivered = stream["delivered"]["b"]
    ends = gone + stream.get("eliminated", 0) + delivered + run.counters["in_network_at_end"]
    assert stream["released"] + stream["replicated"] == ends
    assert stream["lost_to_faults"] > 0
    if way.startswith("frer"):
        seen = run.observations()
        programs = seen.filter(seen["stage"] == "app-rx")
        assert programs["seq"].n_unique() == len(programs) == delivered
        assert delivered >= 0.99 * stream["released"]
