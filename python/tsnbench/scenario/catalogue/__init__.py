"""The catalogue as the scenario language reads it: classes, patterns, gate lists, hosts."""

from __future__ import annotations

from tsnbench.scenario.catalogue.devices import devices
from tsnbench.scenario.catalogue.hosts import HostProfile, host_profiles
from tsnbench.scenario.catalogue.read import (
    GateList,
    SrClass,
    gate_lists,
    patterns,
    printed,
    sr_classes,
)
from tsnbench.scenario.kinds.by_pcp import pcp_to_class

__all__ = [
    "GateList",
    "HostProfile",
    "SrClass",
    "devices",
    "gate_lists",
    "host_profiles",
    "patterns",
    "pcp_to_class",
    "printed",
    "sr_classes",
]
