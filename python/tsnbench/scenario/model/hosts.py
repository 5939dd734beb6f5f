"""Software of stations and hosts, which takes time."""

from __future__ import annotations

from typing import Literal

from tsnbench.scenario.part import Part
from tsnbench.scenario.units import Duration

STAGES = ("interval-start", "wakeup", "send", "qdisc", "driver", "tx", "rx", "kernel-rx", "app-rx")
"""In the order in which a frame passes. OCORA Fig. 9."""


class Constant(Part):
    kind: Literal["constant"] = "constant"
    ns: Duration


class Uniform(Part):
    kind: Literal["uniform"] = "uniform"
    low: Duration
    high: Duration


class Histogram(Part):
    """Bins that begin at ``values`` and are ``width`` wide, and the number of values in each."""

    kind: Literal["histogram"] = "histogram"
    values: tuple[int, ...]
    counts: tuple[int, ...]
    width: Duration = 0


Latency = Constant | Uniform | Histogram


class Host(Part):
    """Latencies of a node's software, by the stage at their end; an absent one is zero."""

    latencies: dict[str, Latency] = {}
    processor: str | None = None
    """The talkers of all hosts with this name share one processor; None: each talker has one of its own."""
