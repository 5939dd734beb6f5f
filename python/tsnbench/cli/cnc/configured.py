"""The devices that ``tsnbench cnc`` configures: by their addresses, or those of a lab's inventory."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.cli.console.options import interfaces_of
from tsnbench.cli.console.output import print_message
from tsnbench.cnc.changes import SettingError
from tsnbench.cnc.devices import NetconfDevices
from tsnbench.deploy import PASSWORD, Access
from tsnbench.deploy.deploy import targets
from tsnbench.errors import InputError
from tsnbench.hosts import load_inventory, map_plan
from tsnbench.hosts.devices import addresses, by_netconf, user_of

if TYPE_CHECKING:
    from tsnbench.deploy import Target
    from tsnbench.plan.types import PlanDocument


@dataclass(frozen=True)
class Given:
    """The options that say which devices there are."""

    node: Sequence[str]
    inventory: Path | None
    interface: Sequence[str]
    user: str | None
    key: Path | None
    known_hosts: Path | None
    partial: bool
    lead_s: float | None

    def __bool__(self) -> bool:
        return bool(self.node or self.inventory)


def configured(given: Given, document: PlanDocument, folder: Path) -> NetconfDevices:
    """The devices of a service.

    Args:
        given: the options. document: of the Plan. folder: for the record of a deployment that failed.

    Raises:
        InputError: an option is wrong, or the inventory is not that of this network.
    """
    if given.node and given.inventory:
        raise InputError("--devices: expected it or --node, found both")
    where: Sequence[Target]
    user, interfaces = given.user, dict[str, str]()
    if given.inventory is not None:
        where, interfaces, own = _of_lab(given.inventory, document)
        user = user or own
    else:
        where = targets(document, None, given.node)
    ports = {port["name"] for port in document["ports"]}
    interfaces = {**interfaces, **interfaces_of(ports, list(given.interface), "port3")}
    access = Access(user or getpass.getuser(), os.environ.get(PASSWORD), given.key, given.known_hosts)
    return NetconfDevices(where, access, folder, interfaces, given.partial, given.lead_s)


def _of_lab(file: Path, document: PlanDocument) -> tuple[list[Target], dict[str, str], str]:
    """The devices with NETCONF of a lab, the devices' names of ports, and the user.

    Raises:
        InputError: the inventory is wrong, has no such device, or does not fit the network.
    """
    inventory = load_inventory(file)
    mapped = map_plan(inventory, document, {})
    found = {str(mapped.node(one.name)): one for one in by_netconf(inventory, mapped)}
    if not found:
        raise SettingError(f"{file}: expected a device with netconf, found none")
    for one in inventory.devices.values():
        if one.by_hand and mapped.node(one.name):
            print_message(f"{one.name}: configured by hand, so this service does not configure it")
    return addresses(found), dict(mapped.interfaces), user_of(next(iter(found.values())))
