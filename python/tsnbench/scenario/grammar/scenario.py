"""The keys of a scenario, all of them."""

from __future__ import annotations

import re

from tsnbench.scenario.grammar.clocks import CLOCKS
from tsnbench.scenario.grammar.faults import FAULTS
from tsnbench.scenario.grammar.hosts import HOSTS
from tsnbench.scenario.grammar.network import NETWORK
from tsnbench.scenario.grammar.policy import POLICY
from tsnbench.scenario.grammar.shapers import SHAPER
from tsnbench.scenario.grammar.streams import REQUIREMENTS, STREAM
from tsnbench.scenario.kinds.alike import Alike
from tsnbench.scenario.kinds.combinators import Field, MapOf, Record, fields_of
from tsnbench.scenario.model.policing import POLICING
from tsnbench.scenario.model.scenario import Scenario
from tsnbench.scenario.model.schedule import SCHEDULE, WINDOWS
from tsnbench.scenario.model.taps import TAPS

_ONCE = "write a value once, where it is first used: period: &name 1 ms, then period: *name"
SCENARIO = Record(
    "a scenario",
    {
        **fields_of(Scenario),
        "network": Field(NETWORK, "nodes and links", "{line: {hops: 3, kind: host, rate: 1 Gbit/s}}"),
        "streams": Field(
            MapOf("streams by name", Alike(STREAM), one=STREAM),
            "who sends what to whom",
            "{s: {from: host1, to: host4, period: 1 ms, frame: 500 B}}",
        ),
        "requirements": Field(REQUIREMENTS, "what counts for every stream: {worst-case: true}"),
        "shapers": Field(
            MapOf(
                "ports and what shapes them",
                SHAPER,
                re.compile(r".+"),
                "a port such as node1 -> node2",
                sample="all",
                one=SHAPER,
            ),
            "what shapes the ports: {dut -> node0: {…}, bridges: {…}, all: {…}}; nearer ones win, key by key",
        ),
        "faults": Field(FAULTS, "what goes wrong: [{down: sw1 -> sw2, at: 2 s, for: 3 s}]"),
        "policing": Field(
            POLICING,
            "what nodes do with frames as they come in: [{at: cam -> sw1, meter: {…}}]",
            clause="IEEE 802.1Q-2022, 8.6.5",
        ),
        "schedule": Field(SCHEDULE, "how scheduled streams are planned: {margin: 500 ns}"),
        "windows": Field(WINDOWS, "how windows are planned where gates are to plan: {cycle: 1 ms}"),
        "clocks": Field(CLOCKS, "the nodes' clocks; without them all nodes have the same exact time"),
        "hosts": Field(HOSTS, "software of stations and hosts, which takes time: {default: low-latency}"),
        "taps": Field(TAPS, "where frames are observed, in addition to the ends: [node1 -> dut]"),
        "policy": Field(POLICY, "what a CNC permits: {reserve: {7: 50 %}}; no effect on a run", since="0.1"),
    },
    common_mistakes={
        **dict.fromkeys(("flows", "traffic"), "did you mean streams?"),
        "topology": "did you mean network?",
        **dict.fromkeys(("warmup", "warm-up"), "did you mean measure-from?"),
        **dict.fromkeys(
            ("time", "runtime", "sim-time", "sim-time-limit", "length"), "did you mean duration?"
        ),
        **dict.fromkeys(
            ("repeat", "repetitions", "runs", "seed-set"), "a study repeats runs: tsnbench study run --help"
        ),
        **dict.fromkeys(("defaults", "templates", "anchors", "common", "definitions"), _ONCE),
        **dict.fromkeys(
            ("gptp", "ptp", "synchronisation", "sync"), "write clocks: {gptp: {grandmaster: node1}}"
        ),
        **dict.fromkeys(("psfp", "filters", "meters", "filtering"), "did you mean policing?"),
        **dict.fromkeys(("redundancy", "frer"), "write frer: {disjoint: 2} in the stream"),
        **dict.fromkeys(("stations", "bridges", "links", "nodes", "switches"), "write it under network:"),
        **dict.fromkeys(
            ("gates", "cbs", "preemption", "ats", "cqf"), "write it under its ports: shapers: {all: {…}}"
        ),
        **dict.fromkeys(
            ("line", "ring", "rings", "mesh", "star", "grid", "tree"),
            "write it under network: ring: {nodes: 4}",
        ),
        **dict.fromkeys(
            ("avb", "srp", "msrp"), "write shapers: {all: {cbs: from-streams}}, and class: sr/A in streams"
        ),
        "requires": "write requires: … in each stream",
    },
)
