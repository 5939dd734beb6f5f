"""Real hosts: the inventory of a lab, and the mapping of a Plan's nodes to its machines."""

from __future__ import annotations

from tsnbench.hosts.inventory import Inventory, from_ansible, load_inventory, read_inventory
from tsnbench.hosts.mapping import Mapped, MappingErrors, map_plan

__all__ = [
    "Inventory",
    "Mapped",
    "MappingErrors",
    "from_ansible",
    "load_inventory",
    "map_plan",
    "read_inventory",
]
