"""Networks of Saihu and panco, typed in as scenarios, against the figures of these tools.

Both analyse fluid flows: a burst of one frame reaches the next server bit by bit, while a bridge stores it.
So a bound with frames of the size of the burst is at most TFA's, and above the tools' bounds that count a
burst once along its path.

Saihu: https://github.com/adfeel220/Saihu-TSN-Analysis-Tool-Integration, commit 68955f6. PLP's figures for the
demo network are those of its demo_report.md; all others were computed with the panco that it carries
(``TfaLP``, ``FifoLP`` with ``polynomial``, ``sfa`` and ``tfa``) and lp_solve 5.5.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import read_scenario
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.planning import plan

SERVER = "{server: {rate: 400 Mbit/s, latency: 10 us}}"
DEMO = f"""\
name: demo
duration: 40 ms
network:
  stations: [t0, t1, t2, d0, d1]
  bridges: [s0, s1]
  links:
    - {{rate: 100 Gbit/s, between: [t0 -- s0, t1 -- s0, t2 -- s1]}}
    - {{rate: 10 Gbit/s, between: [s0 -- s1, s1 -- d0, s1 -- d1]}}
streams:
  f0: {{from: t0, to: d0, arrivals: {{burst: 1 kB, rate: 1 Mbit/s}}, phy: 1000 B}}
  f1: {{from: t1, to: d1, arrivals: {{burst: 1 kB, rate: 1 Mbit/s}}, phy: 1000 B}}
  f2: {{from: t2, to: d0, arrivals: {{burst: 1 kB, rate: 1 Mbit/s}}, phy: 1000 B}}
shapers: {{s0 -> s1: {SERVER}, s1 -> d0: {SERVER}, s1 -> d1: {SERVER}}}
"""
"""``demo.json`` of Saihu with 100 times all data: bursts of 10 B, 10 kbit/s, servers of 4 Mbit/s and 10 us
with links of 100 Mbit/s. Times stay as they are, and a burst becomes a frame that Ethernet has."""
SLOW = "{server: {rate: 4 Mbit/s, latency: 10 us}}"
TANDEM = f"""\
name: tandem
duration: 40 ms
network:
  stations: [t0, t1, t2, d0, d1, d2]
  bridges: [s0, s1, s2, s3]
  links:
    - {{rate: 100 Gbit/s, between: [t0 -- s0, t1 -- s0, t2 -- s1, s2 -- d1, s3 -- d0, s3 -- d2]}}
    - {{rate: 10 Mbit/s, between: [s0 -- s1, s1 -- s2, s2 -- s3]}}
streams:
  f0: {{from: t0, to: d0, arrivals: {{burst: 1 kB, rate: 500 kbit/s}}, phy: 100 B}}
  f1: {{from: t1, to: d1, arrivals: {{burst: 1 kB, rate: 500 kbit/s}}, phy: 100 B}}
  f2: {{from: t2, to: d2, arrivals: {{burst: 1 kB, rate: 500 kbit/s}}, phy: 100 B}}
shapers: {{s0 -> s1: {SLOW}, s1 -> s2: {SLOW}, s2 -> s3: {SLOW}}}
"""
"""Three servers of 4 Mbit/s and 10 us in a row, with links of 10 Mbit/s and bursts of 1 kB."""
# By flow, in us: the servers of its path, a bound that counts bursts once (PLP), and panco's TFA.
FIGURES = {
    DEMO: {
        "f0": (["s0 -> s1", "s1 -> d0"], 80.05, 100.125),
        "f1": (["s0 -> s1", "s1 -> d1"], 79.27, 80.125),
        "f2": (["s1 -> d0"], 49.28, 50.125),
    },
    TANDEM: {
        "f0": (["s0 -> s1", "s1 -> s2", "s2 -> s3"], 6_530.0, 13_712.38),
        "f1": (["s0 -> s1", "s1 -> s2"], 6_520.0, 9_688.47),
        "f2": (["s1 -> s2", "s2 -> s3"], 4_966.25, 9_702.38),
    },
}


@pytest.mark.parametrize("text", FIGURES, ids=["demo", "tandem"])
def test_published_networks_between_the_bounds_of_their_tools(text: str, tmp_path: Path) -> None:
    (scenario,) = read_scenario(text, "published.yaml")
    made = plan(scenario)
    flows = {flow["stream"]: flow for flow in bounds(made)["flows"]}
    delays = {
        path["stream"]: path["delay"]
        for path in made.run(on=Simulation(), into=tmp_path / "run").measures()["paths"]
    }
    for name, (servers, once, tfa) in FIGURES[text].items():
        hops = {hop["port"]: hop["upper_ps"] for hop in flows[name]["hops"]}
        passed = [hops[port] for port in servers]
        assert None not in passed
        assert once <= sum(ps for ps in passed if ps is not None) / 10**6 <= tfa, name
        delay, upper = delays[name], flows[name]["upper_ns"]
        assert delay is not None
        assert upper is not None
        assert delay["max"] <= upper


def test_each_server_of_the_demo_by_hand() -> None:
    """10 us and one burst of 1,000 B for each flow, 20 us at 400 Mbit/s.

    Saihu's report has 50.000 us for the first server (xTFA); the others have 49.324 and 29.322 us, as fluid
    bursts come at the rate of the link.
    """
    (scenario,) = read_scenario(DEMO, "demo.yaml")
    hops = {hop["port"]: hop["upper_ps"] for flow in bounds(plan(scenario))["flows"] for hop in flow["hops"]}
    found = [hops[port] for port in ("s0 -> s1", "s1 -> d0", "s1 -> d1")]
    assert found == [50 * 10**6, 50 * 10**6, 30 * 10**6]
