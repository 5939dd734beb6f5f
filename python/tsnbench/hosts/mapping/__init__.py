"""The mapping of a Plan's nodes to the machines of a lab, and of its ports to interfaces."""

from __future__ import annotations

from tsnbench.hosts.mapping.errors import MappingErrors, MappingProblem
from tsnbench.hosts.mapping.map import Mapped, map_plan

__all__ = ["Mapped", "MappingErrors", "MappingProblem", "map_plan"]
