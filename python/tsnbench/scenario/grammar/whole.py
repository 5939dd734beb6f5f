"""The keys of a scenario, all of them."""

from __future__ import annotations

import re

from tsnbench.scenario.grammar.clocks import CLOCKS
from tsnbench.scenario.grammar.common import LONGEST, PROSE, TIME
from tsnbench.scenario.grammar.faults import FAULTS
from tsnbench.scenario.grammar.hosts import HOSTS
from tsnbench.scenario.grammar.network import NETWORK
from tsnbench.scenario.grammar.policing import POLICING
from tsnbench.scenario.grammar.schedule import SCHEDULE
from tsnbench.scenario.grammar.shapers import SHAPER, TAPS
from tsnbench.scenario.grammar.shapes import Field, MapOf, Record
from tsnbench.scenario.grammar.streams import REQUIREMENTS, STREAM
from tsnbench.scenario.grammar.values import Count, Quantity, Text
from tsnbench.scenario.grammar.windows import WINDOWS
from tsnbench.scenario.units import DURATION

SCENARIO = Record(
    "a scenario",
    {
        "name": Field(Text("a name", named=True, swept=False), "a short name", "my-first-network"),
        "title": Field(PROSE, "one line for reports"),
        "source": Field(PROSE, "where the scenario is from: a paper and its table"),
        "duration": Field(Quantity(DURATION, 1, LONGEST, usual="ms"), "how long talkers talk", "100 ms"),
        "drain": Field(TIME, "how long frames under way may still arrive; 100 ms unless given"),
        "seed": Field(Count(0, 2**53, "a seed"), "seed of all randomness; 1 unless given"),
        "network": Field(NETWORK, "nodes and links", "{line: {hops: 3, kind: host, rate: 1 Gbit/s}}"),
        "streams": Field(
            MapOf("streams by name", STREAM),
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
            ),
            "what shapes the ports: {dut -> node0: {…}, all: {…}}; later ones override, key by key",
        ),
        "faults": Field(FAULTS, "what goes wrong: [{down: sw1 -> sw2, at: 2 s, for: 3 s}]"),
        "policing": Field(
            POLICING, "what nodes do with frames as they come in: [{at: cam -> sw1, meter: {…}}]"
        ),
        "schedule": Field(SCHEDULE, "how scheduled streams are planned: {margin: 500 ns}"),
        "windows": Field(WINDOWS, "how windows are planned where gates are to plan: {cycle: 1 ms}"),
        "clocks": Field(CLOCKS, "the nodes' clocks; without them all share one perfect time"),
        "hosts": Field(HOSTS, "software of stations and hosts, which takes time: {default: low-latency}"),
        "taps": Field(TAPS, "where frames are sighted, beyond the ends: [node1 -> dut]"),
    },
)
