"""The inventory of a lab: its hosts, devices and wires, and the bounds of its clocks."""

from __future__ import annotations

from tsnbench.hosts.inventory.read import from_ansible, load_inventory, read_inventory
from tsnbench.hosts.inventory.types import Clock, Device, End, Host, Inventory, SyncBounds, Wire

__all__ = [
    "Clock",
    "Device",
    "End",
    "Host",
    "Inventory",
    "SyncBounds",
    "Wire",
    "from_ansible",
    "load_inventory",
    "read_inventory",
]
