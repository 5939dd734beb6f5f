"""Profiles of hosts: latencies of software at each stage, with and without load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tsnbench.scenario import model
from tsnbench.scenario.grammar.hosts import LATENCIES, LATENCY
from tsnbench.scenario.grammar.latency import latency_of
from tsnbench.scenario.kinds.combinators import Field, Fields, MapOf, Record
from tsnbench.scenario.kinds.common import PROSE
from tsnbench.scenario.kinds.data import read_data
from tsnbench.scenario.kinds.values import Count
from tsnbench.scenario.text.reading import Reading

_STAGES = Record("stages", {name: Field(LATENCY, doc) for name, doc in LATENCIES.items()})
_LOAD = Record("a load", {"stretch": Field(Count(100, 10_000, "per cent")), "stages": Field(_STAGES)})
_PROFILE = Record(
    "a profile",
    {
        "source": Field(PROSE, example="a paper"),
        "stages": Field(_STAGES, example="{…}"),
        "same-cpu": Field(_LOAD, example="{stretch: 240}"),
    },
)


@dataclass(frozen=True)
class HostProfile:
    """``loads``: latencies by stage under ``none`` and ``same-cpu``."""

    source: str
    loads: Mapping[str, Mapping[str, model.Latency]]


@cache
def host_profiles() -> Mapping[str, HostProfile]:
    """``low-latency``, ``preempt-rt``, ``standard``, …."""
    named = MapOf("profiles", _PROFILE, re.compile("[a-z0-9-]+"), "a name such as preempt-rt")
    record = Record("a file", {"source": Field(PROSE, example="a paper"), "profiles": Field(named)})
    found: dict[str, HostProfile] = {}
    for name, fields in read_data("hosts.yaml", record)["profiles"].items():
        idle = _latencies(fields["stages"])
        load = fields["same-cpu"]
        percent = load.get("stretch", 100)
        busy = {stage: _stretched(latency, percent) for stage, latency in idle.items()}
        if "stages" in load:
            busy |= _latencies(load["stages"])
        found[str(name)] = HostProfile(str(fields["source"]), {"none": idle, "same-cpu": busy})
    return found


def _latencies(fields: Fields) -> dict[str, model.Latency]:
    reading = Reading("hosts.yaml", {})
    found = {
        name: latency_of(reading, content, fields.at(name), fields.path_of(name))
        for name, content in fields.items()
    }
    if reading.problems:
        raise AssertionError("\n".join(str(problem) for problem in reading.problems))
    return {name: latency for name, latency in found.items() if latency is not None}


def _stretched(latency: model.Latency, percent: int) -> model.Latency:
    def longer(ns: int) -> int:
        return ns * percent // 100

    if isinstance(latency, model.Constant):
        return model.Constant(ns=longer(latency.ns))
    if isinstance(latency, model.Uniform):
        return model.Uniform(low=longer(latency.low), high=longer(latency.high))
    values = tuple(longer(ns) for ns in latency.values)
    return model.Histogram(values=values, counts=latency.counts, width=longer(latency.width))
