"""Hosts beside faults, redundancy, ways that stand by: frames are accounted for, and delivered once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench import Simulation
from tsnbench.planning import Plan, PlanningErrors
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
    run = scenario.plan().run(on=Simulation(), into=tmp_path / "run")
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


GATED = """\
name: gated
duration: 5 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
hosts: {default: low-latency}
streams: {x: {from: a, to: b, pcp: 3, period: 1 ms, frame: 500 B}}
shapers:
  a -> b:
    qdisc: {taprio: MODE}
    preemption: {express: [7]}
    gates: {entries: [{open: [3], for: 400 us}, {open: [0, 7], for: 600 us}], MORE}
faults: [FAULT]
"""
MORE = {
    "changes": "changes: [{at: 1 ms, entries: [{open: [3], for: 1 ms}]}]",
    "before": "before: [3]",
    "guard": "guard: none",
}


def gated(mode: str, more: str = "", fault: str = "") -> Plan:
    text = GATED.replace("MODE", mode).replace(", MORE", f", {more}" if more else "")
    (scenario,) = read_scenario(text.replace("FAULT", fault))
    return scenario.plan()


@pytest.mark.parametrize("mode", ["software", "txtime-assist"])
def test_the_kernel_keeps_one_plain_list(mode: str) -> None:
    assert "taprio" in gated(mode).document["ports"][0]["qdisc"]
    for name, more in MORE.items():
        with pytest.raises(PlanningErrors, match=f"because the kernel has it, found .*{name}"):
            gated(mode, more)
        assert "gates" in gated("full-offload", more).document["ports"][0]
    shifted = "{schedule: {shift: 100 us}, on: a -> b, at: 1 ms}"
    with pytest.raises(PlanningErrors, match="found a fault of its schedule"):
        gated(mode, fault=shifted)
    assert len(gated("full-offload", fault=shifted).document["faults"]) == 1
