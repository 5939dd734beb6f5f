"""What papers and standards name, as data files with their sources: classes, patterns, gate lists."""

from __future__ import annotations

from tsnbench.catalogue.hosts import HostProfile, host_profiles
from tsnbench.catalogue.read import GateList, SrClass, gate_lists, patterns, pcp_to_class, printed, sr_classes

__all__ = [
    "GateList",
    "HostProfile",
    "SrClass",
    "gate_lists",
    "host_profiles",
    "patterns",
    "pcp_to_class",
    "printed",
    "sr_classes",
]
