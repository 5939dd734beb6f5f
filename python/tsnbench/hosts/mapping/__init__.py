"""Which machine of a lab each node of a Plan is, and which interface each port."""

from __future__ import annotations

from tsnbench.hosts.mapping.errors import MappingErrors, MappingProblem
from tsnbench.hosts.mapping.map import Mapped, map_plan

__all__ = ["Mapped", "MappingErrors", "MappingProblem", "map_plan"]
